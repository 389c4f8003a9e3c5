package tui

import (
	"eventdeck/host/event"
	"eventdeck/ui/tui/layout"
)

// selection is a range of records of the stream. Its ends are sequence numbers:
// arrivals and filters do not move them.
type selection struct {
	on   bool
	from uint64 // where it began
	all  bool   // everything that the stream shows, up to from
}

// ends returns the first and the last record of the range.
func (s *stream) ends() (first, last uint64) {
	switch {
	case !s.selected.on:
		return s.at, s.at
	case s.selected.all:
		return 1, s.selected.from
	}
	return min(s.selected.from, s.at), max(s.selected.from, s.at)
}

// in tells whether a record is in the range.
func (s *stream) in(seq uint64) bool {
	if !s.selected.on {
		return false
	}
	first, last := s.ends()
	return first <= seq && seq <= last
}

// selectRange begins a range at the chosen record, or ends it.
func (a *app) selectRange() {
	s := &a.stream
	if s.selected.on {
		s.selected = selection{}
		return
	}
	s.selected = selection{on: true, from: s.at}
	s.follow = false
	a.enter(layout.Stream)
	a.Tell("range: move to its other end; " + a.KeyOf("copy") + " copies, " + a.KeyOf("export") + " writes, esc ends it")
}

// selectAll takes everything that the stream shows into the range.
func (a *app) selectAll() {
	a.stream.selected = selection{on: true, from: a.api.Log().Last(), all: true}
	a.enter(layout.Stream)
	a.Tell("everything shown is selected; " + a.KeyOf("export") + " writes it, esc ends it")
}

// selectedRecords calls fn for the records of the range that the stream shows,
// oldest first, or for the chosen one, until fn returns false.
func (a *app) selectedRecords(fn func(event.Record) bool) error {
	first, last := a.stream.ends()
	q := a.stream.query
	return a.api.Log().After(first-1, func(r event.Record) bool {
		if r.Seq > last {
			return false
		}
		return !q.Matches(&r) || fn(r)
	})
}

// panStep is how far the stream pans, in cells.
const panStep = 8

// panBy moves the texts of the stream sideways.
func (a *app) panBy(n int) { a.stream.pan = max(0, min(a.stream.pan+n, 4096)) }
