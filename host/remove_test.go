package host

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
	"eventdeck/store/storetest"
)

// removing is a store that calls before ahead of the removal of a subscription.
type removing struct {
	event.Store
	before func() error
}

func (s *removing) Submit(ctx context.Context, b event.Batch) error {
	if b.Remove {
		if err := s.before(); err != nil {
			return err
		}
	}
	return s.Store.Submit(ctx, b)
}

// A server must not be told that a subscription is gone before that is stored: it would give
// up the deliveries of one that could not be removed.
func TestPathsAreKnownUntilTheRemovalIsStored(t *testing.T) {
	s := &removing{Store: storetest.Open(t)}
	h, err := New(Options{Store: s})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	hook := event.Hook{Path: "/hooks/new", OldPath: "/hooks/old", OldUntil: time.Now().Add(time.Hour)}
	err = h.commit(t.Context(), event.Batch{Sub: "a", Update: func(sub *event.Subscription) { sub.ID, sub.Hook = "a", hook }})
	if err != nil {
		t.Fatal(err)
	}
	h.hooks.AddPath(hook.OldPath, "a")
	h.hooks.AddPath(hook.Path, "a")
	want := func(when string, state receiver.PathState) {
		t.Helper()
		for _, path := range []string{hook.Path, hook.OldPath} {
			if _, got := h.hooks.Lookup(path); got != state {
				t.Errorf("%s: %s has state %v, want %v", path, when, got, state)
			}
		}
	}
	full := errors.New("the disk is full")
	s.before = func() error {
		want("before the commit", receiver.PathKnown)
		return full
	}
	if err := h.Unsubscribe(t.Context(), "a"); !errors.Is(err, full) {
		t.Fatalf("error %v, want %v", err, full)
	}
	want("after a failed removal", receiver.PathKnown)
	s.before = func() error { return nil }
	if err := h.Unsubscribe(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	want("after the removal", receiver.PathRemoved)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if h, err = New(Options{Store: s}); err != nil {
		t.Fatal(err)
	}
	want("after a restart", receiver.PathRemoved)
}

func TestCountsEndWithTheirSubscriptionAndServer(t *testing.T) {
	h, err := New(Options{Store: storetest.Open(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}()
	h.AddServer(event.Server{Name: "pager", Fault: errors.New("not to be connected")})
	key := event.Key{Server: "pager", Type: trust.Untrusted("tick")}
	err = h.commit(t.Context(), event.Batch{
		Sub: "a", Update: func(sub *event.Subscription) { sub.Key, sub.Paused = key, true },
		Records: []event.Record{{Kind: event.KindEvent, Server: key.Server, Type: key.Type, EventID: trust.Untrusted("1"), ReceivedAt: time.Now()}},
	})
	if err != nil {
		t.Fatal(err)
	}
	counts := func() int {
		h.subscriptions.mu.Lock()
		defer h.subscriptions.mu.Unlock()
		return len(h.counts)
	}
	refuse := func() {
		h.refusedDelivery(event.Refusal{At: time.Now(), Sub: "a", Status: http.StatusUnauthorized, Reason: receiver.ErrSignature.Error()})
	}
	refuse()
	if s := h.Stats(); len(s.BySub) != 1 || len(s.ByType) != 1 || counts() != 1 {
		t.Fatalf("counts of %d, rates of %d and %d, want one each", counts(), len(s.BySub), len(s.ByType))
	}
	if err := h.Unsubscribe(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if s := h.Stats(); len(s.BySub) != 0 || counts() != 0 {
		t.Errorf("removed subscriptions: counts of %d, rates of %d", counts(), len(s.BySub))
	}
	refuse() // was on its way
	h.keepStates(t.Context())
	if n := counts(); n != 0 {
		t.Errorf("%d counts of subscriptions that were removed before", n)
	}
	if err := h.RemoveServer(t.Context(), "pager"); err != nil {
		t.Fatal(err)
	}
	if s := h.Stats(); len(s.ByType) != 0 || s.Events != 1 {
		t.Errorf("rates of %d types of removed servers; %d events in total", len(s.ByType), s.Events)
	}
}
