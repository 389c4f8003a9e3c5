package delivery

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// leasing grants leases and returns the secrets that it was sent.
func leasing(r *rig, lease time.Duration) *[]string {
	var secrets []string
	r.sub.Cursor = event.At(text("0"))
	r.src.subscribe = func(_ int, q wire.SubscribeRequest) (wire.SubscribeResult, error) {
		secrets = append(secrets, q.Secret)
		return wire.SubscribeResult{ID: text("s"), Expires: true, RefreshBefore: time.Now().Add(lease), Cursor: cur("0")}, nil
	}
	return &secrets
}

func deliver(t *testing.T, r *rig, id string, previous bool) {
	t.Helper()
	err := r.runner.Deliver(context.Background(), Delivered{WebhookID: text(id), Body: []byte(occurrence(id, time.Now(), "")), Previous: previous})
	if err != nil {
		t.Error(err)
	}
}

func TestSecretsAreRotatedOnSchedule(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		secrets := leasing(r, 20*time.Minute)
		r.deps.RotateEvery, r.deps.Random = time.Hour, nil
		r.start().pass(59 * time.Minute)
		first := r.saved().Hook
		if first.Since.IsZero() || !first.Previous.IsZero() {
			t.Errorf("%+v", first)
		}
		r.pass(20 * time.Minute)
		second := r.saved().Hook
		if second.Secret == first.Secret || second.Previous != first.Secret || second.Path != first.Path || second.URL != first.URL {
			t.Errorf("rotated: %+v", second)
		}
		// Nothing was signed with the new one: the old one stays, for a day at most.
		deliver(t, r, "e1", true)
		r.pass(2 * time.Hour)
		if h := r.saved().Hook; h.Secret != second.Secret || h.Previous != first.Secret || !h.Until.Equal(second.Since.Add(rotationLimit)) {
			t.Errorf("not seen yet: %+v", h)
		}
		var both sync.WaitGroup
		for _, id := range []string{"e2", "e4"} { // at once
			both.Go(func() { deliver(t, r, id, false) })
		}
		both.Wait()
		deliver(t, r, "e3", true) // one that lagged
		if h := r.saved().Hook; !h.Until.Equal(time.Now().Add(rotationGrace)) {
			t.Errorf("seen: until %v", h.Until)
		}
		r.pass(40 * time.Minute)
		if h := r.saved().Hook; h.Previous == first.Secret {
			t.Errorf("after the grace: %+v", h)
		}
		last := (*secrets)[len(*secrets)-1]
		if last != r.saved().Hook.Secret.Reveal() || (*secrets)[0] != first.Secret.Reveal() {
			t.Error("the server was not sent the secrets")
		}
		var acts []string
		for _, e := range r.store.audits() {
			acts = append(acts, string(e.Actor)+" "+e.Action)
		}
		if got := strings.Join(acts, ", "); !strings.HasPrefix(got, "host rotate secret, security new secret seen, host rotate secret") {
			t.Errorf("acts: %s", got)
		}
		if got := r.log(false); got != "e1 e2 e4 e3" && got != "e1 e4 e2 e3" {
			t.Errorf("log %s", got)
		}
	})
}

func TestRotationWaitsForThePreviousOne(t *testing.T) {
	now := time.Date(2026, 2, 19, 15, 30, 0, 0, time.UTC)
	var h event.Hook
	if err := Rotate(&h, nil, now); err != nil || h.Secret.IsZero() || !h.Previous.IsZero() {
		t.Errorf("first: %v %+v", err, h)
	}
	if err := Rotate(&h, nil, now); err != nil || h.Previous.IsZero() {
		t.Errorf("second: %v %+v", err, h)
	}
	if err := Rotate(&h, nil, now.Add(time.Hour)); !errors.Is(err, ErrRotating) {
		t.Errorf("under way: %v", err)
	}
	h.Until = now.Add(rotationGrace) // seen
	if err := Rotate(&h, nil, now); err != nil {
		t.Errorf("after it was seen: %v", err)
	}
}

// Ending an old address may take any time; an act of the operator meanwhile stays.
func TestRotationDuringAChangeOfAddressStays(t *testing.T) {
	bubble(t, event.ModeWebhook, func(r *rig) {
		secrets := leasing(r, time.Hour)
		r.start().stop()
		r.offersPoll(0, 0)
		r.deps.Callback = func(path string) (string, error) { return "https://elsewhere" + path, nil }
		var rotated event.Hook
		r.src.unsubscribe = func(wire.UnsubscribeRequest) error {
			hook := r.saved().Hook
			if err := Rotate(&hook, nil, time.Now()); err != nil {
				t.Error(err)
			}
			rotated = hook
			done := make(chan error, 1)
			if err := r.store.Submit(context.Background(), event.Batch{
				Sub: subID, Update: func(s *event.Subscription) { s.Hook = hook }, Done: func(_ event.Outcome, err error) { done <- err },
			}); err != nil {
				t.Error(err)
			}
			return <-done
		}
		r.start()
		h := r.saved().Hook
		if h.Secret != rotated.Secret || h.Previous != rotated.Previous || !strings.HasPrefix(h.URL, "https://elsewhere") {
			t.Errorf("got %+v, rotated %+v", h, rotated)
		}
		if got := (*secrets)[len(*secrets)-1]; got != h.Secret.Reveal() {
			t.Error("the server was sent another secret than the stored one")
		}
	})
}
