package host_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"eventdeck/host"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// An end of the operator's ends a subscription here and on its server, in every mode; the same
// subscription can begin again.
func TestEndOfASubscription(t *testing.T) {
	for _, c := range []struct {
		server, typ, args string
		mode              event.Mode
	}{
		{"pager", "load.tick", "", event.ModePoll}, {"pager", "load.tick", "", event.ModePush}, {"pager", "load.tick", "", event.ModeWebhook},
		{"archive", "event://archive/load.tick", "", event.ModeWebhook}, {"digest", dialect.FilteredStream, `{"eventTypes":["load.*"]}`, event.ModePush},
	} {
		t.Run(c.server+" "+string(c.mode), func(t *testing.T) {
			r := newRig(t)
			r.others()
			later := time.Now().Add(time.Hour).UTC()
			q := host.Request{Server: c.server, Type: trust.Untrusted(c.typ), Args: []byte(c.args), Mode: c.mode, Ends: &later}
			sub, err := r.host.Subscribe(r.ctx(), q)
			if err != nil {
				t.Fatal(err)
			}
			snap := r.await("events", func(s host.Snapshot) bool { return viewOf(s, sub.ID).Stored > 3 })
			if v := viewOf(snap, sub.ID); !v.Expires.Equal(later) {
				t.Errorf("it ends at %v, want %v", v.Expires, later)
			}
			q.Ends, q.From.Saved = nil, true
			if _, err := r.host.Subscribe(r.ctx(), q); err != nil || !viewOf(r.host.Snapshot(), sub.ID).Expires.Equal(later) {
				t.Errorf("asked for again without an end: %v", err)
			}
			if err := r.host.SetEnd(r.ctx(), sub.ID, time.Now().Add(-time.Minute)); err != nil {
				t.Fatal(err)
			}
			snap = r.await("the end", func(s host.Snapshot) bool {
				return viewOf(s, sub.ID).Status.State == event.StateEnded && viewOf(s, sub.ID).State.Over()
			})
			kept, err := r.store.Subscription(sub.ID)
			if v := viewOf(snap, sub.ID); err != nil || kept.Evidence != "it ended as planned" || !v.Status.Error.IsZero() {
				t.Errorf("%s, %v, %v", kept.Evidence, v.Status.Error, err)
			}
			if c.server != "pager" {
				r.await("the end on the server", func(host.Snapshot) bool { return len(r.heldBy(c.server)) == 0 })
			}
			if c.server == "pager" && c.mode == event.ModeWebhook {
				if got := r.deliver(sub.Hook.URL); got != http.StatusNotFound {
					t.Errorf("a delivery after the end is answered %d", got)
				}
			}
			if err := r.host.SetEnd(r.ctx(), sub.ID, later); !errors.Is(err, host.ErrStopped) {
				t.Errorf("an end for one that is over: %v", err)
			}
			before := viewOf(r.host.Snapshot(), sub.ID).Stored
			if _, err = r.host.Subscribe(r.ctx(), q); err != nil {
				t.Fatal(err)
			}
			snap = r.await("events again", func(s host.Snapshot) bool { return viewOf(s, sub.ID).Stored > before+3 })
			if v := viewOf(snap, sub.ID); !v.Expires.IsZero() {
				t.Errorf("begun again, it ends at %v", v.Expires)
			}
		})
	}
}
