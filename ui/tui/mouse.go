package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/widget"
)

// wheelFrame is the least time between two redraws for the wheel. Steps in between are added up.
const wheelFrame = 16 * time.Millisecond

// wheelRows is how many rows one step of the wheel scrolls.
const wheelRows = 3

// mouse is the state of the mouse. While it is off, the terminal selects text as usual.
type mouse struct {
	off   bool
	x, y  int
	steps int  // of the wheel, not shown yet; down is positive
	armed bool // a wheelMsg is due
}

// wheelMsg is sent when steps of the wheel may be shown again.
type wheelMsg struct{}

// filter drops messages that change nothing on the screen: movements, releases, and steps of the
// wheel while a wheelMsg is due. It runs before Update, on the same goroutine.
func (a *app) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	a.Outside.Stops.Filter(msg)
	switch msg := msg.(type) {
	case tea.MouseMotionMsg, tea.MouseReleaseMsg:
		return nil
	case tea.MouseWheelMsg:
		m := &a.mouse
		m.x, m.y = msg.X, msg.Y
		switch msg.Button {
		case tea.MouseWheelUp:
			m.steps--
		case tea.MouseWheelDown:
			m.steps++
		}
		if m.armed {
			return nil
		}
	}
	return msg
}

// wheel scrolls by the steps of the wheel that were not shown yet.
func (a *app) wheel() tea.Cmd {
	m := &a.mouse
	n := m.steps
	m.steps, m.armed = 0, n != 0
	if n == 0 {
		return nil
	}
	return tea.Batch(a.scrollAt(m.x, m.y, n*wheelRows), a.Scheduler.After(wheelFrame, wheelMsg{}))
}

// scrollAt scrolls the dialog, or the pane under the pointer. The focus stays.
func (a *app) scrollAt(x, y, rows int) tea.Cmd {
	if a.dialog != nil {
		key := tea.KeyPressMsg{Code: tea.KeyDown}
		if rows < 0 {
			key, rows = tea.KeyPressMsg{Code: tea.KeyUp}, -rows
		}
		var cmds []tea.Cmd
		for range rows {
			if a.dialog != nil {
				cmds = append(cmds, a.dialog.Key(key))
			}
		}
		return tea.Batch(cmds...)
	}
	switch p, _ := a.paneAt(x, y); p {
	case layout.None:
	case layout.Tree:
		a.tree.By(rows)
		a.rescope()
	case layout.Stream:
		a.stream.Scroll(rows)
	case layout.Other:
		a.stream.Other.Scroll(rows)
	case layout.Detail:
		a.detail.By(rows)
	default:
		a.table().Scroll(rows)
	}
	return nil
}

// paneAt returns the pane at a cell and the row in it; -1 is its title.
func (a *app) paneAt(x, y int) (layout.Pane, int) {
	p, at := a.panes.Pane(x, y)
	if p == layout.None {
		return p, 0
	}
	row, above := y-at.Y-1, 0
	switch p {
	case layout.Stream:
		above = a.stripRows()
	case layout.React:
		above = len(a.react.Headline(at.W))
	}
	if row -= above; row >= 0 && p != layout.Detail {
		return p, row / a.audience.Stride(at.H-1-above)
	}
	return p, max(row, -1)
}

// click moves the focus to the pane and chooses the row under the pointer. A click on the chosen row
// opens it.
func (a *app) click(m tea.Mouse) tea.Cmd {
	if m.Button != tea.MouseLeft || a.prompt != nil {
		return nil
	}
	if a.dialog != nil {
		if d, ok := a.dialog.(widget.Clicker); ok {
			if x, y, in := a.frame.Inside(a.dialog, m.X, m.Y); in {
				return d.Click(x, y)
			}
		}
		return nil
	}
	if s := a.panes.Now.Scope; !s.Empty() && m.Y == s.Y {
		a.panes.Enter(layout.Tree)
		return nil
	}
	p, row := a.paneAt(m.X, m.Y)
	if p == layout.None {
		return nil
	}
	had := a.panes.Focus == p
	switch p {
	case layout.Detail:
		a.toDetail()
	case layout.Other:
		a.switchStream()
		p = layout.Stream
	default:
		a.panes.Enter(p)
	}
	if row < 0 {
		return nil
	}
	var again bool
	switch p {
	case layout.Tree:
		if again = a.tree.Click(row); !again {
			a.rescope()
		}
	case layout.Stream:
		again = a.stream.Click(row)
	case layout.Subs, layout.Log, layout.React:
		again = a.table().Click(row - 1)
	}
	if had && again {
		return a.open()
	}
	return nil
}

// switchMouse turns the mouse of the screen off, so that the terminal selects text, or on.
func (a *app) switchMouse() tea.Cmd {
	a.mouse.off = !a.mouse.off
	if a.mouse.off {
		return a.persist.Set(persist.Mouse, "off", "the mouse selects text; "+a.KeyOf("mouse")+" gives it back to the screen")
	}
	return a.persist.Set(persist.Mouse, "on", "the mouse works here; "+a.KeyOf("mouse")+" lets it select text")
}
