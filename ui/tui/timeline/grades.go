package timeline

import (
	"context"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/severity"
	"eventdeck/themes"
)

// grades counts how bad the records of each bucket are, and with a query how many it takes.
// Reading adds to it from several goroutines while it is drawn.
type grades struct {
	from, to time.Time
	matches  func(*event.Record) bool // nil: all records, which are counted elsewhere
	taken    []atomic.Uint64          // by the query
	first    []atomic.Uint64          // sequence number of the oldest of them; 0: none
	critical []atomic.Uint64
	errors   []atomic.Uint64 // with those that are critical
	warnings []atomic.Uint64
	examined atomic.Uint64
	whole    atomic.Uint64 // how many are to be read, 0 before that is known
	done     bool          // of the event loop
}

func newGrades(from, to time.Time, n int, matches func(*event.Record) bool) *grades {
	return &grades{from: from, to: to, matches: matches, taken: make([]atomic.Uint64, n), first: make([]atomic.Uint64, n), critical: make([]atomic.Uint64, n), errors: make([]atomic.Uint64, n), warnings: make([]atomic.Uint64, n)}
}

// read counts the records of the time that is drawn, from the newest on.
func (g *grades) read(ctx context.Context, log Log) error {
	first, err := log.SeqAt(g.from)
	if err != nil {
		return err
	}
	end, err := log.SeqAt(g.to)
	if err != nil {
		return err
	}
	g.whole.Store(end - min(first, end))
	return log.Search(ctx, g.add, end, func(p eventlog.Found) bool { return p.Edge > first })
}

// add counts one record. It takes none, so that nothing is kept of the search.
func (g *grades) add(r *event.Record) bool {
	g.examined.Add(1)
	if r.ReceivedAt.Before(g.from) || !r.ReceivedAt.Before(g.to) || g.matches != nil && !g.matches(r) {
		return false
	}
	i := int(float64(len(g.errors)) * float64(r.ReceivedAt.Sub(g.from)) / float64(g.to.Sub(g.from)))
	i = min(i, len(g.errors)-1)
	if g.matches != nil {
		g.taken[i].Add(1)
		lower(&g.first[i], r.Seq)
	}
	if r.Kind != event.KindEvent {
		return false
	}
	switch severity.Rate(r) {
	case severity.Critical:
		g.critical[i].Add(1)
		g.errors[i].Add(1)
	case severity.Error:
		g.errors[i].Add(1)
	case severity.Warning:
		g.warnings[i].Add(1)
	}
	return false
}

// lower keeps the smaller of two sequence numbers, of which 0 is none.
func lower(of *atomic.Uint64, seq uint64) {
	for {
		was := of.Load()
		if was != 0 && was <= seq || of.CompareAndSwap(was, seq) {
			return
		}
	}
}

// counts returns how many records of each bucket the query takes, as far as they were read.
func (g *grades) counts(into []uint64) {
	for i := range into {
		into[i] = g.taken[i].Load()
	}
}

// since returns the oldest record that the query takes from a bucket on, as far as they were
// read; 0 if there is none.
func (g *grades) since(bucket int) uint64 {
	for i := bucket; i < len(g.first); i++ {
		if seq := g.first[i].Load(); seq > 0 {
			return seq
		}
	}
	return 0
}

// severe counts the records of a bucket or a column that are worse than information.
type severe struct {
	critical uint64
	errors   uint64 // with those that are critical
	warnings uint64
}

// worst is the letter of the worst of them, how many there are, and their role; "" if there are
// none. Colours alone tell it to few.
func (s severe) worst() (letter string, n uint64, role themes.Role) {
	switch {
	case s.critical > 0:
		return "C", s.critical, themes.Bad
	case s.errors > 0:
		return "E", s.errors, themes.Bad
	case s.warnings > 0:
		return "W", s.warnings, themes.Warn
	}
	return "", 0, themes.Plain
}

// of returns what a bucket has, as far as it is known, among all of its records.
func (g *grades) of(i int, all uint64) severe {
	if g == nil {
		return severe{}
	}
	s := severe{errors: min(g.errors[i].Load(), all)}
	s.critical, s.warnings = min(g.critical[i].Load(), s.errors), min(g.warnings[i].Load(), all-s.errors)
	return s
}
