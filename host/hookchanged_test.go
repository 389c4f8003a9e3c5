package host_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/trust"
)

// A genuine delivery with a known id and other data is acknowledged, not stored, and reported.
func TestDeliveryWithChangedContent(t *testing.T) {
	r, s, sub := subscribedHookRig(t, event.Server{})
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

// A signed message of an unknown type does nothing, and is noted in the history of the subscription,
// once for many.
func TestSignedMessageOfAnUnknownTypeIsNoted(t *testing.T) {
	r, s, sub := subscribedHookRig(t, event.Server{})
	for i := range 3 {
		id := fmt.Sprintf("msg_%d", i)
		if got := s.deliver(id, `{"type":"pa\u001brdon"}`, nil); got != http.StatusNoContent {
			t.Errorf("answered %d", got)
		}
	}
	if got := s.deliver("evt_1", occurrence("evt_1"), nil); got != http.StatusNoContent { // it is stored behind the remark
		t.Errorf("an event: answered %d", got)
	}
	told := 0
	err := r.store.Forward(1, func(rec event.Record) bool {
		if rec.Sub == sub.ID && rec.Kind == event.KindState && strings.Contains(rec.State.Evidence, "which is not known here") {
			if told++; strings.Contains(rec.State.Evidence, "\x1b") || !strings.Contains(rec.State.Evidence, "rdon") {
				t.Errorf("told: %q", rec.State.Evidence)
			}
		}
		return true
	})
	if err != nil || told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
}

// Changed data in a poll are reported like those of a delivery.
func TestPollWithChangedContent(t *testing.T) {
	s := &strange{list: func(int64) string { return `"result":{"events":[{"name":"a","delivery":["poll"]}]}` }}
	s.poll = `"result":{"cursor":"1","events":[{"eventId":"e","name":"a","timestamp":"2026-01-01T00:00:00Z","data":{"n":1}},` +
		`{"eventId":"e","name":"a","timestamp":"2026-01-01T00:00:00Z","data":{"n":2}}]}`
	h := hostOn(t, s, host.Options{})
	r := &rig{t: t, host: h}
	sub, err := h.Subscribe(r.ctx(), host.Request{Server: "strange", Type: trust.Untrusted("a")})
	if err != nil {
		t.Fatal(err)
	}
	r.await("the changed event among the refused", func(host.Snapshot) bool { return len(h.Refusals()) > 0 })
	if f := h.Refusals()[0]; f.Reason != receiver.ReasonChanged || f.Sub != sub.ID || f.Status != 0 {
		t.Errorf("%+v", f)
	}
}
