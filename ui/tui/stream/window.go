package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"eventdeck/ui/tui/feed"
	"eventdeck/ui/tui/query"
)

// WindowMax bounds the rows that are held.
const WindowMax = 10_000

// Window is the part of the log that a stream holds: the sequence numbers of
// the records that match its query, ascending. It says what is to be read and takes
// the answers; it grows at both ends on demand and holds at most WindowMax numbers.
type Window struct {
	Query query.Query
	id    int // tells the streams of a screen apart
	Gen   int // answers to requests of another generation are stale

	Seqs     []uint64
	folds    map[uint64]feed.Fold // of the rows that are changes of state or gaps
	joined   int                  // grows with every row that went on
	From     uint64               // everything from here …
	Seen     uint64               // … to here was examined
	Oldest   bool                 // there is nothing before from
	Cut      bool                 // there are rows after the last one that are not held
	Back     time.Time
	tally    tally
	loading  feed.Request // whose answer takes the place of the rows, until Turned
	Loaded   bool         // the rows are those of the query
	Fetching bool
	Stop     context.CancelFunc // ends the search that runs; nil if there is none
}

// ID tells the streams of a screen apart.
func (w *Window) ID() int { return w.id }

// load has other rows read, which take the place of those that are held. Answers to
// earlier requests become stale, and the search for them ends.
func (w *Window) load(q query.Query, kind feed.Kind, at uint64) {
	w.Query = q
	w.Gen++
	w.loading, w.Loaded = feed.Request{Kind: kind, At: at}, false
	w.cancel()
}

// cancel ends the request that runs.
func (w *Window) cancel() {
	w.Fetching = false
	if w.Stop != nil {
		w.Stop()
		w.Stop = nil
	}
}

// take joins the answer to a request to the window. It reports whether it could: an
// answer may come too late.
func (w *Window) take(p *feed.Page) bool {
	if p.Gen != w.Gen {
		return false
	}
	switch p.Kind {
	case feed.Newest, feed.Around, feed.Oldest:
		w.cancel()
		w.Loaded = true
		w.Seqs, w.From, w.Seen, w.Oldest, w.Back = p.Seqs, p.From, p.To, p.Oldest, p.Back
		w.folds = nil
		w.takeFolds(p.Folds)
		w.Cut = !p.Newest
		w.countFromLoaded(p.Last)
	case feed.Older:
		w.cancel()
		w.Seqs = append(p.Seqs[:len(p.Seqs):len(p.Seqs)], w.Seqs...)
		w.takeFolds(p.Folds)
		w.From, w.Back = p.From, p.Back
		w.Oldest = p.Oldest && p.Err == nil
		w.cutEnd()
	case feed.Newer:
		w.cancel()
		w.join(p.Seqs, p.Folds)
		w.Seen = p.To
		w.countRead(p.Seqs)
		if p.Newest {
			w.Cut = false
		}
		w.trimFront()
	case feed.Arrived:
		if w.Cut || p.At > w.Seen || p.At < w.Seen && len(p.Folds) > 0 { // folded with what is here already
			return false
		}
		i, _ := slices.BinarySearch(p.Seqs, w.Seen+1)
		w.join(p.Seqs[i:], p.Folds)
		w.Seen = max(w.Seen, p.To)
		w.resetTally()
	case feed.Counted:
		if p.At != w.tally.to {
			return false
		}
		w.tally.rows += p.Count
		w.tally.to = p.To
	}
	return true
}

// join appends rows. Changes of state before the first event among them continue with equal ones
// behind the last event that is here.
func (w *Window) join(seqs []uint64, folds map[uint64]feed.Fold) {
	run := feed.Run{}
	for _, row := range w.Seqs[w.runFrom():] {
		run.Put(row, w.folds[row])
	}
	for i, seq := range seqs {
		f, is := folds[seq]
		if !is {
			w.Seqs = append(w.Seqs, seqs[i:]...)
			break
		}
		if row, ok := run.Put(seq, f); ok {
			folds[row] = w.folds[row].Join(f)
			delete(folds, seq)
			w.joined++
			continue
		}
		w.Seqs = append(w.Seqs, seq)
	}
	w.takeFolds(folds)
}

// runFrom is where the last rows begin that are changes of state and gaps.
func (w *Window) runFrom() int {
	i := len(w.Seqs)
	for i > 0 {
		if _, is := w.folds[w.Seqs[i-1]]; !is {
			break
		}
		i--
	}
	return i
}

// Hidden are the changes of state that have no row of their own.
func (w *Window) Hidden() map[uint64]bool {
	out := map[uint64]bool{}
	for _, f := range w.folds {
		for _, seq := range f.Hidden() {
			out[seq] = true
		}
	}
	return out
}

func (w *Window) takeFolds(folds map[uint64]feed.Fold) {
	if w.folds == nil || len(folds) == 0 {
		if len(folds) > 0 {
			w.folds = maps.Clone(folds)
		}
		return
	}
	maps.Copy(w.folds, folds)
}

// LastOf is the newest record of the row of a record before the next row: of changes of state
// that are one row the last one there, else itself.
func (w *Window) LastOf(seq uint64) uint64 {
	last := w.folds[seq].Last
	if i := w.Index(seq) + 1; i < len(w.Seqs) {
		last = min(last, w.Seqs[i]-1)
	}
	return max(seq, last)
}

// Rows is how many changes of state the row of a record is of, 0 where it is of none, and the
// newest of them.
func (w *Window) Rows(seq uint64) (n int, last uint64) {
	f := w.folds[seq]
	return f.Rows, f.Last
}

// rowOf is the row that shows a record. ok is false if none that is held does.
func (w *Window) rowOf(seq uint64) (row uint64, ok bool) {
	i := w.Index(seq)
	if i < len(w.Seqs) && w.Seqs[i] == seq {
		return seq, true
	}
	for ; i > 0; i-- {
		f, is := w.folds[w.Seqs[i-1]]
		if !is || f.Holds(seq) {
			return w.Seqs[i-1], is
		}
	}
	return 0, false
}

// Shows reports whether the chosen row shows a record.
func (s *Stream) Shows(seq uint64) bool {
	row, ok := s.rowOf(seq)
	return ok && row == s.At
}

// trimFront lets go of the oldest rows beyond WindowMax.
func (w *Window) trimFront() {
	over := len(w.Seqs) - WindowMax
	if over <= 0 {
		return
	}
	for _, seq := range w.Seqs[:over] {
		delete(w.folds, seq)
	}
	w.Seqs = w.Seqs[over:]
	w.From, w.Oldest = w.Seqs[0], false
}

// Index returns the place of seq, or of the first row after it.
func (w *Window) Index(seq uint64) int {
	return sort.Search(len(w.Seqs), func(i int) bool { return w.Seqs[i] >= seq })
}

// Searching reports whether the history is being searched for rows of a filter, and how
// far back that has come: the zero time if that is not known.
func (w *Window) Searching() (back time.Time, on bool) {
	more := !w.Oldest && (w.Fetching || !w.Cut && len(w.Seqs) < feed.PageRows)
	return w.Back, w.Query.Filters() && (!w.Loaded || more)
}

// Searched tells how far a search through the history is, "" when there is none.
func (w *Window) Searched() string {
	if _, on := w.Searching(); !on || w.Seen == 0 {
		return ""
	}
	return fmt.Sprintf("searched %d %%", (w.Seen-min(w.From, w.Seen))*100/w.Seen)
}
