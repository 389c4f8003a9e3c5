package tui

import (
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// The detail of a server says which of its event types are hidden, and why.
func TestDetailTellsWhyTypesAreHidden(t *testing.T) {
	h := incident()
	s := &h.snap.Servers[0]
	s.BadTypes, s.BadWhy = 3, []string{"page 1, descriptor 2: an event type has no name", "page 1, descriptor 3: \x1b[31mnot an object"}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j", "j")
	shown := screenOf(a)
	for _, want := range []string{"hidden   3 event types", "page 1, descriptor 2: an event type has no name", "not an object", "and 1 more"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not told:\n%s", want, shown)
		}
	}
}

// The detail of a type says which of its modes cannot be used here.
func TestDetailTellsWhichModesAreNotKnown(t *testing.T) {
	h := newFake()
	h.server("pager")
	pigeon := []trust.Text{trust.Untrusted("pigeon"), trust.Untrusted("smoke\x1b[31m")}
	h.snap.Servers[0].Types = []event.Type{
		{Name: trust.Untrusted("a.some"), Modes: []event.Mode{event.ModePoll}, OtherModes: pigeon},
		{Name: trust.Untrusted("b.none"), OtherModes: pigeon},
	}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1", "j", "j")
	if s := screenOf(a); !strings.Contains(s, "modes    poll") || !strings.Contains(s, "not known here: pigeon smoke\\x1b[31m") || strings.Contains(s, "none to subscribe by") {
		t.Errorf("not told:\n%s", s)
	}
	press(t, a, "j")
	if s := screenOf(a); !strings.Contains(s, "modes    none to subscribe by: the server names no mode that is known") || !strings.Contains(s, "not known here: pigeon") || strings.Contains(s, "Not subscribed. Press") {
		t.Errorf("not told:\n%s", s)
	}
	for i := range 50 {
		h.snap.Servers[0].Types[1].OtherModes = append(h.snap.Servers[0].Types[1].OtherModes, trust.Untrusted(fmt.Sprint("mode", i)))
	}
	h.snap.Version++
	a.take(h.Snapshot())
	if s := screenOf(a); !strings.Contains(s, "mode5") || strings.Contains(s, "mode6") {
		t.Errorf("not bounded:\n%s", s)
	}
}
