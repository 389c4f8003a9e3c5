package tui

import (
	"encoding/json"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/palette"
)

// A typed secret is sent, but is neither in the history nor in the saved state.
func TestTypedSecretsAreNotInTheHistory(t *testing.T) {
	h := newFake()
	h.server("shop", event.Type{Name: trust.Untrusted("order.placed"), Modes: []event.Mode{event.ModePoll}, InputSchema: json.RawMessage(
		`{"type":"object","properties":{"pin":{"type":"string","format":"password"},"login":{"type":"object","properties":{"key":{"type":"string","writeOnly":true}}},"team":{"type":"string"}}}`)})
	a := open(t, h, 120, 40)
	press(t, a, ":")
	word(t, a, `sub order.placed pin=hunter2 team="the core" mode=poll`)
	press(t, a, "enter", "ctrl+s")
	if len(h.asked) != 1 || string(h.asked[0].Args) != `{"pin":"hunter2","team":"the core"}` {
		t.Fatalf("asked %+v", h.asked)
	}
	const want = `sub order.placed "team=the core" mode=poll`
	if kept, err := json.Marshal(a.state()); err != nil || strings.Contains(string(kept), "hunter2") {
		t.Errorf("kept is %s, %v", kept, err)
	}
	press(t, a, ":", "up")
	if text := a.dialog.(*palette.Palette).Field.Text(); text != want {
		t.Errorf("the history begins with %q", text)
	}
	press(t, a, "esc")
	for line, want := range map[string]string{
		`sub order.placed  team=core mode=poll`:    `sub order.placed team=core mode=poll`,
		`sub order.placed "pin=a b" login={} n=1`:  `sub order.placed n=1`,
		`sub nothing.here pin=hunter2`:             ``,
		`sub order.placed pin=hunter2 server=none`: ``,
		`time utc`: `time utc`,
	} {
		if got := a.choice.ForHistory(line); got != want {
			t.Errorf("%s is remembered as %q, want %q", line, got, want)
		}
	}
}
