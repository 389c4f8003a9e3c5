// Package incidents collects the records of an incident: those that share a value, in order of time
// and in lanes; folded repeats; the most frequent values of a field; differences between two
// events; and the report. It draws nothing and sends nothing to servers.
package incidents

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
)

// Entry is one record in a list, a lane or a report.
type Entry struct {
	Seq      uint64
	Kind     event.Kind
	At       time.Time // see [timeOf]
	Said     bool      // At is from the server
	Server   string
	Type     trust.Text
	Severity trust.Text // of the sender, "" if there is none
	Level    reading.Level
	Summary  trust.Text
	Gap      *event.Gap // of gaps
	Flags    []string   // of the scanner
}

// entryOf returns the entry of a record.
func entryOf(r *event.Record) Entry {
	e := Entry{Seq: r.Seq, Kind: r.Kind, Server: r.Server, Type: r.Family(), Gap: r.Gap, Flags: r.Flags}
	e.At, e.Said = timeOf(r)
	switch {
	case r.Kind == event.KindRejected:
		e.Summary = r.Reason
	case r.Kind == event.KindState && r.State != nil:
		e.Summary = trust.Unescaped(string(r.State.State) + " " + r.State.Evidence)
	case r.Kind == event.KindEvent:
		said := reading.Read(r)
		e.Summary, e.Severity, e.Level = host.Headline(*r), said.Severity.Value, said.Level
	}
	return e
}

// timeOf returns the time of a record: the server's, or when it was received if the server's is
// missing or later than that. said reports whether it is the server's.
func timeOf(r *event.Record) (at time.Time, said bool) {
	at, ok := r.Timestamp.Time()
	if !ok || at.After(r.ReceivedAt) {
		return r.ReceivedAt.UTC(), false
	}
	return at, true
}

// EntriesMax bounds the entries of one search; older records are only counted.
const EntriesMax = 10_000

// Finder searches the whole log, newest first, in steps. One goroutine at a time may use it.
type Finder struct {
	log    eventlog.Records
	match  func(*event.Record) bool
	before uint64 // records from here on were examined; 0: none
	kept   int

	Hits     int    // so far, including those beyond [EntriesMax]
	Examined uint64 // records examined so far
	End      bool   // all records were examined
}

// NewFinder returns a finder of the records that match. match is called from several goroutines at
// once.
func NewFinder(log eventlog.Records, match func(*event.Record) bool) *Finder {
	return &Finder{log: log, match: match}
}

// Next examines about most further records, and returns the entries that it found, the newest
// first. The first call returns as soon as it has found an entry.
//
// Errors: the cause of ctx, those of the store.
func (f *Finder) Next(ctx context.Context, most uint64) (found []Entry, err error) {
	var failed error
	begun := f.Examined
	atOnce := begun == 0
	err = f.log.Search(ctx, f.match, f.before, func(p eventlog.Found) bool {
		f.before, f.End, f.Examined = p.Edge, p.End, begun+p.Examined
		for _, seq := range p.Seqs {
			f.Hits++
			if f.kept >= EntriesMax {
				continue
			}
			r, err := f.log.Get(seq)
			if err != nil {
				failed = err
				return false
			}
			f.kept++
			found = append(found, entryOf(&r))
		}
		return p.Examined < most && !(atOnce && len(found) > 0)
	})
	return found, cmp.Or(failed, err)
}

// All returns the matching entries in order of time, and the number of hits, including those beyond
// [EntriesMax].
//
// Errors: those of [Finder.Next].
func All(ctx context.Context, log eventlog.Records, match func(*event.Record) bool) (entries []Entry, hits int, err error) {
	f := NewFinder(log, match)
	for !f.End {
		found, err := f.Next(ctx, math.MaxUint64)
		if err != nil {
			return nil, 0, err
		}
		entries = append(entries, found...)
	}
	Sort(entries)
	return entries, f.Hits, nil
}

// Sort sorts entries by time, and those of one moment by sequence number.
func Sort(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Seq, b.Seq))
	})
}
