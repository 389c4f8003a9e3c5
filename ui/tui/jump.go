package tui

import (
	"errors"
	"fmt"
	"sort"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
)

// errNothingThere: the log has nothing at the place that was asked for.
var errNothingThere = errors.New("nothing is stored there")

// gotoSeq shows the record, or the nearest one before it that the stream shows.
func (a *app) gotoSeq(seq uint64) {
	if err := a.stream.seek(a.api.Log(), seq); err != nil {
		a.Fail("cannot read the log", err)
		return
	}
	if a.stream.at != seq {
		a.Tell("the record itself is not shown: the filter or the scope hides it")
	}
	a.size = layout.Normal
	a.enter(layout.Stream)
}

// gotoTime shows what was received at a moment or next after it.
func (a *app) gotoTime(t time.Time) error {
	log := a.api.Log()
	last := log.Last()
	var err error
	i := sort.Search(int(last), func(i int) bool {
		r, e := log.Get(uint64(i) + 1)
		if e != nil {
			err = e
			return false
		}
		return !r.ReceivedAt.Before(t)
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot read the log: %w", err)
	case last == 0:
		return errNothingThere
	case uint64(i) == last:
		a.followNewest()
		a.Tell("nothing came after " + cells.TimeText(t, a.Times.Zone(), time.DateTime))
		return nil
	}
	a.gotoSeq(uint64(i) + 1)
	return nil
}

// seek chooses a record and reads the log round it, if it is not held.
func (s *stream) seek(log *eventlog.Log, seq uint64) error {
	s.follow = false
	if i := s.index(seq); i < len(s.seqs) && s.seqs[i] == seq {
		s.at = seq
		s.reveal()
		return nil
	}
	frozen := s.paused
	err := s.resetAt(log, s.query, min(seq, log.Last()))
	if frozen {
		s.paused, s.waiting = false, 0
	}
	s.at = seq
	if n := len(s.seqs); n > 0 {
		s.at = s.seqs[max(0, min(s.index(seq+1), n)-1)]
		s.top = s.seqs[max(0, s.index(s.at)-max(s.height, 1)/2)]
	}
	s.settle()
	return err
}

// resetAt begins anew at a record: it and what is before it, and so much of what
// is after it that the record stands in its surroundings.
func (w *window) resetAt(log *eventlog.Log, q query.Query, seq uint64) error {
	w.begin(q)
	w.oldest = false
	w.seen, w.from = seq, seq+1
	w.seqs = nil
	w.level()
	older := readOlder(log, q, w.gen, w.from, firstScan, firstRows)
	w.take(older)
	newer := readNewer(log, q, w.gen, seq, firstScan, firstRows)
	w.cut = !newer.end
	w.take(newer)
	w.jumped(log)
	if older.err != nil {
		return older.err
	}
	return newer.err
}

// eventAt returns a record of the log, for texts about it.
func (a *app) eventAt(seq uint64) (event.Record, bool) {
	r, err := a.api.Log().Get(seq)
	return r, err == nil
}
