package host

import (
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/session"
	"eventdeck/host/trust"
)

// The wire log keeps a part of a flood, and counts the rest.
func TestWireLogIsBoundedInAFlood(t *testing.T) {
	now := time.Unix(1000, 0)
	j := &journal{core: &core{opts: Options{Now: func() time.Time { return now }}}, wire: eventlog.NewRing[WireFrame](10, 1<<20)}
	kept := 0
	for range wireEvents + 50 {
		if j.traceEvent() {
			kept++
		}
	}
	if kept != wireEvents {
		t.Errorf("%d frames of a second are kept, not %d", kept, wireEvents)
	}
	now = now.Add(time.Second)
	if !j.traceEvent() {
		t.Error("nothing is kept in the next second")
	}
	for range 2 {
		j.trace(event.Server{Name: "pager"}, session.Received, trust.Untrusted("{}"), 2)
	}
	var passed []uint64
	j.wire.After(0, func(_ uint64, f WireFrame) bool {
		passed = append(passed, f.Passed)
		return true
	})
	if len(passed) != 2 || passed[0] != 50 || passed[1] != 0 {
		t.Errorf("passed over: %d, not 50 once", passed)
	}
}
