package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
)

func mouseAt(x, y int, b tea.MouseButton) tea.Mouse { return tea.Mouse{X: x, Y: y, Button: b} }

func TestClickChoosesPaneAndRow(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	a.draw()
	a.update(tea.MouseClickMsg(mouseAt(2, a.panes.Now.Tree.Y+3, tea.MouseLeft)))
	if a.panes.Focus != layout.Tree || a.tree.At != a.tree.Rows[2].Node {
		t.Errorf("focus %v, chosen %v", a.panes.Focus, a.tree.At)
	}
	a.tree.At = query.Node{}
	a.rescope()
	a.draw()
	r := a.panes.Now.Stream
	a.update(tea.MouseClickMsg(mouseAt(r.X+4, r.Y+2+a.stripRows(), tea.MouseLeft)))
	if a.panes.Focus != layout.Stream || a.stream.At != a.stream.Seqs[1] || a.stream.Follow {
		t.Errorf("focus %v, at %d, follow %v", a.panes.Focus, a.stream.At, a.stream.Follow)
	}
	a.update(tea.MouseClickMsg(mouseAt(r.X+4, r.Y+2+a.stripRows(), tea.MouseLeft)))
	if a.panes.Focus != layout.Detail {
		t.Error("a click on what is chosen does not open it")
	}
	exact(t, a)
}

func TestWheelIsCoalescedAndLosesNothing(t *testing.T) {
	h := incident()
	for range 300 {
		h.event("pager", "incident.created", "x")
	}
	a := open(t, h, 120, 40)
	a.draw()
	press(t, a, "1")
	r := a.panes.Now.Stream
	top := a.stream.Index(a.stream.Top)
	shown := 0
	for range 10 {
		if msg := a.filter(a, tea.MouseWheelMsg(mouseAt(r.X+1, r.Y+1, tea.MouseWheelUp))); msg != nil {
			shown++
			a.update(msg)
		}
	}
	if shown != 1 {
		t.Errorf("%d of ten steps are drawn at once", shown)
	}
	a.update(wheelMsg{})
	a.update(wheelMsg{})
	if got := top - a.stream.Index(a.stream.Top); got != 10*wheelRows {
		t.Errorf("ten steps scroll %d rows", got)
	}
	if a.panes.Focus != layout.Tree || a.stream.Follow || a.mouse.armed {
		t.Errorf("focus %v, follow %v, armed %v", a.panes.Focus, a.stream.Follow, a.mouse.armed)
	}
	if msg := a.filter(a, tea.MouseMotionMsg{}); msg != nil {
		t.Error("movements are drawn")
	}
}

func TestMouseOnTables(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "4")
	a.draw()
	r := a.panes.Now.Table
	if r.Empty() {
		t.Fatal("4 shows no table")
	}
	a.update(tea.MouseClickMsg(mouseAt(r.X+4, r.Y+3, tea.MouseLeft)))
	tab := a.table()
	if tab.At != tab.RowAt(1) {
		t.Errorf("a click on the second row chooses %+v", tab.At)
	}
	a.mouse.x, a.mouse.y, a.mouse.steps = r.X+4, r.Y+3, -1
	a.update(wheelMsg{})
	exact(t, a)
}

func TestMouseCanBeSwitchedOff(t *testing.T) {
	h := incident()
	a := open(t, h, 80, 24)
	if a.View().MouseMode == tea.MouseModeNone {
		t.Error("the mouse is off by itself")
	}
	press(t, a, "f2")
	if a.View().MouseMode != tea.MouseModeNone || h.settings[persist.Mouse] != "off" {
		t.Error("F2 does not give the mouse to the terminal")
	}
	if open(t, h, 80, 24).View().MouseMode != tea.MouseModeNone {
		t.Error("that is not kept")
	}
}
