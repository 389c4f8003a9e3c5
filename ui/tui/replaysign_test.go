package tui

import (
	"encoding/json"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// The sign of a replay is shown also after a text that is cut.
func TestReplaySignAfterCutText(t *testing.T) {
	h := newFake()
	h.server("pager", event.Type{Name: trust.Untrusted("incident.created"), Modes: []event.Mode{event.ModePush}})
	h.add(event.Record{Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.created"), Replayed: true, ReceivedAt: start, Data: json.RawMessage(`{"title":"` + strings.Repeat("pool ", 60) + `"}`)})
	with := 0
	for w := 40; w <= 200; w++ {
		a := open(t, h, w, 20)
		press(t, a, "2", "z")
		for line := range strings.Lines(screenOf(a)) {
			text := strings.TrimSuffix(line, "\n")
			switch {
			case !strings.Contains(text, "pool"):
			case strings.HasSuffix(text, "replay"):
				with++
			case len(text)-len(strings.TrimRight(text, " ")) > 1:
				t.Errorf("%d cells: the row has a hole where the word should be: %q", w, text)
			}
		}
	}
	if with < 100 {
		t.Errorf("the word stands in %d of 161 widths", with)
	}
}
