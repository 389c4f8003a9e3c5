package host_test

import (
	"errors"
	"testing"

	"eventdeck/host/event"
	"eventdeck/store"
)

// A subscription whose server is not configured says so, and does not look alive.
func TestSubscriptionOfNoServer(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	h := bareHost(t, s)
	done := make(chan error, 1)
	begin := event.Batch{Sub: "aa", Update: func(u *event.Subscription) {
		u.ID, u.Key.Server, u.State = "aa", "gone", event.StateLive
	}, Done: func(_ event.Outcome, err error) { done <- err }}
	if err := errors.Join(s.Submit(t.Context(), begin), <-done); err != nil {
		t.Fatal(err)
	}
	if v := h.Snapshot().Subs[0]; !v.NoServer || v.Running || v.Status.State != event.StateNotRunning || v.Status.Error.IsZero() {
		t.Errorf("%+v", v)
	}
	h.AddServer(event.Server{Name: "gone", Command: "/nonexistent"})
	if v := h.Snapshot().Subs[0]; v.NoServer {
		t.Error("its server is configured now")
	}
}
