package timeline

import (
	"context"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/severity"
)

// grades counts how bad the records of each bucket are. Reading adds to it from several
// goroutines while it is drawn.
type grades struct {
	from, to time.Time
	errors   []atomic.Uint64
	warnings []atomic.Uint64
	examined atomic.Uint64
	done     bool // of the event loop
}

func newGrades(from, to time.Time, n int) *grades {
	return &grades{from: from, to: to, errors: make([]atomic.Uint64, n), warnings: make([]atomic.Uint64, n)}
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
	return log.Search(ctx, g.add, end, func(p eventlog.Found) bool { return p.Edge > first })
}

// add counts one record. It takes none, so that nothing is kept of the search.
func (g *grades) add(r *event.Record) bool {
	g.examined.Add(1)
	if r.Kind != event.KindEvent || r.ReceivedAt.Before(g.from) || !r.ReceivedAt.Before(g.to) {
		return false
	}
	i := int(float64(len(g.errors)) * float64(r.ReceivedAt.Sub(g.from)) / float64(g.to.Sub(g.from)))
	i = min(i, len(g.errors)-1)
	switch severity.Rate(r) {
	case severity.Critical, severity.Error:
		g.errors[i].Add(1)
	case severity.Warning:
		g.warnings[i].Add(1)
	}
	return false
}

// of returns how many errors and warnings a bucket has, as far as they are known, among
// all of its records.
func (g *grades) of(i int, all uint64) (errors, warnings uint64) {
	if g == nil {
		return 0, 0
	}
	errors = min(g.errors[i].Load(), all)
	return errors, min(g.warnings[i].Load(), all-errors)
}
