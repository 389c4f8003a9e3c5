package host_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

func (r *rig) remote() []host.RemoteSubscription {
	r.t.Helper()
	all, err := r.host.Remote(r.ctx(), "pager")
	if err != nil {
		r.t.Fatal(err)
	}
	return all
}

// A lease that ends here while its server is away is listed until the server has ended it.
func TestOrphanedLeaseIsListedAndEnded(t *testing.T) {
	r := newRig(t)
	sub := r.webhook(3)
	id := sub.Lease.ServerID
	if got := r.remote(); len(got) != 1 || got[0].Mine != sub.ID || got[0].ServerID != id || got[0].Orphan || got[0].Duplicate {
		t.Errorf("in use: %+v", got)
	}
	if err := r.host.EndRemote(r.ctx(), "pager", id); !errors.Is(err, host.ErrInUse) {
		t.Errorf("in use: %v", err)
	}

	r.host.AddServer(event.Server{Name: "pager", URL: "not an address"})
	r.await("the fault", func(s host.Snapshot) bool { return s.Servers[0].Reach == host.ReachFault })
	if err := r.host.Unsubscribe(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	r.close()
	r.open()
	got := r.remote()
	if len(got) != 1 || !got[0].Orphan || got[0].Mine != "" || got[0].ServerID != id || got[0].Type != trust.Untrusted("load.tick") || !strings.Contains(got[0].Detail.Raw(), "not confirmed") {
		t.Fatalf("orphaned: %+v", got)
	}
	if err := r.host.EndRemote(r.ctx(), "pager", id); err != nil {
		t.Fatal(err)
	}
	if got := r.remote(); len(got) != 0 {
		t.Errorf("ended: %+v", got)
	}
	if err := r.host.EndRemote(r.ctx(), "pager", id); err == nil {
		t.Error("one that is not there was ended")
	}
	if !slices.Contains(r.acts(), "operator: end remote subscription") {
		t.Errorf("acts %q", r.acts())
	}
}

// A subscription that starts again at the same address is no orphan any more.
func TestResumedSubscriptionIsNoOrphan(t *testing.T) {
	r := newRig(t)
	sub := r.subscribe(event.ModeWebhook, host.From{})
	r.awaitStored(3)
	r.host.AddServer(event.Server{Name: "pager", URL: "not an address"})
	r.await("the fault", func(s host.Snapshot) bool { return s.Servers[0].Reach == host.ReachFault })
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	r.host.AddServer(event.Server{Name: "pager", URL: r.url})
	if got := r.remote(); len(got) != 1 || !got[0].Orphan {
		t.Errorf("paused: %+v", got)
	}
	if err := r.host.Resume(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	r.await("going on", func(s host.Snapshot) bool { return s.Subs[0].Status.State == event.StateLive })
	if got := r.remote(); len(got) != 1 || got[0].Orphan || got[0].Mine != sub.ID {
		t.Errorf("resumed: %+v", got)
	}
	if _, err := r.host.Remote(r.ctx(), "nobody"); !errors.Is(err, host.ErrUnknownServer) {
		t.Errorf("got %v", err)
	}
}
