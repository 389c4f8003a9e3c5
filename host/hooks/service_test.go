package hooks

import (
	"fmt"
	"testing"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// oneSub is a store with one subscription.
type oneSub struct {
	event.Store
	sub    event.Subscription
	locked error
}

func (s *oneSub) Subscription(event.SubID) (event.Subscription, error) { return s.sub, nil }
func (s *oneSub) Subscriptions() []event.Subscription                  { return []event.Subscription{s.sub} }
func (s *oneSub) EndedHooks() []event.Ended                            { return nil }
func (s *oneSub) Info() event.StoreInfo                                { return event.StoreInfo{Locked: s.locked} }

// While the secret that proves deliveries cannot be read, senders are told to retry.
func TestDeliveriesWhileSecretsAreLocked(t *testing.T) {
	for _, locked := range []error{nil, event.ErrKeyLocked} {
		s := New(t.Context(), Deps{
			Store: &oneSub{sub: event.Subscription{ID: "a", Hook: event.Hook{Path: "/hooks/0"}}, locked: locked}, Now: time.Now,
			Server: func(string) (event.Server, error) { return event.Server{}, nil },
			Runner: func(event.SubID) *delivery.Runner { return nil },
		})
		if entry, _ := s.Lookup("/hooks/0"); entry.Awaited != (locked != nil) {
			t.Errorf("%v: awaited %t", locked, entry.Awaited)
		}
	}
}

// A server that delivers to a former path is told that it is gone. The paths of a subscription
// that makes many do not accumulate.
func TestFormerPathsAreGone(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	store := &oneSub{sub: event.Subscription{ID: "a", Hook: event.Hook{Path: "/hooks/0"}}}
	s := New(t.Context(), Deps{
		Store: store, Now: func() time.Time { return now },
		Server: func(string) (event.Server, error) { return event.Server{}, nil },
		Runner: func(event.SubID) *delivery.Runner { return nil },
	})
	want := func(path string, state receiver.PathState) {
		t.Helper()
		if _, got := s.Lookup(path); got != state {
			t.Errorf("%s: state %v, want %v", path, got, state)
		}
	}
	for n := 1; n <= 3; n++ {
		h := &store.sub.Hook
		h.OldPath, h.Path, h.OldUntil = h.Path, fmt.Sprint("/hooks/", n), now.Add(5*time.Minute)
		s.AddPath(h.Path, "a")
	}
	want("/hooks/3", receiver.PathKnown)
	want("/hooks/2", receiver.PathKnown) // for deliveries under way
	want("/hooks/1", receiver.PathRemoved)
	want("/hooks/0", receiver.PathRemoved)
	now = now.Add(6 * time.Minute)
	want("/hooks/2", receiver.PathRemoved)
	want("/hooks/x", receiver.PathUnknown)
	for n := 4; n < 1000; n++ {
		s.AddPath(fmt.Sprint("/hooks/", n), "a")
	}
	if len(s.paths) > maxPaths || len(s.pathsOf["a"]) > maxPaths {
		t.Errorf("%d paths are known", len(s.paths))
	}
	s.Remove("a")
	want("/hooks/999", receiver.PathRemoved)
	if len(s.paths) != 0 || len(s.pathsOf) != 0 {
		t.Errorf("%d paths of a removed subscription are known", len(s.paths))
	}
}

// endedSubs is a store with subscriptions that their servers ended.
type endedSubs struct {
	event.Store
	ended []event.Ended
}

func (s *endedSubs) Subscription(id event.SubID) (event.Subscription, error) {
	return event.Subscription{ID: id, State: event.StateEnded, Hook: event.Hook{Path: "/hooks/" + string(id)}}, nil
}
func (s *endedSubs) Subscriptions() []event.Subscription { return nil }
func (s *endedSubs) EndedHooks() []event.Ended           { return s.ended }
func (s *endedSubs) Info() event.StoreInfo               { return event.StoreInfo{} }

// A host that runs for months forgets the oldest paths, as the store does.
func TestOldestPathsAreForgotten(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	store := &endedSubs{}
	s := New(t.Context(), Deps{
		Store: store, Now: func() time.Time { return now },
		Server: func(string) (event.Server, error) { return event.Server{}, nil },
	})
	const n = 1_010
	for i := range n {
		removed, ended := fmt.Sprint("r", i), fmt.Sprint("e", i)
		s.AddPath("/hooks/"+removed, event.SubID(removed))
		s.Remove(event.SubID(removed))
		s.AddPath("/hooks/"+ended, event.SubID(ended))
		store.ended = []event.Ended{{Path: "/hooks/" + ended, At: now}}
		if _, state := s.Lookup("/hooks/" + ended); state != receiver.PathEnded {
			t.Fatalf("%s: state %v", ended, state)
		}
	}
	for path, want := range map[string]receiver.PathState{
		"r0": receiver.PathUnknown, "r9": receiver.PathUnknown, "r10": receiver.PathRemoved, fmt.Sprint("r", n-1): receiver.PathRemoved,
		"e9": receiver.PathUnknown, "e10": receiver.PathEnded, // the store has forgotten the oldest too
	} {
		if _, got := s.Lookup("/hooks/" + path); got != want {
			t.Errorf("%s: state %v, want %v", path, got, want)
		}
	}
}
