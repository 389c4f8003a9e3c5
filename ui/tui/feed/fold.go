package feed

import (
	"sync"

	"eventdeck/host/event"
)

// Fold is a row of equal changes of state in a row: a server that went away is one thing,
// however many subscriptions it had.
type Fold struct {
	Last uint64 // the newest of them; the row is the oldest
	Rows int
	of   change
}

// Joins tells whether another row goes on with this one.
func (f Fold) Joins(next Fold) bool { return f.of == next.of }

// change is what makes changes of state equal, whichever subscription of a server they are of.
type change struct {
	server, mode, state, evidence, failed string
}

// states notes the changes of state among what is matched. It is used by several goroutines.
type states struct {
	mu    sync.Mutex
	folds map[uint64]Fold
}

// note notes a change of state that a query took.
func (s *states) note(r *event.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folds == nil {
		s.folds = map[uint64]Fold{}
	}
	s.folds[r.Seq] = Fold{r.Seq, 1, change{r.Server, string(r.Mode), string(r.State.State), r.State.Evidence, r.State.Error.Raw()}}
}

// fold makes one row of equal changes of state that stand in a row.
func (p *Page) fold() {
	if p.Folds, p.states = p.states.folds, nil; len(p.Folds) < 2 {
		return
	}
	kept := p.Seqs[:0]
	for _, seq := range p.Seqs {
		f, is := p.Folds[seq]
		if n := len(kept); is && n > 0 {
			if before, was := p.Folds[kept[n-1]]; was && before.Joins(f) {
				before.Last, before.Rows = f.Last, before.Rows+f.Rows
				p.Folds[kept[n-1]] = before
				delete(p.Folds, seq)
				continue
			}
		}
		kept = append(kept, seq)
	}
	p.Seqs = kept
}
