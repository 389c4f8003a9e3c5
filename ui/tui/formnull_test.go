package tui

import (
	"encoding/json"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/form"
)

// A nullable field names the key that sets and removes null.
func TestNullableField(t *testing.T) {
	h := newFake()
	h.server("shop", event.Type{Name: trust.Untrusted("order.placed"), Modes: []event.Mode{event.ModePoll},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"team":{"type":["string","null"]},"size":{"type":["integer","null"]}}}`)})
	for _, w := range []int{80, 120} {
		a := open(t, h, w, 40)
		a.draw()
		press(t, a, "1", "j", "j", "s")
		f := a.dialog.(*form.Form)
		for _, e := range f.Model().Entries() {
			f.Focus(e)
			if s := screenOf(a); !strings.Contains(s, "or null; ctrl+n sends null") || !strings.Contains(s, "ctrl+n null") {
				t.Errorf("%d cells: %s does not say how:\n%s", w, e.Name().Raw(), s)
			}
			press(t, a, "ctrl+n")
			if s := screenOf(a); !strings.Contains(s, "ctrl+n takes null back") || !strings.Contains(string(f.Model().JSON()), `"`+e.Name().Raw()+`":null`) {
				t.Errorf("%d cells: %s:\n%s", w, f.Model().JSON(), s)
			}
		}
		press(t, a, "ctrl+n")
		if got := string(f.Model().JSON()); got != `{"team":null}` {
			t.Errorf("taken back: %s", got)
		}
	}
}

// Types with different schemas share one JSON field, and the form says why.
func TestSeveralTypesWithDifferentSchemas(t *testing.T) {
	const why = "Their schemas differ: what you write here as one JSON object"
	h := incident() // only one of its types has a schema
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "*", "j", "j", "*", "s")
	if s := screenOf(a); !strings.Contains(s, why) || strings.Contains(s, "says nothing about its arguments") {
		t.Errorf("no reason:\n%s", s)
	}
	h = newFake()
	same := json.RawMessage(`{"type":"object","properties":{"team":{"type":"string"}}}`)
	h.server("shop", event.Type{Name: trust.Untrusted("a.one"), InputSchema: same}, event.Type{Name: trust.Untrusted("a.two"), InputSchema: same})
	a = open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "*", "j", "*", "s")
	if s := screenOf(a); strings.Contains(s, why) || !strings.Contains(s, "team") {
		t.Errorf("of one schema:\n%s", s)
	}
}
