package tui

import (
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/memo"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/table"
)

// present returns the memo of what is shown now.
func (a *app) present() memo.State {
	m := memo.State{Lines: a.memo.Lines}
	m.Node, m.Filter, m.Off = memo.NodeOf(a.tree.At), a.stream.Query.Text, a.stream.Query.Off
	if before, typing := a.filters.Typing(); typing {
		m.Filter, m.Off = before.Text, before.Off // what is typed is not yet kept
	}
	m.Focus, m.Size, m.Clock, m.Reading = a.panes.Focus, a.panes.Size, a.Times, 0
	m.Panes, m.Tab, m.Tables = a.panes.Arrangement, a.detail.Tab, table.Memos(&a.boards.Subs, &a.boards.Log, &a.react.Board)
	if !a.stream.Follow {
		m.Reading = a.stream.At
	}
	m.Close(a.tree.Closed)
	return m
}

// recall shows what was shown when the screen was left.
func (a *app) recall() {
	m, ok := a.memo.Recall()
	if !ok {
		return
	}
	for _, n := range m.Closed {
		a.tree.Closed[n.Node()] = true
	}
	a.tree.At = m.Node.Node()
	a.tree.Load(&a.snap)
	a.want()
	if m.Focus != layout.None {
		a.enter(m.Focus)
	}
	a.panes.Size, a.panes.Arrangement, a.detail.Tab, a.Times = m.Size, m.Panes, m.Tab, m.Clock
	table.Recall(m.Tables, &a.boards.Subs, &a.boards.Log, &a.react.Board)
	q, err := query.New(a.tree.At, m.Filter, a.Clock())
	if err != nil {
		q = query.Query{Node: a.tree.At}
	}
	q.Off = m.Off
	a.stream.Query = q
	a.stream.Follow = m.Reading == 0
	a.stream.At = m.Reading
}

// startStream shows what was shown when the screen was left.
func (a *app) startStream() {
	s := &a.stream
	if reading := s.At; s.Follow || reading == 0 || reading > a.snap.Last {
		s.Follow = true
		s.Show(s.Query)
	} else {
		s.Seek(reading)
	}
	r, _ := s.Next()
	a.fetched(feed.Answer(a.wake.Context(), a.o.API.Log(), r)) // before the program runs
}

// want goes to the scope of the last run as soon as there is such a node.
func (a *app) want() {
	if a.memo.Wanted == (query.Node{}) {
		return
	}
	if at, ok := a.tree.Stands(a.memo.Wanted); ok {
		a.tree.At, a.memo.Wanted = at, query.Node{}
	}
}
