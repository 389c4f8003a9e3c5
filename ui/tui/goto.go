package tui

// goTo chooses a record of the log in the stream. It reports whether the stream
// shows it: its scope and filter may not.
func (s *stream) goTo(a *app, seq uint64) bool {
	r, err := a.api.Log().Get(seq)
	if err != nil || !s.query.matches(&r) {
		return false
	}
	if i := s.index(seq); i >= len(s.seqs) || s.seqs[i] != seq {
		s.gen++
		s.cut, s.fetching, s.oldest = false, false, false
		p := readOlder(a.api.Log(), s.query, s.gen, seq+1, firstScan, firstRows)
		s.seqs, s.from, s.seen = p.seqs, p.edge, seq
		s.oldest = p.end && p.err == nil
		s.cut = a.api.Log().Last() > seq
	}
	s.follow = false
	s.at = seq
	s.reveal()
	return true
}
