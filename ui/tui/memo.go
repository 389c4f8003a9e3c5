package tui

import (
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/memo"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
)

// present returns the memo of what is shown now.
func (a *app) present() memo.State {
	m := memo.State{Lines: a.memo.Lines}
	m.Place = placeOf(&a.stream.Stream)
	m.Node = memo.NodeOf(a.tree.At)
	if before, typing := a.filters.Typing(); typing {
		m.Filter, m.Off = before.Text, before.Off // what is typed is not yet kept
	}
	if a.stream.Two {
		m.Second = &memo.Second{Place: placeOf(&a.stream.Other), Way: a.panes.Streams, First: a.panes.Last}
	}
	m.Focus, m.Size, m.Clock = a.panes.Focus, a.panes.Size, a.Times
	m.Panes, m.Tab, m.Tables = a.panes.Arrangement, a.detail.Tab, table.Memos(&a.boards.Subs, &a.boards.Log, &a.react.Board)
	m.Close(a.tree.Closed)
	return m
}

// placeOf is what a stream shows, and where it stands, as it is remembered.
func placeOf(s *stream.Stream) memo.Place {
	p := memo.Place{Node: memo.NodeOf(s.Query.Node), Filter: s.Query.Text, Off: s.Query.Off}
	if !s.Follow {
		p.Reading = s.At
	}
	return p
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
	if m.Second != nil {
		a.stream.Open()
		a.panes.Streams, a.panes.Last = m.Second.Way, m.Second.First
		a.setOut(&a.stream.Other, m.Second.Place)
	}
	a.setOut(&a.stream.Stream, m.Place)
	a.stream.Query.Node = a.tree.At
}

// setOut has a stream begin at a place.
func (a *app) setOut(s *stream.Stream, p memo.Place) {
	s.Query = p.Query(a.Clock())
	s.Follow, s.At = p.Reading == 0, p.Reading
}

// startStreams shows what was shown when the screen was left.
func (a *app) startStreams() {
	for _, s := range a.stream.Shown() {
		a.begin(s)
		r, _ := s.Next()
		a.fetched(feed.Answer(a.schedule.Context(), a.o.API.Log(), r)) // before the program runs
	}
}

// begin shows the query of a stream, at the record that it stands at.
func (a *app) begin(s *stream.Stream) {
	if reading := s.At; s.Follow || reading == 0 || reading > a.snap.Last {
		s.Follow = true
		s.Show(s.Query)
		return
	}
	s.Seek(s.At)
}

// want goes to the scope of the last run, or of a view, as soon as there is such a node. It
// reports whether it went there.
func (a *app) want() bool {
	if a.memo.Wanted == (query.Node{}) {
		return false
	}
	at, ok := a.tree.Stands(a.memo.Wanted)
	if ok {
		a.tree.At, a.memo.Wanted = at, query.Node{}
	}
	return ok
}
