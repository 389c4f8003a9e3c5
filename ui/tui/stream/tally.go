package stream

import "eventdeck/ui/tui/cells"

// tally counts the matching records after a window, as far as they were reported: records that were
// there before are not read only to be counted.
type tally struct {
	rows int    // the matching records after Window.Seen …
	to   uint64 // … up to here …
	hole uint64 // … without those up to here, which were not counted
}

// resetTally begins to count after Seen.
func (w *Window) resetTally() { w.tally = tally{to: w.Seen} }

// cutEnd drops the newest rows beyond [WindowMax] and adds them to the tally.
func (w *Window) cutEnd() {
	over := len(w.Seqs) - WindowMax
	if over <= 0 {
		return
	}
	if w.tally.hole <= w.Seen {
		w.tally.rows += over
	}
	end := w.Seqs[WindowMax]
	for _, seq := range w.Seqs[WindowMax:] {
		delete(w.folds, seq)
	}
	w.Seqs = w.Seqs[:WindowMax:WindowMax]
	for _, row := range w.Seqs[w.runFrom():] { // records after the end will be read again
		w.folds[row] = w.folds[row].Before(end)
	}
	w.Seen, w.Cut = end-1, true
}

// countFromLoaded begins to count after a window that was loaded anew; last is the newest record.
func (w *Window) countFromLoaded(last uint64) {
	w.resetTally()
	switch {
	case !w.Cut:
	case w.Query.Everything():
		w.tally.rows, w.tally.to = int(last-min(w.Seen, last)), max(last, w.Seen)
	default:
		w.tally.to, w.tally.hole = last, last
	}
}

// countRead subtracts rows that were read from the tally.
func (w *Window) countRead(seqs []uint64) {
	for _, seq := range seqs {
		if seq > w.tally.hole && seq <= w.tally.to {
			w.tally.rows--
		}
	}
	w.tally.rows = max(0, w.tally.rows)
	if w.Seen >= w.tally.to {
		w.resetTally()
	}
}

// Below returns the number of rows after those that are shown, without those that a paused stream
// holds back. If atLeast is true there may be more.
func (s *Stream) Below() (n int, atLeast bool) {
	held := max(0, len(s.Seqs)-s.Index(s.Top)-s.Height)
	return held + max(0, s.tally.rows-s.Waiting), s.tally.hole > s.Seen
}

// BelowWords describes the number of rows after those that are shown, "" for none.
func (s *Stream) BelowWords() string {
	n, atLeast := s.Below()
	switch {
	case n == 0 && atLeast:
		return "more below"
	case n == 0:
		return ""
	case atLeast:
		return cells.Number(uint64(n)) + "+ below"
	}
	return cells.Number(uint64(n)) + " below"
}
