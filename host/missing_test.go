package host_test

import (
	"testing"

	"eventdeck/host/event"
	"eventdeck/store"
	"eventdeck/store/storetest"
)

// A subscription whose server is not configured says so, and does not look alive.
func TestSubscriptionWithoutAServerDoesNotRun(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Temporary: true})
	if err != nil {
		t.Fatal(err)
	}
	h := bareHost(t, s)
	storetest.Commit(t, s, event.Batch{Sub: "aa", Update: func(u *event.Subscription) {
		u.ID, u.Key.Server, u.State = "aa", "gone", event.StateLive
	}})
	if v := h.Snapshot().Subs[0]; !v.NoServer || v.Running || v.Status.State != event.StateNotRunning || v.Status.Error.IsZero() {
		t.Errorf("%+v", v)
	}
	h.AddServer(event.Server{Name: "gone", Command: "/nonexistent"})
	if v := h.Snapshot().Subs[0]; v.NoServer {
		t.Error("its server is configured now")
	}
}
