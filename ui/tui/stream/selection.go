package stream

// Selection is a range of records of the stream. Its ends are sequence numbers, which arrivals and
// filters do not change.
type Selection struct {
	On   bool
	From uint64 // the record where it began
	All  bool   // everything that the stream shows, up to From
}

// Ends returns the first and the last record of the range.
func (s *Stream) Ends() (first, last uint64) {
	switch {
	case !s.Selected.On:
		return s.At, s.At
	case s.Selected.All:
		return 1, s.Selected.From
	}
	return min(s.Selected.From, s.At), s.LastOf(max(s.Selected.From, s.At))
}

// in reports whether a record is in the range.
func (s *Stream) in(seq uint64) bool {
	if !s.Selected.On {
		return false
	}
	first, last := s.Ends()
	return first <= seq && seq <= last
}
