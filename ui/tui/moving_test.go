package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
)

// While the stream follows, a key acts on no row that the operator has not seen named.
func TestPauseNamesItsTargetWhileFollowing(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	press(t, a, "2")
	pager, chat := h.snap.Subs[0].ID, h.snap.Subs[2].ID
	h.event("pager", "incident.created", "looked at")
	arrive(a)
	a.draw()
	press(t, a, "P")
	if s := screenOf(a); len(h.paused) > 0 || !strings.Contains(s, "P again acts on pager incident.created") || !strings.Contains(s, "looked at)") {
		t.Fatalf("paused %v without a question\n%s", h.paused, s)
	}
	for range 3 {
		h.event("chat", "message.posted", "came meanwhile")
		arrive(a)
		a.draw()
		press(t, a, "P")
	}
	if !slices.Equal(h.paused, append(h.paused[:0:0], pager, pager, pager)) || slices.Contains(h.paused, chat) {
		t.Errorf("paused %v, not thrice %v", h.paused, pager)
	}
	if press(t, a, "f"); !a.stream.Follow {
		t.Error("f does not follow on")
	}
	press(t, a, "space", "P")
	if len(h.paused) != 4 {
		t.Errorf("in a frozen view, whose rows do not move, it asks: %v", h.paused)
	}
}

// No action changes anything by one key in a stream that follows; neither does a typed command.
func TestNothingIsChangedByOneKeyWhileFollowing(t *testing.T) {
	for _, x := range open(t, incident(), 160, 45).actionRows() {
		inStream := len(x.Panes) == 0 || slices.Contains(x.Panes, layout.Stream)
		if !x.Dangerous || x.Needs != palette.Subscription && x.Needs != palette.Event || len(x.Keys) == 0 || !inStream {
			continue
		}
		h := incident()
		h.event("chat", "message.posted", "has just come")
		a := open(t, h, 120, 40)
		press(t, a, "2", x.Keys[0])
		if len(h.did)+len(h.paused)+len(h.ended) > 0 {
			t.Errorf("%s (%s) did %v, paused %v, ended %v", x.Keys[0], x.ID, h.did, h.paused, h.ended)
		}
		if a.actions.Works(a.actions.Find(x.ID)) && !strings.Contains(screenOf(a), "message.posted") {
			t.Errorf("%s (%s) does not name its target:\n%s", x.Keys[0], x.ID, screenOf(a))
		}
	}
	a := open(t, incident(), 120, 40)
	press(t, a, "2", ":")
	word(t, a, "pipe true")
	press(t, a, "enter")
	if d, _ := a.dialog.(*palette.Palette); d == nil || !strings.Contains(d.Problem, "pool exhausted") {
		t.Errorf(":pipe ran a command\n%s", screenOf(a))
	}
	for _, line := range []string{"mode push", "failover on", "reset now"} {
		h := incident()
		h.event("chat", "message.posted", "has just come")
		a := open(t, h, 120, 40)
		press(t, a, "2", ":")
		word(t, a, line)
		press(t, a, "enter")
		d, _ := a.dialog.(*palette.Palette)
		if len(h.did) > 0 || d == nil || !strings.Contains(d.Problem, "has just come") {
			t.Errorf(":%s did %v\n%s", line, h.did, screenOf(a))
		}
		h.event("pager", "incident.created", "came meanwhile")
		arrive(a)
		press(t, a, "enter")
		if len(h.did) != 1 || !strings.Contains(h.did[0], string(h.snap.Subs[2].ID)) {
			t.Errorf("the second enter of :%s did %v", line, h.did)
		}
	}
}

// m alone marks the row after a moment, before an unknown key, and before a click on another row.
func TestMarkKeyAloneMarks(t *testing.T) {
	for name, after := range map[string]func(a *app){
		"a moment": func(a *app) {
			n, _ := a.actions.AwaitSecond()
			settle(a, a.update(aloneMsg(n)))
		},
		"a key with a meaning": func(a *app) { press(t, a, "k") },
		"a click":              func(a *app) { settle(a, a.update(tea.MouseClickMsg{X: 60, Y: 5, Button: tea.MouseLeft})) },
	} {
		a := open(t, incident(), 120, 40)
		press(t, a, "2", "k", "m")
		at := a.stream.At
		if s := screenOf(a); !strings.Contains(s, "enter mark it") || !strings.Contains(s, "n mark with a note") {
			t.Errorf("the hints do not say what may follow:\n%s", s)
		}
		settle(a, a.update(aloneMsg(0))) // of an earlier key
		if a.actions.Chord != "m" {
			t.Error("a time that was for another sequence ends this one")
		}
		after(a)
		arrive(a)
		if _, marked := a.stream.Marks.Find(at); !marked || a.actions.Chord != "" {
			t.Errorf("after %s: marked %v, waiting %q", name, marked, a.actions.Chord)
		}
	}
	a := open(t, incident(), 120, 40)
	if press(t, a, "2", "m"); a.awaitSecond() == nil {
		t.Error("nothing ends m")
	}
	a = open(t, incident(), 120, 40)
	if press(t, a, "2", "y"); a.awaitSecond() != nil {
		t.Error("y means nothing alone")
	}
}
