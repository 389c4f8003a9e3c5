package stream

import "eventdeck/ui/tui/cells"

// tally counts the records behind a window that match its query, as far as the
// window was told of them: nothing is read to count what was there before.
type tally struct {
	rows int    // matching records behind window.seen …
	to   uint64 // … up to here …
	hole uint64 // … without those up to here, which are not counted
}

// resetTally says that nothing is known behind what was examined.
func (w *Window) resetTally() { w.tally = tally{to: w.Seen} }

// cutEnd lets go of the newest rows beyond windowMax; they are counted as waiting.
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
	for _, row := range w.Seqs[w.runFrom():] { // what is behind the end is read again
		w.folds[row] = w.folds[row].Before(end)
	}
	w.Seen, w.Cut = end-1, true
}

// countFromLoaded begins to count behind a window that was read again; last is the newest record.
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

// countRead takes rows that were read on out of what waits.
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

// Below counts the rows after those that are shown, without those that a frozen view
// keeps back. There may be more of them if atLeast is true.
func (s *Stream) Below() (n int, atLeast bool) {
	held := max(0, len(s.Seqs)-s.Index(s.Top)-s.Height)
	return held + max(0, s.tally.rows-s.Waiting), s.tally.hole > s.Seen
}

// BelowWords tells how many rows come after those that are shown, "" if none do.
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
