package tui

import (
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/table"
)

// state returns the state of the screen to save.
func (a *app) state() persist.State {
	s := persist.State{Lines: a.persist.Lines}
	s.Place = placeOf(&a.stream.Stream)
	s.Node = persist.NodeOf(a.tree.At)
	if before, typing := a.filters.Typing(); typing {
		s.Filter, s.Off = before.Text, before.Off // what is being typed is not saved yet
	}
	if a.stream.Two {
		s.Second = &persist.Second{Place: placeOf(&a.stream.Other), Way: a.panes.Streams, First: a.panes.Last}
	}
	s.Focus, s.Size, s.Clock = a.panes.Focus, a.panes.Size, a.Times
	s.Panes, s.Tab, s.Tables = a.panes.Arrangement, a.detail.Tab, table.States(&a.boards.Subs, &a.boards.Log, &a.react.Board)
	s.Close(a.tree.Closed)
	return s
}

// placeOf returns the query of a stream and its chosen record, to save.
func placeOf(s *stream.Stream) persist.Place {
	p := persist.Place{Node: persist.NodeOf(s.Query.Node), Filter: s.Query.Text, Off: s.Query.Off}
	if !s.Follow {
		p.Reading = s.At
	}
	return p
}

// restore restores the state of the last run.
func (a *app) restore() {
	m, ok := a.persist.Restore()
	if !ok {
		return
	}
	for _, n := range m.Closed {
		a.tree.Closed[n.Node()] = true
	}
	a.tree.At = m.Node.Node()
	a.tree.Load(&a.snap)
	a.chooseWanted()
	if m.Focus != layout.None {
		a.panes.Enter(m.Focus)
	}
	a.panes.Size, a.panes.Arrangement, a.detail.Tab, a.Times = m.Size, m.Panes, m.Tab, m.Clock
	table.Restore(m.Tables, &a.boards.Subs, &a.boards.Log, &a.react.Board)
	if m.Second != nil {
		a.stream.Open()
		a.panes.Streams, a.panes.Last = m.Second.Way, m.Second.First
		a.stream.Other.StartAt(m.Second.Query(a.Clock()), m.Second.Reading)
	}
	a.stream.StartAt(m.Place.Query(a.Clock()), m.Reading)
	a.stream.Query.Node = a.tree.At
}

// startStreams reads the first rows of the streams, before the program runs.
func (a *app) startStreams() {
	for _, s := range a.stream.Shown() {
		s.Begin()
		r, _ := s.Next()
		a.fetched(query.Answer(a.Context(), a.o.API.Log(), r))
	}
}

// chooseWanted chooses the node that the last run or a view wants if the tree has it, and reports
// whether it did.
func (a *app) chooseWanted() bool {
	if a.persist.Wanted == (query.Node{}) {
		return false
	}
	at, ok := a.tree.ShownAs(a.persist.Wanted)
	if ok {
		a.tree.At, a.persist.Wanted = at, query.Node{}
	}
	return ok
}
