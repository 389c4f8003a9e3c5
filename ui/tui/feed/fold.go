package feed

import (
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
)

// Fold is a row of equal changes of state among which no event stands: a server that went away
// is one thing, however many subscriptions it had, and however often it came back. Gaps and other
// changes of state may stand among them; a gap is never a part of one.
type Fold struct {
	Last  uint64 // the newest of them; the row is the oldest; of a gap itself
	Rows  int    // 0: it is a gap
	Many  bool   // of several subscriptions
	Since time.Time
	Until time.Time // when the newest of them was received
	of    change
	sub   event.SubID // of the first
	seqs  []uint64    // all of them, ascending
}

// Join adds a change of state to the fold.
func (f Fold) Join(next Fold) Fold {
	f.seqs = slices.Clip(f.seqs) // other copies have the same
	return f.join(next)
}

func (f Fold) join(next Fold) Fold {
	f.Last, f.Until, f.seqs = next.Last, next.Until, append(f.seqs, next.seqs...)
	f.Rows, f.Many = len(f.seqs), f.Many || next.Many || f.sub != next.sub
	return f
}

// Holds reports whether the fold has a record.
func (f Fold) Holds(seq uint64) bool {
	_, ok := slices.BinarySearch(f.seqs, seq)
	return ok
}

// Hidden are the records of the fold that have no row of their own.
func (f Fold) Hidden() []uint64 {
	if f.Rows < 2 {
		return nil
	}
	return f.seqs[1:]
}

// Before is the fold without those that are not older than seq.
func (f Fold) Before(seq uint64) Fold {
	if n, _ := slices.BinarySearch(f.seqs, seq); 0 < n && n < f.Rows {
		f.seqs = f.seqs[:n:n]
		f.Last, f.Rows, f.Until = f.seqs[n-1], n, f.Since // when that was received is not kept
	}
	return f
}

// Run is rows of changes of state and gaps among which no event stands.
type Run struct{ rows map[change]uint64 }

// Put adds a row, and returns the row that it goes on with; ok is false if it is the first.
func (r *Run) Put(seq uint64, f Fold) (row uint64, ok bool) {
	if f.Rows == 0 {
		return 0, false
	}
	if row, ok = r.rows[f.of]; ok {
		return row, true
	}
	if r.rows == nil {
		r.rows = map[change]uint64{}
	}
	r.rows[f.of] = seq
	return 0, false
}

// change is what makes changes of state equal, whichever subscription of a server they are of.
type change struct {
	server, mode, state, evidence, failed string
}

// states notes the changes of state and the gaps among what is matched. It is used by several goroutines.
type states struct {
	mu    sync.Mutex
	folds map[uint64]Fold
}

// note notes a change of state or a gap that a query took.
func (s *states) note(r *event.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folds == nil {
		s.folds = map[uint64]Fold{}
	}
	f := Fold{Last: r.Seq}
	if r.Kind == event.KindState {
		f = Fold{Last: r.Seq, Rows: 1, Since: r.ReceivedAt, Until: r.ReceivedAt, sub: r.Sub, seqs: []uint64{r.Seq},
			of: change{r.Server, string(r.Mode), string(r.State.State), r.State.Evidence, r.State.Error.Raw()}}
	}
	s.folds[r.Seq] = f
}

// fold makes one row of equal changes of state among which no event stands.
func (p *Page) fold() {
	if p.Folds, p.states = p.states.folds, nil; len(p.Folds) < 2 {
		return
	}
	kept, run := p.Seqs[:0], Run{}
	for _, seq := range p.Seqs {
		f, is := p.Folds[seq]
		if !is {
			run = Run{}
		} else if row, ok := run.Put(seq, f); ok {
			p.Folds[row] = p.Folds[row].join(f)
			delete(p.Folds, seq)
			continue
		}
		kept = append(kept, seq)
	}
	p.Seqs = kept
}
