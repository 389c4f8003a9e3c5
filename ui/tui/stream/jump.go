package stream

import (
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/query"
)

// Seek chooses a record and reads the log round it, if it is not held.
func (s *Stream) Seek(log *eventlog.Log, seq uint64) error {
	s.Follow = false
	if i := s.Index(seq); i < len(s.Seqs) && s.Seqs[i] == seq {
		s.At = seq
		s.Reveal()
		return nil
	}
	frozen := s.Paused
	err := s.resetAt(log, s.Query, min(seq, log.Last()))
	if frozen {
		s.Paused, s.Waiting = false, 0
	}
	s.At = seq
	if n := len(s.Seqs); n > 0 {
		s.At = s.Seqs[max(0, min(s.Index(seq+1), n)-1)]
		s.Top = s.Seqs[max(0, s.Index(s.At)-max(s.Height, 1)/2)]
	}
	s.Settle()
	return err
}

// resetAt begins anew at a record: it and what is before it, and so much of what
// is after it that the record stands in its surroundings.
func (w *Window) resetAt(log *eventlog.Log, q query.Query, seq uint64) error {
	w.begin(q)
	w.Oldest = false
	w.Seen, w.From = seq, seq+1
	w.Seqs = nil
	w.level()
	older := readOlder(log, q, w.Gen, w.From, FirstScan, FirstRows)
	w.Take(older)
	newer := ReadNewer(log, q, w.Gen, seq, FirstScan, FirstRows)
	w.Cut = !newer.end
	w.Take(newer)
	w.jumped(log)
	if older.Err != nil {
		return older.Err
	}
	return newer.Err
}
