package host_test

import (
	"context"
	"errors"
	"testing"

	"eventdeck/host/event"
	"eventdeck/store"
	"eventdeck/store/storetest"
)

// A printed position needs its subscription, only grows, and waits for a store no
// longer than its context.
func TestPrinted(t *testing.T) {
	hold, holding := make(chan struct{}), make(chan struct{}, 1)
	wait := false
	s, err := store.Open(t.Context(), store.Options{Temporary: true, Hooks: store.Hooks{BeforeCommit: func() {
		if wait {
			wait = false
			holding <- struct{}{}
			<-hold
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	h := bareHost(t, s)
	if err := h.Printed(t.Context(), "none", 1); !errors.Is(err, event.ErrNotFound) || len(s.Subscriptions()) != 0 {
		t.Error(err, s.Subscriptions())
	}
	storetest.Commit(t, s, event.Batch{Sub: "aa", Update: func(u *event.Subscription) { u.ID, u.Printed = "aa", 7 }})
	if err := h.Printed(t.Context(), "aa", 3); err != nil {
		t.Error(err)
	}
	if sub, err := s.Subscription("aa"); err != nil || sub.Printed != 7 {
		t.Error(sub.Printed, err)
	}

	done := make(chan error, 1)
	first := event.Batch{Done: func(_ event.Outcome, err error) { done <- err }}
	wait = true
	if err := s.Submit(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	<-holding
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() { answered <- h.Printed(ctx, "aa", 9) }()
	cancel()
	if err := <-answered; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(hold)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
