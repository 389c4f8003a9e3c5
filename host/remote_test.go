package host_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
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

// refuseUnsubscribe puts a proxy before the server that answers requests to end a subscription
// with 503 while the returned flag is set, and opens the host anew to use it.
func (r *rig) refuseUnsubscribe() *atomic.Bool {
	r.t.Helper()
	var refuse atomic.Bool
	pager := relay(r.t, r.url)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil || refuse.Load() && bytes.Contains(body, []byte(`"events/unsubscribe"`)) {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		pager.ServeHTTP(w, q)
	}))
	r.close()
	r.t.Cleanup(front.Close)
	r.url = front.URL
	r.open()
	return &refuse
}

// A lease whose end the server does not confirm is listed until it can be ended.
func TestOrphanedLeaseIsListedAndEnded(t *testing.T) {
	r := newRig(t)
	refuse := r.refuseUnsubscribe()
	sub := r.webhook(3)
	id := sub.Lease.ServerID
	if got := r.remote(); len(got) != 1 || got[0].Mine != sub.ID || got[0].ServerID != id || got[0].Orphan || got[0].Duplicate {
		t.Errorf("in use: %+v", got)
	}
	if err := r.host.EndRemote(r.ctx(), "pager", id); !errors.Is(err, host.ErrInUse) {
		t.Errorf("in use: %v", err)
	}

	refuse.Store(true)
	if err := r.host.Unsubscribe(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
	r.close()
	r.open()
	got := r.remote()
	if len(got) != 1 || !got[0].Orphan || got[0].Mine != "" || got[0].ServerID != id || got[0].Type != trust.Untrusted("load.tick") || !strings.Contains(got[0].Detail.Raw(), "not confirmed") {
		t.Fatalf("orphaned: %+v", got)
	}
	// The host tries once at each connection. Only then is it the operator who ends the lease.
	r.await("the host's own try", func(host.Snapshot) bool { return slices.Contains(r.acts(), "host: orphaned lease ended") })
	refuse.Store(false)
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
	refuse := r.refuseUnsubscribe()
	sub := r.webhook(3)
	refuse.Store(true)
	if err := r.host.Pause(r.ctx(), sub.ID); err != nil {
		t.Fatal(err)
	}
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
