package store

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"eventdeck/host/event"
	"eventdeck/store/tables"
)

// cloneSub returns a copy that shares nothing that can be changed.
func cloneSub(s event.Subscription) event.Subscription {
	s.Key.Args, s.Shown = slices.Clone(s.Key.Args), slices.Clone(s.Shown)
	if s.Lease.Status != nil {
		status := *s.Lease.Status
		s.Lease.Status = &status
	}
	return s
}

// subCache holds the committed subscriptions. The writer alone changes it.
type subCache struct {
	mu   sync.RWMutex
	byID map[event.SubID]tables.KeptSub
}

func (c *subCache) get(id event.SubID) (tables.KeptSub, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.byID[id]
	return k, ok
}

// publish takes over what a commit has changed; nil means removed.
func (c *subCache) publish(changed map[event.SubID]*tables.KeptSub) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, k := range changed {
		if k == nil {
			delete(c.byID, id)
		} else {
			c.byID[id] = *k
		}
	}
}

// Subscriptions implements [event.Store]. Those created at the same moment are
// ordered by their ids.
func (s *Store) Subscriptions() []event.Subscription {
	s.subs.mu.RLock()
	kept := slices.Collect(maps.Values(s.subs.byID))
	s.subs.mu.RUnlock()
	slices.SortFunc(kept, func(a, b tables.KeptSub) int {
		return cmp.Or(a.Sub.Created.Compare(b.Sub.Created), cmp.Compare(a.Sub.ID, b.Sub.ID))
	})
	subs := make([]event.Subscription, len(kept))
	for i, k := range kept {
		subs[i] = cloneSub(k.Sub)
	}
	return subs
}

// Subscription implements [event.Store].
func (s *Store) Subscription(id event.SubID) (event.Subscription, error) {
	k, ok := s.subs.get(id)
	if !ok {
		return event.Subscription{}, fmt.Errorf("subscription %q: %w", id, event.ErrNotFound)
	}
	return cloneSub(k.Sub), nil
}
