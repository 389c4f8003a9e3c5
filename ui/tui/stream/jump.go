package stream

import (
	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/query"
)

// Show changes what the stream shows. The rows of before stay until those of the query
// are read. What is chosen stays chosen, or the row that is nearest to it.
func (s *Stream) Show(q query.Query) {
	s.Paused, s.Waiting = false, 0
	switch {
	case s.Follow || s.Anchor() == 0:
		s.load(q, feed.Newest, 0)
		return
	case s.anchor == 0:
		s.anchorAt(s.At, s.Index(s.At)-s.Index(s.Top))
	}
	s.load(q, feed.Around, s.anchor)
}

// ShowNewest changes what the stream shows, and follows it from its newest row.
func (s *Stream) ShowNewest(q query.Query) {
	s.Follow, s.anchor = true, 0
	s.Show(q)
}

// Place is where a stream stands.
type Place struct {
	follow bool
	at     uint64
	row    int // of the pane
}

// Place returns where the stream stands, for [Stream.ShowAt].
func (s *Stream) Place() Place {
	if s.anchor != 0 {
		return Place{s.Follow, s.anchor, s.anchorRow}
	}
	return Place{s.Follow, s.At, s.Index(s.At) - s.Index(s.Top)}
}

// ShowAt shows a query at a place.
func (s *Stream) ShowAt(q query.Query, p Place) {
	s.Follow = p.follow
	s.anchor, s.anchorRow = 0, 0
	if !p.follow {
		s.anchorAt(p.at, p.row)
	}
	s.Show(q)
}

// DropAnchor has the stream stand where it stands, also if it would stand elsewhere were a
// filter not there.
func (s *Stream) DropAnchor() {
	if s.Loaded && len(s.Seqs) > 0 {
		s.anchor = 0
	}
}

// Seek chooses a record, and has the log read round it if it is not held.
func (s *Stream) Seek(seq uint64) {
	s.Follow = false
	if row, ok := s.rowOf(seq); s.Loaded && ok {
		s.At, s.anchor = row, 0
		s.Reveal()
		return
	}
	s.anchorAt(seq, max(s.Height, 1)/2)
	s.Paused, s.Waiting = false, 0
	s.load(s.Query, feed.Around, seq)
}

// ToOldest goes to the oldest row of all that is stored.
func (s *Stream) ToOldest() {
	s.Follow = false
	if s.Oldest && s.Loaded {
		s.By(-len(s.Seqs))
		return
	}
	s.anchorAt(1, 0)
	s.Paused, s.Waiting = false, 0
	s.load(s.Query, feed.Oldest, 1)
}

// ToNewest follows the stream from its newest row.
func (s *Stream) ToNewest() {
	s.Follow, s.anchor = true, 0
	if s.Paused {
		s.Pause()
	}
	if s.Cut || !s.Loaded {
		s.load(s.Query, feed.Newest, 0)
		return
	}
	s.Settle()
}

// anchorAt has the record chosen that is nearest to one, in that row of the pane, until
// the operator moves. What is shown meanwhile may hide it.
func (s *Stream) anchorAt(seq uint64, row int) { s.anchor, s.anchorRow = seq, row }

// Anchor is the record at which the stream would stand if the query showed it.
func (s *Stream) Anchor() uint64 {
	if s.anchor != 0 {
		return s.anchor
	}
	return s.At
}

// land chooses the row that is nearest to the anchor: that record, or the one before it.
func (s *Stream) land() {
	i := max(0, min(s.Index(s.anchor+1), len(s.Seqs))-1)
	s.At = s.Seqs[i]
	s.Top = s.Seqs[max(0, min(i-s.anchorRow, len(s.Seqs)-max(s.Height, 1)))]
	s.Reveal()
}
