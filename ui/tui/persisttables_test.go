package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
)

// The next run restores the tab and the order of a table.
func TestTablesAreRestored(t *testing.T) {
	h := incident()
	a := open(t, h, 160, 40)
	a.draw()
	press(t, a, "5", "]", "4", "l")
	a.draw()
	press(t, a, "l", "o", "]")
	b := nextRun(t, a, h)
	if b.table().Name != "Gaps" || b.boards.Log.On != 1 {
		t.Errorf("the tabs are %s and %d", b.table().Name, b.boards.Log.On)
	}
	press(t, b, "[")
	b.draw()
	if by, reverse := b.table().Order(); by != "MODE" || !reverse {
		t.Errorf("sorted by %q, reversed %v", by, reverse)
	}
}

// Tables and the detail show times in the same format as the stream.
func TestTablesShowTimesLikeTheStream(t *testing.T) {
	for keys, want := range map[string]string{
		"4 ] t": "03-14 14:03:06Z", "5 t": "03-14 14:03:08Z", "5 ] t": "14:03:05.000Z", "4 t": "14:03:05Z",
		"4 ] t t": " ago", "2 enter t": "2026-03-14 14:03:06.800Z", "5 t t t": "+",
	} {
		a := open(t, incident(), 160, 40)
		a.draw()
		press(t, a, strings.Fields(keys)...)
		exact(t, a)
		if s := screenOf(a); !strings.Contains(s, want) {
			t.Errorf("after %s nothing says %s:\n%s", keys, want, s)
		}
	}
}

// A table with few rows leaves its room to the detail, and filtering its rows does not move the
// panes.
func TestSmallTableTakesLittleRoom(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "4")
	a.draw()
	if a.panes.Now.Table.H > 8 {
		t.Errorf("three rows have %d lines", a.panes.Now.Table.H)
	}
	before := a.panes.Now.Table
	press(t, a, "/", "c", "h", "a", "t", "enter")
	if a.draw(); a.panes.Now.Table != before {
		t.Errorf("looking for words made %+v of %+v", a.panes.Now.Table, before)
	}
}

// Quitting the demo asks nothing: its servers end with the program.
func TestDemoQuitsWithoutAsking(t *testing.T) {
	a := open(t, incident(), 120, 40)
	a.demo.All = true
	if !press(t, a, "q") {
		t.Error("the demo asks about leases at servers that end")
	}
}

func TestEvidenceIsCutBetweenItsParts(t *testing.T) {
	for room, want := range map[int]string{99: ", polled 1, next in 2, 3 gaps", 28: ", polled 1, next in 2", 12: ", polled 1", 4: ", polled 1"} {
		if got := cells.WholeParts(", polled 1, next in 2, 3 gaps", ", ", room); got != want {
			t.Errorf("in %d cells: %q, want %q", room, got, want)
		}
	}
}

// In tmux two fast esc arrive as one key.
func TestTwoEscInOneKey(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "4", "/", "x")
	a.key(tea.KeyPressMsg{Code: tea.KeyEscape, Mod: tea.ModAlt})
	if a.prompt != nil || a.board() != nil {
		t.Errorf("prompt %v, screen %v", a.prompt != nil, a.panes.Subject)
	}
}

// There is no lag without a valid time of the server.
func TestNoLagWithoutATime(t *testing.T) {
	h := incident()
	h.snap.Subs[0].LastSeq = h.add(event.Record{Kind: event.KindState, Server: "pager", State: &event.StateChange{State: event.StateLive}})
	a := open(t, h, 200, 40)
	press(t, a, "4")
	a.draw()
	if row := a.table().Line(); strings.Contains(row, " ms") || strings.Contains(row, " s  ") {
		t.Errorf("there is a lag in %s", row)
	}
}
