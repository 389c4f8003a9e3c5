package timeline

import (
	"context"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/reading"
	"eventdeck/themes"
)

// grades counts the severities of the records in each bucket, and with a query also its matches. It
// is filled by several goroutines while it is drawn.
type grades struct {
	from, to time.Time
	matches  func(*event.Record) bool // nil: all records, which are counted elsewhere
	taken    []atomic.Uint64          // the matches of the query
	first    []atomic.Uint64          // the oldest match; 0: none
	critical []atomic.Uint64
	errors   []atomic.Uint64 // including critical ones
	warnings []atomic.Uint64
	examined atomic.Uint64
	whole    atomic.Uint64 // the number of records to read, 0 until it is known
	done     bool          // used on the event loop only
}

func newGrades(from, to time.Time, n int, matches func(*event.Record) bool) *grades {
	return &grades{from: from, to: to, matches: matches, taken: make([]atomic.Uint64, n), first: make([]atomic.Uint64, n), critical: make([]atomic.Uint64, n), errors: make([]atomic.Uint64, n), warnings: make([]atomic.Uint64, n)}
}

// read counts the records between from and to, the newest first.
func (g *grades) read(ctx context.Context, log eventlog.Records) error {
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

// add counts one record. It returns false, so that the search collects no matches.
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
	switch reading.Rate(r) {
	case reading.Critical:
		g.critical[i].Add(1)
		g.errors[i].Add(1)
	case reading.Error:
		g.errors[i].Add(1)
	case reading.Warning:
		g.warnings[i].Add(1)
	}
	return false
}

// lower replaces a sequence number by seq if it is 0 or greater.
func lower(of *atomic.Uint64, seq uint64) {
	for {
		was := of.Load()
		if was != 0 && was <= seq || of.CompareAndSwap(was, seq) {
			return
		}
	}
}

// counts sets into to the matches in each bucket so far.
func (g *grades) counts(into []uint64) {
	for i := range into {
		into[i] = g.taken[i].Load()
	}
}

// since returns the oldest match in a bucket or a later one so far; 0 for none.
func (g *grades) since(bucket int) uint64 {
	for i := bucket; i < len(g.first); i++ {
		if seq := g.first[i].Load(); seq > 0 {
			return seq
		}
	}
	return 0
}

// severe counts the warnings and errors of a bucket or a column.
type severe struct {
	critical uint64
	errors   uint64 // including critical ones
	warnings uint64
}

// worst returns the letter of the worst severity, the number of records with it, and its role; "" if
// there are none. The letter makes it visible without colours.
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

// of returns the severities so far among all records of bucket i.
func (g *grades) of(i int, all uint64) severe {
	if g == nil {
		return severe{}
	}
	s := severe{errors: min(g.errors[i].Load(), all)}
	s.critical, s.warnings = min(g.critical[i].Load(), s.errors), min(g.warnings[i].Load(), all-s.errors)
	return s
}
