package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/event"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
)

// board returns the screen of tables that is shown, nil on the main screen.
func (a *app) board() *table.Board {
	switch a.panes.Subject {
	case layout.Subs:
		return &a.boards.Subs
	case layout.Log:
		return &a.boards.Log
	case layout.React:
		return &a.react.Board
	}
	return nil
}

// table returns the table that is shown, nil on the main screen.
func (a *app) table() *table.Table {
	if b := a.board(); b != nil {
		return b.Table()
	}
	return nil
}

// boardWork returns the commands that read what reactions and the shown table need.
func (a *app) boardWork() tea.Cmd {
	react := a.react.Work()
	if t := a.table(); t != nil {
		if board.AppLog(t) {
			a.Edges.Status.Trouble.See()
		}
		return tea.Batch(react, t.Work())
	}
	return react
}

// turnTab shows another tab of the tables, or of the detail.
func (a *app) turnTab(step int) {
	if b := a.board(); b != nil && a.panes.Focus != layout.Detail {
		b.Turn(step)
		a.table().Load()
		return
	}
	a.detail.Turn(step)
}

// tableScope returns the node to which the rows of tables are limited.
func (a *app) tableScope() query.Node {
	if a.boards.All {
		return query.Node{}
	}
	return a.stream.Query.Node
}

// canScope reports whether the rows of the shown table can be limited to a node.
func (a *app) canScope() bool {
	t := a.table()
	return t != nil && board.Scoped(t) && a.stream.Query.Node.Level() > 0
}

// scopeWord returns the hint of the key that switches between all rows and those of a node.
func (a *app) scopeWord() string {
	if a.boards.All {
		return "only " + stream.PlaceWords(a.stream.Query.Node, a.Glyphs).Clip(scopeMax).Plain()
	}
	return "all"
}

// scopeMax bounds the name of a node in a hint, in cells.
const scopeMax = 30

// tableTitle returns the tabs, and the node to which the rows are limited.
func (a *app) tableTitle(room int) string {
	title := a.board().Title(room)
	if !a.canScope() {
		return title
	}
	words := ", " + a.KeyOf("subscriptions.all") + " " + a.scopeWord()
	if !a.boards.All {
		words = " " + a.Glyphs.Dot + " only " + stream.PlaceWords(a.stream.Query.Node, a.Glyphs).Plain() + words
	}
	if left := room - ansi.StringWidth(title); left < ansi.StringWidth(words) {
		title = a.board().Short()
	}
	return title + words
}

// openRow opens the chosen row of a table, or its detail.
func (a *app) openRow() tea.Cmd {
	t := a.table()
	cmd, leads := t.Open()
	switch {
	case leads:
	case t.Chosen():
		a.panes.Enter(layout.Detail)
	default:
		a.Tell("the table has no row to open")
	}
	return cmd
}

// Jump shows a record in the stream. It removes a scope and filter that hide the record.
func (a *app) Jump(seq uint64) tea.Cmd {
	return a.stream.WithRecord(seq, func(r event.Record, err error) tea.Cmd {
		if err != nil {
			a.Tell("that record is not in the log any more")
			return nil
		}
		if !a.stream.Query.Matches(&r) {
			a.tree.At = query.Node{}
			a.stream.Show(query.Query{})
		}
		a.gotoSeq(seq)
		return nil
	})
}

// JumpToSub chooses a subscription in the tree, and limits the stream to it. It returns false if the
// subscription has ended.
func (a *app) JumpToSub(id event.SubID) bool {
	v := query.FindSub(&a.snap, id)
	if v == nil {
		a.Tell("that subscription has ended")
		return false
	}
	n := query.Node{Server: v.Key.Server, Type: v.Key.Type, Sub: id}
	a.tree.Closed[query.Node{Server: n.Server}] = false
	a.tree.Closed[n.Parent()] = false
	a.tree.Load(&a.snap)
	a.tree.At = n
	a.rescope()
	a.panes.Enter(layout.Stream)
	return true
}

// ShowEvents limits the stream to a node and moves the focus there.
func (a *app) ShowEvents(n query.Node) {
	a.tree.At = n
	a.rescope()
	a.panes.Enter(layout.Stream)
}
