package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/columns"
	"eventdeck/ui/tui/edges"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stats"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/tree"
	"eventdeck/ui/tui/userfile"
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

// boardWork has the shown table's source do what takes long beside the program.
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

// openRow leads from a row of a table to what it is about.
func (a *app) openRow() tea.Cmd {
	t := a.table()
	cmd, leads := t.Open()
	if !leads && t.Chosen() {
		a.enter(layout.Detail)
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

// forBoards is what tables are made from.
func (a *app) forBoards() *board.Env {
	return &board.Env{
		Env: &a.Env, Screen: a, Host: a.o.API, Snap: &a.snap, Stats: &a.rates.Stats,
		Scope:      func() query.Node { return a.stream.Query.Node },
		Focused:    func() bool { return a.panes.Focus == layout.Subs || a.panes.Focus == layout.Log },
		Widest:     func() (int, int) { return a.stream.Widest.Server, a.stream.Widest.Typ },
		Sub:        a.sub,
		Cursorless: a.cursorless,
	}
}

// forTree is what the tree is made from.
func (a *app) forTree() *tree.Env {
	return &tree.Env{
		Env: &a.Env, Snap: &a.snap,
		Focused: func() bool { return a.panes.Focus == layout.Tree },
		KeyOf:   a.KeyOf, Course: a.rates.Course, Lessons: a.noServers,
	}
}

// forStream is what the stream is made from.
func (a *app) forStream() *stream.Env {
	return &stream.Env{
		Env: &a.Env, Snap: &a.snap,
		Focused: func() bool { return a.panes.Focus == layout.Stream },
		Found:   func() string { return a.search.Text },
		Terse:   func() (bool, bool) { return a.panes.Now.ShortTime, a.panes.Now.OnlySummary },
		TypeOf:  a.typeOf, Teach: a.teach,
	}
}

// forStats is what the numbers of the run are made from.
func (a *app) forStats(memory func() uint64) *stats.Env {
	return &stats.Env{Env: &a.Env, Screen: a, Snap: &a.snap, Measure: a.o.API.Stats, Memory: memory}
}

// ShowEvents shows what arrives of a part of the tree.
func (a *app) ShowEvents(n query.Node) {
	a.tree.At = n
	a.rescope()
	a.enter(layout.Stream)
}

// forColumns is what the list of columns is made from.
func (a *app) forColumns() *columns.Env {
	return &columns.Env{Env: &a.Env, Screen: a, Log: a.o.API.Log(), Stream: &a.stream, TypeOf: a.typeOf, Keep: a.memo.KeepJSON}
}

// forSettings is what takes the operator's settings.
func (a *app) forSettings() userfile.Env {
	return userfile.Env{
		Screen: a, Path: a.o.Settings,
		Keys: func(chosen []config.KeyBinding) []string {
			a.actions.Actions = a.actionRows()
			a.restyle() // texts name keys
			return action.Bind(a.actions.Actions, chosen)
		},
		Severity: a.stream.SetSeverity,
		Split:    func(s layout.Split) { a.panes.Usual = s },
	}
}

// initEdges makes the lines above and below the panes.
func (a *app) initEdges() {
	a.edges.Head = edges.NewHead(edges.HeadEnv{
		Env: &a.Env, Demo: a.o.Demo, Snap: &a.snap, Stream: &a.stream, Rates: &a.rates, KeyOf: a.KeyOf,
		Searched:  func() string { return a.search.Text },
		Filter:    a.filters.Name,
		Comparing: func() uint64 { return a.trace.Comparing },
	})
	a.edges.Status = edges.NewStatus(edges.StatusEnv{
		Env: &a.Env, Snap: &a.snap, Rates: &a.rates, Total: &a.tree.Total, Writing: a.outside.Exports.Running, KeyOf: a.KeyOf,
		Chips: a.react.DrawChips, Changes: func() uint64 { return a.react.View().Revision },
	})
}
