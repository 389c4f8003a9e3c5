package host_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/store/storetest"
)

// Under any concurrent verbs each subscription has at most one runner, as its stored state says,
// and every goroutine ends with the host.
func TestVerbsInAnyOrder(t *testing.T) {
	r := newRig(t)
	ctx := t.Context() // no bound: the time that all verbs take proves nothing
	const subs, rounds = 3, 6
	var ids [subs]event.SubID
	server := func(i int) event.Server { return event.Server{Name: fmt.Sprint("pager", i), URL: r.url} }
	request := func(i int, mode event.Mode, from host.From) host.Request {
		return host.Request{Server: server(i).Name, Type: trust.Untrusted("load.tick"), Mode: mode, From: from}
	}
	modes := []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook}
	for i := range ids {
		r.host.AddServer(server(i))
		sub, err := r.host.Subscribe(ctx, request(i, modes[i], host.From{}))
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = sub.ID
	}
	var wg sync.WaitGroup
	for i := range ids {
		verbs := []func(n int) error{
			func(int) error { return r.host.Pause(ctx, ids[i]) },
			func(int) error { return r.host.Resume(ctx, ids[i]) },
			func(int) error { return r.host.Unsubscribe(ctx, ids[i]) },
			func(n int) error { return r.host.SetMode(ctx, ids[i], modes[(i+n)%len(modes)]) },
			func(n int) error { return r.host.SetFailover(ctx, ids[i], n%2 == 0) },
			func(n int) error { return r.host.SetEnd(ctx, ids[i], time.Now().Add(time.Duration(n-2)*time.Hour)) },
			func(int) error { return r.host.ResetCursor(ctx, ids[i], host.From{}) },
			func(int) error {
				err := r.host.RotateSecret(ctx, ids[i])
				if errors.Is(err, host.ErrMode) || errors.Is(err, delivery.ErrRotating) {
					return nil
				}
				return err
			},
			func(n int) error {
				_, err := r.host.Subscribe(ctx, request(i, modes[(i+n)%len(modes)], host.From{Saved: n%2 == 0}))
				return err
			},
			func(n int) error {
				if n%3 == 0 {
					r.host.AddServer(server(i))
				}
				return nil
			},
		}
		for _, verb := range verbs {
			wg.Go(func() {
				for n := range rounds {
					err := verb(n)
					if err != nil && !errors.Is(err, event.ErrNotFound) && !errors.Is(err, host.ErrStopped) && !errors.Is(err, host.ErrUnreachable) {
						t.Errorf("round %d: %v", n, err)
					}
					r.host.Snapshot()
				}
			})
		}
	}
	wg.Wait()

	for i, id := range ids {
		if _, err := r.host.Subscribe(ctx, request(i, modes[i], host.From{})); err != nil {
			t.Fatal(err)
		}
		if err := r.host.Pause(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	// A second runner of a subscription would go on storing.
	last := r.store.Last()
	r.subscribe(event.ModePoll, host.From{})
	r.await("storing of another", func(host.Snapshot) bool { return r.store.Last() > last+20 })
	err := r.store.Forward(last+1, func(rec event.Record) bool {
		for _, id := range ids {
			if rec.Sub == id {
				t.Errorf("%s of the paused subscription %s is stored", rec.Kind, id)
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A verb that fails leaves the subscription running as it is stored.
func TestFailedVerbChangesNothing(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePush, host.From{})
	over, cancel := context.WithCancel(r.ctx())
	cancel()
	if err := r.host.Pause(over, sub.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("pause: %v", err)
	}
	if err := r.host.Unsubscribe(over, sub.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("unsubscribe: %v", err)
	}
	last := r.store.Last()
	r.await("going on", func(s host.Snapshot) bool {
		return r.store.Last() > last+5 && s.Subs[0].Status.State == event.StateLive
	})
}

func TestResumeIsStoredWhileTheServerIsAway(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePoll, host.From{})
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	r.host.AddServer(event.Server{Name: "pager", URL: "not an address"})
	if err := r.host.Resume(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	stored, err := r.store.Subscription(sub.ID)
	if err != nil || stored.Paused || stored.State != event.StateResumed {
		t.Errorf("paused %t, state %s, %v; want resumed", stored.Paused, stored.State, err)
	}
}

// Pausing and resuming would silently start a subscription again that its server ended.
func TestEndedSubscriptionCannotBePaused(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModePoll, host.From{})
	storetest.Commit(t, r.store, event.Batch{Sub: sub.ID, Update: func(s *event.Subscription) { s.State = event.StateEnded }})
	for name, verb := range map[string]func(context.Context, event.SubID) error{"pause": r.host.Pause, "resume": r.host.Resume} {
		if err := verb(r.ctx(), sub.ID); !errors.Is(err, host.ErrStopped) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := r.store.Subscription(sub.ID); err != nil || got.Paused {
		t.Errorf("%+v, %v", got.Paused, err)
	}
}
