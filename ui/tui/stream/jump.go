package stream

import (
	"eventdeck/ui/tui/query"
)

// Show changes the query of the stream. The old rows are shown until the new ones are read. The
// chosen record stays chosen, or the nearest one that the query selects.
func (s *Stream) Show(q query.Query) {
	s.Paused, s.Waiting = false, 0
	switch {
	case s.Follow || s.Anchor() == 0:
		s.load(q, query.Newest, 0)
		return
	case s.anchor == 0:
		s.anchorAt(s.At, s.Index(s.At)-s.Index(s.Top))
	}
	s.load(q, query.Around, s.anchor)
}

// ShowNewest changes the query of the stream and follows its newest row.
func (s *Stream) ShowNewest(q query.Query) {
	s.Follow, s.anchor = true, 0
	s.Show(q)
}

// Place is a position of a stream.
type Place struct {
	follow bool
	at     uint64
	row    int // of the pane
}

// Place returns the position of the stream, for [Stream.ShowAt].
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

// DropAnchor makes the stream stay at its chosen row: it no longer goes back to the record that a
// filter hides.
func (s *Stream) DropAnchor() {
	if s.Loaded && len(s.Seqs) > 0 {
		s.anchor = 0
	}
}

// Seek chooses a record. If it is not in the window, the log around it is read.
func (s *Stream) Seek(seq uint64) {
	s.Follow = false
	if row, ok := s.rowOf(seq); s.Loaded && ok {
		s.At, s.anchor = row, 0
		s.Reveal()
		return
	}
	s.anchorAt(seq, max(s.Height, 1)/2)
	s.Paused, s.Waiting = false, 0
	s.load(s.Query, query.Around, seq)
}

// ToOldest chooses the oldest row of the whole log.
func (s *Stream) ToOldest() {
	s.Follow = false
	if s.Oldest && s.Loaded {
		s.By(-len(s.Seqs))
		return
	}
	s.anchorAt(1, 0)
	s.Paused, s.Waiting = false, 0
	s.load(s.Query, query.Oldest, 1)
}

// ToNewest chooses the newest row and follows it.
func (s *Stream) ToNewest() {
	s.Follow, s.anchor = true, 0
	if s.Paused {
		s.Pause()
	}
	if s.Cut || !s.Loaded {
		s.load(s.Query, query.Newest, 0)
		return
	}
	s.Settle()
}

// anchorAt sets the record that the stream returns to, in a row of the pane, until the operator
// moves. While the query hides that record, the nearest one is chosen.
func (s *Stream) anchorAt(seq uint64, row int) { s.anchor, s.anchorRow = seq, row }

// Anchor returns the record that the stream would choose if no filter hid it.
func (s *Stream) Anchor() uint64 {
	if s.anchor != 0 {
		return s.anchor
	}
	return s.At
}

// land chooses the row nearest to the anchor: that record, or the one before it.
func (s *Stream) land() {
	i := max(0, min(s.Index(s.anchor+1), len(s.Seqs))-1)
	s.At = s.Seqs[i]
	s.Top = s.Seqs[max(0, min(i-s.anchorRow, len(s.Seqs)-max(s.Height, 1)))]
	s.Reveal()
}

// StartAt sets the query and the record, 0 for the newest, at which [Stream.Begin] begins.
func (s *Stream) StartAt(q query.Query, reading uint64) {
	s.Query, s.Follow, s.At = q, reading == 0, reading
}

// Begin reads a stream for its query, at its chosen record.
func (s *Stream) Begin() {
	if reading := s.At; s.Follow || reading == 0 || reading > s.env.Snap.Last {
		s.Follow = true
		s.Show(s.Query)
		return
	}
	s.Seek(s.At)
}
