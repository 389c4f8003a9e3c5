package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
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
			a.edges.Status.Trouble.See()
		}
		return tea.Batch(react, t.Work())
	}
	return react
}

// turnTab shows the next tab of what has tabs.
func (a *app) turnTab(step int) {
	if b := a.board(); b != nil && a.panes.Focus != layout.Detail {
		b.Turn(step)
		a.table().Load()
		return
	}
	a.detail.Turn(step)
}

// tableScope is the place whose rows tables show.
func (a *app) tableScope() query.Node {
	if a.boards.All {
		return query.Node{}
	}
	return a.stream.Query.Node
}

// scopes reports whether the shown table could show a part of its rows, or all of them.
func (a *app) scopes() bool {
	t := a.table()
	return t != nil && board.Scoped(t) && a.stream.Query.Node.Level() > 0
}

// scopeWord is what the key that turns between all rows and those of a place does now.
func (a *app) scopeWord() string {
	if a.boards.All {
		return "only " + stream.PlaceWords(a.stream.Query.Node, a.Glyphs).Clip(scopeMax).Plain()
	}
	return "all"
}

// scopeMax is the width of the name of a place in a hint, in cells.
const scopeMax = 30

// tableTitle names the tabs, and the place to which the rows belong.
func (a *app) tableTitle(room int) string {
	title := a.board().Title(room)
	if !a.scopes() {
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

// openRow leads from a row of a table to what it is about.
func (a *app) openRow() tea.Cmd {
	t := a.table()
	cmd, leads := t.Open()
	switch {
	case leads:
	case t.Chosen():
		a.enter(layout.Detail)
	default:
		a.Tell("the table has no row to open")
	}
	return cmd
}

// Jump shows a record in the stream. A scope or filter that hides it is taken
// away.
func (a *app) Jump(seq uint64) tea.Cmd {
	return a.withRecord(seq, func(r event.Record, err error) tea.Cmd {
		if err != nil {
			a.Tell("that record is not in the log any more")
			return nil
		}
		if !a.stream.Query.Matches(&r) {
			a.tree.At = query.Node{}
			a.requery(query.Query{})
		}
		a.gotoSeq(seq)
		return nil
	})
}

// withRecord hands a record to a function, at once if it is held, else when it is read.
func (a *app) withRecord(seq uint64, then func(event.Record, error) tea.Cmd) tea.Cmd {
	if r, ok := a.stream.Record(seq); ok {
		return then(r, nil)
	}
	log := a.o.API.Log()
	return a.Do(func(context.Context) tea.Msg {
		r, err := log.Get(seq)
		return widget.Then(func() tea.Cmd { return then(r, err) })
	})
}

// JumpToSub chooses a subscription in the tree, and with it its part of the
// stream.
func (a *app) JumpToSub(id event.SubID) bool {
	v := a.sub(id)
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
	a.enter(layout.Stream)
	return true
}

// rowSub returns the subscription that a row of a table is about.
func (a *app) rowSub() *host.SubscriptionView {
	if t := a.table(); t != nil {
		return a.sub(t.At.Sub)
	}
	return nil
}

// ShowEvents shows what arrives of a part of the tree.
func (a *app) ShowEvents(n query.Node) {
	a.tree.At = n
	a.rescope()
	a.enter(layout.Stream)
}
