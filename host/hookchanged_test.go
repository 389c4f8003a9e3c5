package host_test

import (
	"net/http"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
)

// A genuine delivery with a known id and other data is not stored, not asked for
// again, and told.
func TestDeliveryWithChangedContent(t *testing.T) {
	r, s := hookRig(t, event.Server{})
	sub, err := r.host.Subscribe(r.ctx(), r.tick())
	if err != nil {
		t.Fatal(err)
	}
	first := occurrence("evt_1")
	changed := strings.Replace(first, `"data":{`, `"data":{"amount":1,`, 1)
	for i, body := range []string{first, first, changed, first} {
		if got := s.deliver("evt_1", body, nil); got != http.StatusNoContent {
			t.Errorf("delivery %d: answered %d", i+1, got)
		}
	}
	r.await("the changed delivery among the refused", func(host.Snapshot) bool { return len(r.host.Refusals()) > 0 })
	if f := r.host.Refusals(); len(f) != 1 || f[0].Reason != receiver.ReasonChanged || f[0].Sub != sub.ID || f[0].Status != http.StatusNoContent {
		t.Errorf("%+v", f)
	}
	if n := r.host.Snapshot().Subs[0].Stored; n != 1 {
		t.Errorf("%d events are stored", n)
	}
}
