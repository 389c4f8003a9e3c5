package host_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// request asks the nth server for a subscription; the pager answers to all their names.
func request(n int) host.Request {
	return host.Request{Server: fmt.Sprint("pager", n), Type: trust.Untrusted("load.tick"), Mode: event.ModePoll}
}

// named adds the pager under further names.
func (r *rig) named(n int) {
	for i := range n {
		spec := r.spec
		spec.Name = fmt.Sprint("pager", i)
		r.host.AddServer(spec)
	}
}

func TestSubscriptionsAreBounded(t *testing.T) {
	const limit = 3
	r := &rig{t: t, dir: t.TempDir(), limits: host.Limits{Subscriptions: limit}}
	r.url = r.pager("127.0.0.1:0")
	r.open()
	r.named(limit + 2)
	var first event.Subscription
	for n := range limit {
		sub, err := r.host.Subscribe(r.ctx(), request(n))
		if err != nil {
			t.Fatalf("subscription %d: %v", n+1, err)
		}
		first = sub
	}
	refused := func(n int) {
		t.Helper()
		_, err := r.host.Subscribe(r.ctx(), request(n))
		if !errors.Is(err, host.ErrLimit) || !strings.Contains(err.Error(), "eventdeck subs rm ID") {
			t.Errorf("above the limit: %v", err)
		}
		if n := len(r.store.Subscriptions()); n != limit {
			t.Errorf("%d are kept", n)
		}
	}
	refused(limit)
	if _, err := r.host.Subscribe(r.ctx(), request(0)); err != nil {
		t.Errorf("one that is there, again: %v", err)
	}
	if one := r.host.SnapshotOf(first.ID); len(one.Subs) != 1 || one.Subs[0].ID != first.ID || !one.Subs[0].Running || one.Last != r.store.Last() {
		t.Errorf("the state of one: %+v", one)
	}
	if err := r.host.Unsubscribe(r.ctx(), first.ID); err != nil {
		t.Fatal(err)
	}
	if one := r.host.SnapshotOf(first.ID); len(one.Subs) != 0 {
		t.Errorf("the state of one that is gone: %+v", one)
	}
	if _, err := r.host.Subscribe(r.ctx(), request(limit)); err != nil {
		t.Errorf("after one was ended: %v", err)
	}

	r.close()
	r.limits.Subscriptions = 1
	r.open()
	r.named(limit + 2)
	r.await("all that are kept going on", func(s host.Snapshot) bool {
		polling := 0
		for _, sub := range s.Subs {
			if sub.Status.State == event.StatePolling || sub.Status.State == event.StateDraining {
				polling++
			}
		}
		return polling == limit
	})
	refused(limit + 1)
}

// Concurrent requests share the remaining places.
func TestConcurrentSubscriptionsAreBounded(t *testing.T) {
	const limit, requests = 5, 20
	r := &rig{t: t, dir: t.TempDir(), limits: host.Limits{Subscriptions: limit}}
	r.url = r.pager("127.0.0.1:0")
	r.open()
	r.named(requests) // servers do not wait for each other
	var kept, refused atomic.Int32
	var wg sync.WaitGroup
	for n := range requests {
		wg.Go(func() {
			switch _, err := r.host.Subscribe(r.ctx(), request(n)); {
			case err == nil:
				kept.Add(1)
			case errors.Is(err, host.ErrLimit):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if kept.Load() != limit || refused.Load() != requests-limit || len(r.store.Subscriptions()) != limit {
		t.Errorf("%d are kept, %d were refused", kept.Load(), refused.Load())
	}
}

// The text for a limit of one is in the singular.
func TestLimitsOfOneAreInTheSingular(t *testing.T) {
	r := &rig{t: t, dir: t.TempDir(), limits: host.Limits{Servers: 1, Subscriptions: 1}}
	r.url = r.pager("127.0.0.1:0")
	r.open()
	spec := r.spec
	spec.Name = "second"
	r.host.AddServer(spec)
	snap := r.await("connecting", func(s host.Snapshot) bool {
		return len(s.Servers) == 2 && s.Servers[0].Reach == host.ReachReady && s.Servers[1].Reach == host.ReachFault
	})
	if says := snap.Servers[1].Err; !strings.Contains(says, "1 server is connected; take one out of the configuration") {
		t.Errorf("the second server says %q", says)
	}
	first := host.Request{Server: r.spec.Name, Type: trust.Untrusted("load.tick"), Mode: event.ModePoll}
	if _, err := r.host.Subscribe(r.ctx(), first); err != nil {
		t.Fatal(err)
	}
	second := host.Request{Server: r.spec.Name, Type: trust.Untrusted("incident.changed")}
	if _, err := r.host.Subscribe(r.ctx(), second); !errors.Is(err, host.ErrLimit) || !strings.Contains(err.Error(), "1 subscription is kept; end one (") {
		t.Errorf("a second subscription: %v", err)
	}
}

func TestServersAreBounded(t *testing.T) {
	r := &rig{t: t, dir: t.TempDir(), limits: host.Limits{Servers: 2}}
	r.url = r.pager("127.0.0.1:0")
	r.open()
	for _, name := range []string{"second", "third"} {
		spec := r.spec
		spec.Name = name
		r.host.AddServer(spec)
	}
	r.host.AddServer(r.spec) // one that is there, again
	snap := r.await("connecting", func(s host.Snapshot) bool {
		return len(s.Servers) == 3 && s.Servers[0].Reach == host.ReachReady && s.Servers[1].Reach == host.ReachReady && s.Servers[2].Reach == host.ReachFault
	})
	if says := snap.Servers[2].Err; !strings.Contains(says, "2 servers are connected") || !strings.Contains(says, "take one out of the configuration") {
		t.Errorf("the third says %q", says)
	}
	if err := r.host.RemoveServer(r.ctx(), "second"); err != nil {
		t.Fatal(err)
	}
	spec := r.spec
	spec.Name = "third"
	r.host.AddServer(spec)
	r.await("connecting after one was removed", func(s host.Snapshot) bool {
		return len(s.Servers) == 2 && s.Servers[1].Reach == host.ReachReady
	})
}
