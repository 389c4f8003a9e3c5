package stream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"eventdeck/ui/tui/query"
)

// WindowMax bounds the rows of a window.
const WindowMax = 10_000

// Window is the part of the log that a stream holds: the sequence numbers of records that match its
// query, ascending. It makes requests and takes the answers. It grows at both ends on demand to at
// most [WindowMax] rows.
type Window struct {
	Query query.Query
	id    int // identifies the stream on its screen
	Gen   int // answers to requests of another generation are stale

	Seqs     []uint64
	folds    map[uint64]query.Fold // of the rows that are changes of state or gaps
	joined   int                   // grows with every record that joins a row
	From     uint64                // the log was read from here …
	Seen     uint64                // … to here
	Oldest   bool                  // there is no record before From
	Cut      bool                  // there are records after Seen that are not held
	Back     time.Time             // when the record at From was received
	tally    tally
	loading  query.Request // the request whose answer replaces the rows, until Loaded
	Loaded   bool          // the rows are those of the query
	Fetching bool
	Stop     context.CancelFunc // ends the running search; nil if there is none
}

// ID returns a number that identifies the stream on its screen.
func (w *Window) ID() int { return w.id }

// load requests the rows of a query, which will replace the present ones. Earlier requests end, and
// their answers become stale.
func (w *Window) load(q query.Query, kind query.Kind, at uint64) {
	w.Query = q
	w.Gen++
	w.loading, w.Loaded = query.Request{Kind: kind, At: at}, false
	w.cancel()
}

// cancel ends the running request.
func (w *Window) cancel() {
	w.Fetching = false
	if w.Stop != nil {
		w.Stop()
		w.Stop = nil
	}
}

// take adds the rows of an answer to the window. It reports false for a stale answer.
func (w *Window) take(p *query.Page) bool {
	if p.Gen != w.Gen {
		return false
	}
	switch p.Kind {
	case query.Newest, query.Around, query.Oldest:
		w.cancel()
		w.Loaded = true
		w.Seqs, w.From, w.Seen, w.Oldest, w.Back = p.Seqs, p.From, p.To, p.Oldest, p.Back
		w.folds = nil
		w.takeFolds(p.Folds)
		w.Cut = !p.Newest
		w.countFromLoaded(p.Last)
	case query.Older:
		w.cancel()
		w.Seqs = append(p.Seqs[:len(p.Seqs):len(p.Seqs)], w.Seqs...)
		w.takeFolds(p.Folds)
		w.From, w.Back = p.From, p.Back
		w.Oldest = p.Oldest && p.Err == nil
		w.cutEnd()
	case query.Newer:
		w.cancel()
		w.join(p.Seqs, p.Folds)
		w.Seen = p.To
		w.countRead(p.Seqs)
		if p.Newest {
			w.Cut = false
		}
		w.trimFront()
	case query.Arrived:
		if w.Cut || p.At > w.Seen || p.At < w.Seen && len(p.Folds) > 0 { // some of these records are in the window already
			return false
		}
		i, _ := slices.BinarySearch(p.Seqs, w.Seen+1)
		w.join(p.Seqs[i:], p.Folds)
		w.Seen = max(w.Seen, p.To)
		w.resetTally()
	case query.Counted:
		if p.At != w.tally.to {
			return false
		}
		w.tally.rows += p.Count
		w.tally.to = p.To
	}
	return true
}

// join appends rows. Changes of state before the first event among them join equal ones after the
// last event of the window.
func (w *Window) join(seqs []uint64, folds map[uint64]query.Fold) {
	run := query.Run{}
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

// runFrom returns the index of the first row after the last event.
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

// Hidden returns the changes of state that have no row of their own.
func (w *Window) Hidden() map[uint64]bool {
	out := map[uint64]bool{}
	for _, f := range w.folds {
		for _, seq := range f.Hidden() {
			out[seq] = true
		}
	}
	return out
}

func (w *Window) takeFolds(folds map[uint64]query.Fold) {
	if w.folds == nil || len(folds) == 0 {
		if len(folds) > 0 {
			w.folds = maps.Clone(folds)
		}
		return
	}
	maps.Copy(w.folds, folds)
}

// LastOf returns the newest record of a row that is older than the next row: for folded changes of
// state the last such one, otherwise seq.
func (w *Window) LastOf(seq uint64) uint64 {
	last := w.folds[seq].Last
	if i := w.Index(seq) + 1; i < len(w.Seqs) {
		last = min(last, w.Seqs[i]-1)
	}
	return max(seq, last)
}

// Rows returns the number of changes of state in the row of a record, 0 for other rows, and the
// newest of them.
func (w *Window) Rows(seq uint64) (n int, last uint64) {
	f := w.folds[seq]
	return f.Rows, f.Last
}

// rowOf returns the row that shows a record; ok is false if no row of the window does.
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

// trimFront drops the oldest rows beyond [WindowMax].
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

// Index returns the index of row seq, or of the first row after it.
func (w *Window) Index(seq uint64) int {
	return sort.Search(len(w.Seqs), func(i int) bool { return w.Seqs[i] >= seq })
}

// Searching reports whether the log is being searched for rows of a filter, and back to which time:
// the zero time if that is not known.
func (w *Window) Searching() (back time.Time, on bool) {
	more := !w.Oldest && (w.Fetching || !w.Cut && len(w.Seqs) < query.PageRows)
	return w.Back, w.Query.Filters() && (!w.Loaded || more)
}

// Searched describes the progress of that search, "" if there is none.
func (w *Window) Searched() string {
	if _, on := w.Searching(); !on || w.Seen == 0 {
		return ""
	}
	return fmt.Sprintf("searched %d %%", (w.Seen-min(w.From, w.Seen))*100/w.Seen)
}
