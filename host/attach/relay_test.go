package attach

import (
	"errors"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
)

// stated is a host with a fixed snapshot.
type stated struct {
	host.API
	snap host.Snapshot
	flag chan struct{}
}

func (s *stated) Snapshot() host.Snapshot            { return s.snap }
func (s *stated) Changed() (<-chan struct{}, func()) { return s.flag, func() {} }

// A frontend keeps running when another host replaces one that is gone: it is notified, and
// versions and counts keep growing.
func TestRelay(t *testing.T) {
	counts := func(stored uint64) []host.SubscriptionView {
		return []host.SubscriptionView{{Subscription: event.Subscription{ID: "a"}, Stored: stored, Dropped: 2, Gaps: 1}}
	}
	one := &stated{snap: host.Snapshot{Version: 70, Subs: counts(40)}, flag: make(chan struct{}, 1)}
	l := NewRelay(one)
	changed, stop := l.Changed()
	defer stop()
	<-changed
	if v := l.Snapshot().Version; v != 70 {
		t.Errorf("version %d", v)
	}
	gone := errors.New("gone")
	l.Lose(gone)
	<-changed
	if s := l.Snapshot(); !errors.Is(s.Store.Err, gone) || s.Version <= 70 {
		t.Errorf("while it is gone: version %d, %v", s.Version, s.Store.Err)
	}
	last := l.Snapshot().Version
	two := &stated{snap: host.Snapshot{Version: 1, Subs: counts(3)}, flag: make(chan struct{}, 1)}
	l.Use(two)
	<-changed
	if s := l.Snapshot(); s.Store.Err != nil || s.Version <= last {
		t.Errorf("then: version %d after %d, %v", s.Version, last, s.Store.Err)
	} else if v := s.Subs[0]; v.Stored != 43 || v.Dropped != 4 || v.Gaps != 2 || two.snap.Subs[0].Stored != 3 {
		t.Errorf("then: counts %+v", v)
	}
	for len(changed) > 0 {
		<-changed
	}
	two.flag <- struct{}{}
	<-changed
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
