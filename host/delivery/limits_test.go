package delivery

import (
	"slices"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// An event below, at and above the bounds of its size and its depth: above them it
// is kept as rejected, with its bytes, and the stream goes on.
func TestEventsAreBounded(t *testing.T) {
	sized := func(n int) string {
		head := `{"eventId":"e","data":"`
		return head + strings.Repeat("x", n-len(head)-2) + `"}`
	}
	nested := func(n int) string {
		return `{"eventId":"e","data":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}
	for name, c := range map[string]struct {
		make   func(n int) string
		limit  int
		reason string
	}{
		"bytes": {sized, 1 << 20, "too large"},
		"depth": {nested, 1000, "nested too deep"},
	} {
		t.Run(name, func(t *testing.T) {
			for n, kind := range map[int]event.Kind{c.limit - 1: event.KindEvent, c.limit: event.KindEvent, c.limit + 1: event.KindRejected} {
				bubble(t, event.ModePoll, func(r *rig) {
					r.src.poll = func(asked int, _ wire.PollRequest) (wire.PollResult, error) {
						if asked > 1 {
							return wire.PollResult{}, nil
						}
						return wire.PollResult{Events: raw(c.make(n), `{"eventId":"after"}`), Cursor: cur("2")}, nil
					}
					r.start()
					r.wantCursor("=2")
					records := slices.DeleteFunc(r.store.all(), func(rec event.Record) bool { return rec.Kind == event.KindState })
					if len(records) != 2 || records[0].Kind != kind || records[1].EventID.Raw() != "after" {
						r.t.Fatalf("%d: %d records", n, len(records))
					}
					if string(records[0].Raw) != c.make(n) || kind == event.KindRejected && !strings.HasPrefix(records[0].Reason.Raw(), c.reason) {
						r.t.Errorf("%d: %d bytes are kept, because %v", n, len(records[0].Raw), records[0].Reason)
					}
				})
			}
		})
	}
}
