package tuitest

import (
	"context"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
)

// Log is a log of the records 1, 2, 3 and so on.
type Log struct {
	Records []event.Record
	Err     error // of every read
}

// Get returns a record. Error: Err, [event.ErrNotFound].
func (l *Log) Get(seq uint64) (event.Record, error) {
	switch {
	case l.Err != nil:
		return event.Record{}, l.Err
	case seq == 0 || seq > uint64(len(l.Records)):
		return event.Record{}, event.ErrNotFound
	}
	r := l.Records[seq-1]
	r.Seq = seq
	return r, nil
}

// Last is the number of the newest record, 0 for none.
func (l *Log) Last() uint64 { return uint64(len(l.Records)) }

// Before tells the records below a number, the newest first, until fn returns false.
func (l *Log) Before(seq uint64, fn func(event.Record) bool) error {
	for seq = min(seq, l.Last()+1); seq > 1; seq-- {
		r, err := l.Get(seq - 1)
		if err != nil {
			return err
		}
		if !fn(r) {
			break
		}
	}
	return nil
}

// Search tells all that match below before, or at all if it is 0, on one page.
func (l *Log) Search(_ context.Context, match func(*event.Record) bool, before uint64, page func(eventlog.Found) bool) error {
	f := eventlog.Found{Edge: 1, End: true}
	if before == 0 {
		before = uint64(len(l.Records)) + 1
	}
	for seq := before - 1; seq > 0; seq-- {
		r, err := l.Get(seq)
		if err != nil {
			return err
		}
		f.Examined++
		if match(&r) {
			f.Seqs = append(f.Seqs, seq)
		}
	}
	page(f)
	return nil
}
