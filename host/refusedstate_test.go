package host_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// A subscription whose deliveries are all refused does not look alive: from 5 s after the first
// refusal until a delivery is accepted it is refused, with the number of refusals and the last
// reason.
func TestRefusedDeliveriesAreTheState(t *testing.T) {
	r, s := hookRig(t, event.Server{})
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
		t.Fatal(err)
	}
	look := func() host.SubscriptionView { return r.host.Snapshot().Subs[0] }
	right := s.signWith(wrongSecret)
	for range 2 {
		if got := s.deliver("evt_1", occurrence("evt_1"), nil); got != http.StatusUnauthorized {
			t.Fatalf("answered %d", got)
		}
	}
	v := look()
	if f := v.Status.Refused; v.Status.State != event.StateLive || f.Count != 2 || f.Reason != receiver.ErrSignature.Error() || f.Last.IsZero() {
		t.Errorf("at once: %s, %+v", v.Status.State, f)
	}
	r.later.Add(int64(5 * time.Second))
	if v = look(); v.Status.State != event.StateRefused || v.Status.Reason != event.ReasonRefused || !strings.Contains(v.Status.Error.Raw(), receiver.ErrSignature.Error()) {
		t.Errorf("after 5 s: %s, %s, %v", v.Status.State, v.Status.Reason, v.Status.Error)
	}
	s.signWith(right)
	if got := s.deliver("evt_1", occurrence("evt_1"), nil); got != http.StatusNoContent {
		t.Fatalf("answered %d", got)
	}
	if v = look(); v.Status.State != event.StateLive || v.Status.Reason != "" || v.Status.Refused.Count != 2 {
		t.Errorf("after an accepted one: %s, %s, %+v", v.Status.State, v.Status.Reason, v.Status.Refused)
	}
}

// Refusals of earlier runs are counted, and do not affect the state of this run.
func TestRefusedDeliveriesOfEarlierRunsAreCounted(t *testing.T) {
	r, s, sub := subscribedHookRig(t, event.Server{})
	s.signWith(wrongSecret)
	for range 2 {
		s.deliver("evt_1", occurrence("evt_1"), nil)
	}
	r.await("what was refused in the store", func(host.Snapshot) bool { return len(r.store.Refusals()) == 2 })
	if err := r.host.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := host.New(host.Options{Store: r.store})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	v := next.Snapshot().Subs[0]
	if f := v.Status.Refused; v.ID != sub.ID || f.Count != 2 || f.Reason != receiver.ErrSignature.Error() || f.Last.IsZero() {
		t.Errorf("the next run says %+v", f)
	}
	if v.Status.State == event.StateRefused {
		t.Errorf("the next run is %s before anything was refused", v.Status.State)
	}
}

// The flag is raised when the state becomes refused, without any other change.
func TestRefusedStateRaisesTheFlag(t *testing.T) {
	t.Parallel()
	r, s := hookRig(t, event.Server{})
	if _, err := r.host.Subscribe(r.ctx(), r.tick()); err != nil {
		t.Fatal(err)
	}
	s.signWith(wrongSecret)
	s.deliver("evt_1", occurrence("evt_1"), nil)
	r.await("the refused state", func(s host.Snapshot) bool { return s.Subs[0].Status.State == event.StateRefused })
}

// The refused state is stored, so that it is known after a crash.
func TestRefusedStateIsStored(t *testing.T) {
	t.Parallel()
	r, s, sub := subscribedHookRig(t, event.Server{})
	stored := func(want event.State) func(host.Snapshot) bool {
		return func(host.Snapshot) bool {
			kept, err := r.store.Subscription(sub.ID)
			return err == nil && kept.State == want
		}
	}
	r.await("the first stored state", stored(event.StateLive))
	right := s.signWith(wrongSecret)
	s.deliver("evt_1", occurrence("evt_1"), nil)
	r.await("the stored refused state", stored(event.StateRefused))
	s.signWith(right)
	s.deliver("evt_1", occurrence("evt_1"), nil)
	r.await("the stored state after an accepted one", stored(event.StateLive))
}

// The history has a record when deliveries begin to be refused, with the reason, and when
// they are accepted again; further refusals add none.
func TestRefusedStateIsInTheHistory(t *testing.T) {
	t.Parallel()
	r, s, sub := subscribedHookRig(t, event.Server{})
	changes := func() (words []string) {
		_ = r.store.Forward(1, func(rec event.Record) bool {
			if rec.Kind == event.KindState && rec.Sub == sub.ID {
				words = append(words, string(rec.State.State)+": "+rec.State.Evidence+": "+rec.State.Error.Raw())
			}
			return true
		})
		return words
	}
	await := func(n int) {
		t.Helper()
		r.await(fmt.Sprint(n, " changes of state"), func(host.Snapshot) bool { return len(changes()) >= n })
	}
	await(1)
	right := s.signWith(wrongSecret)
	s.deliver("evt_1", occurrence("evt_1"), nil)
	await(2)
	s.deliver("evt_1", occurrence("evt_1"), nil)
	s.signWith(right)
	s.deliver("evt_1", occurrence("evt_1"), nil)
	await(3)
	got := changes()
	if len(got) != 3 || !strings.HasPrefix(got[1], "refused: no delivery was accepted: "+receiver.ErrSignature.Error()) || !strings.HasPrefix(got[2], "live: a delivery was accepted") {
		t.Errorf("the history says %q", got)
	}
}

// A delivery that is too large for the receiver is dropped by its server: a gap stands
// in the log before the server is told, one for each delivery.
func TestTooLargeDeliveryLeavesAGap(t *testing.T) {
	r, s, sub := subscribedHookRig(t, event.Server{})
	large := strings.Repeat(" ", receiver.MaxBody) + occurrence("evt_1")
	for _, id := range []string{"evt_1", "evt_1", "evt_2"} {
		if got := s.deliver(id, large, nil); got != http.StatusRequestEntityTooLarge {
			t.Fatalf("answered %d", got)
		}
	}
	var gaps []event.Gap
	if err := r.store.Forward(1, func(rec event.Record) bool {
		if rec.Kind == event.KindGap && rec.Sub == sub.ID {
			gaps = append(gaps, *rec.Gap)
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if len(gaps) != 2 || gaps[0].Cause != event.CauseRefused || !gaps[0].Certain || gaps[0].From.IsZero() || gaps[0].To.Before(gaps[0].From) {
		t.Errorf("%+v", gaps)
	}
	if f := r.host.Snapshot().Subs[0].Status.Refused; f.Count != 3 || f.Reason != receiver.ReasonTooLarge {
		t.Errorf("%+v", f)
	}
}
