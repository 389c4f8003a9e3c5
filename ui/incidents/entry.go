// Package incidents puts together what belongs to an incident: records that share a
// value, in order of time and in lanes; repeats folded into one; the most frequent
// values of a field; what differs between two events; and the report. It draws nothing
// and asks servers for nothing.
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
	"eventdeck/host/severity"
	"eventdeck/host/trust"
)

// Log is what is read of what is stored.
type Log interface {
	Get(seq uint64) (event.Record, error)
	Search(ctx context.Context, match func(*event.Record) bool, before uint64, page func(eventlog.Found) bool) error
}

// Entry is one record as a list, a lane or a report tells it.
type Entry struct {
	Seq      uint64
	Kind     event.Kind
	At       time.Time // see [TimeOf]
	Said     bool      // the server said At
	Server   string
	Type     trust.Text
	Severity trust.Text // the sender's word, "" if there is none
	Summary  trust.Text
	Gap      *event.Gap // of gaps
	Flags    []string   // what was noticed in the payload
}

// EntryOf makes the entry of a record.
func EntryOf(r *event.Record) Entry {
	e := Entry{Seq: r.Seq, Kind: r.Kind, Server: r.Server, Type: r.Type, Gap: r.Gap, Flags: r.Flags}
	e.At, e.Said = TimeOf(r)
	switch {
	case r.Kind == event.KindRejected:
		e.Summary = r.Reason
	case r.Kind == event.KindState && r.State != nil:
		e.Summary = trust.Unescaped(string(r.State.State) + " " + r.State.Evidence)
	case r.Kind == event.KindEvent:
		e.Summary, e.Severity = host.Headline(*r), severity.Of(r)
	}
	return e
}

// TimeOf returns when a record belongs: when it occurred, as the server says, or when it
// was received where the server says nothing that can be, which said tells. What occurred
// cannot be later than what was received.
func TimeOf(r *event.Record) (at time.Time, said bool) {
	at, err := time.Parse(time.RFC3339Nano, r.Timestamp.Raw())
	if err != nil || at.After(r.ReceivedAt) {
		return r.ReceivedAt.UTC(), false
	}
	return at.UTC(), true
}

// EntriesMax bounds the entries of one search; what is older is counted.
const EntriesMax = 10_000

// Finder looks through the whole log, newest first, in steps. One goroutine at a time may
// use it.
type Finder struct {
	log    Log
	match  func(*event.Record) bool
	before uint64 // everything from here on was examined; 0: nothing was
	kept   int

	Hits     int    // so far, those beyond [EntriesMax] counted
	Examined uint64 // records examined so far
	End      bool   // nothing is older
}

// NewFinder looks for the records that match, which is called from several goroutines at
// once.
func NewFinder(log Log, match func(*event.Record) bool) *Finder {
	return &Finder{log: log, match: match}
}

// Next looks at about so many records more, and returns the entries that it found, the
// newest first. The first time it returns as soon as it has found something.
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
			found = append(found, EntryOf(&r))
		}
		return p.Examined < most && !(atOnce && len(found) > 0)
	})
	return found, cmp.Or(failed, err)
}

// All returns the entries that match in order of time, and how many there are, which
// is more than the entries where those beyond [EntriesMax] were left out.
//
// Errors: those of [Finder.Next].
func All(ctx context.Context, log Log, match func(*event.Record) bool) (entries []Entry, hits int, err error) {
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

// Sort puts entries in order of time; those of one moment as they were stored.
func Sort(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Seq, b.Seq))
	})
}
