package query

import (
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
)

// Fold is one row for equal changes of state with no event between them: the loss of a server is
// one row, for all of its subscriptions and however often it came back. Gaps and other changes of
// state may be between them. For a gap, the fold has only Last and is not joined with others.
type Fold struct {
	Last  uint64    // the newest record; the row has the number of the oldest
	Rows  int       // the number of records; 0 for a gap
	Many  bool      // they are of several subscriptions
	Since time.Time // when the oldest was received
	Until time.Time // when the newest was received
	of    change
	sub   event.SubID // of the oldest
	seqs  []uint64    // all records, ascending
}

// Join returns the fold with the records of next added.
func (f Fold) Join(next Fold) Fold {
	f.seqs = slices.Clip(f.seqs) // other copies share the array
	return f.join(next)
}

func (f Fold) join(next Fold) Fold {
	f.Last, f.Until, f.seqs = next.Last, next.Until, append(f.seqs, next.seqs...)
	f.Rows, f.Many = len(f.seqs), f.Many || next.Many || f.sub != next.sub
	return f
}

// Holds reports whether the fold contains a record.
func (f Fold) Holds(seq uint64) bool {
	_, ok := slices.BinarySearch(f.seqs, seq)
	return ok
}

// Hidden returns the records of the fold that have no row of their own.
func (f Fold) Hidden() []uint64 {
	if f.Rows < 2 {
		return nil
	}
	return f.seqs[1:]
}

// Before returns the fold with only its records older than seq, if there are any.
func (f Fold) Before(seq uint64) Fold {
	if n, _ := slices.BinarySearch(f.seqs, seq); 0 < n && n < f.Rows {
		f.seqs = f.seqs[:n:n]
		f.Last, f.Rows, f.Until = f.seqs[n-1], n, f.Since // when that was received is not kept
	}
	return f
}

// Run is a run of changes of state and gaps with no event between them.
type Run struct{ rows map[change]uint64 }

// Put adds a record, and returns the row of an equal one that was added before; ok is false if there
// is none.
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

// change has the properties in which equal changes of state agree. The subscription is not one.
type change struct {
	server, mode, state, evidence, failed string
}

// states collects the changes of state and gaps that a query matches. It is used by several
// goroutines.
type states struct {
	mu    sync.Mutex
	folds map[uint64]Fold
}

// note adds a change of state or a gap.
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

// fold joins equal changes of state with no event between them to one row.
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
