package tuitest

import (
	"context"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
)

// Log is a log of the records 1, 2, 3 and so on.
type Log struct {
	Records []event.Record
	Err     error // returned by every read
}

// Get returns a record. Errors: Err, [event.ErrNotFound].
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

// Last returns the number of the newest record, 0 for none.
func (l *Log) Last() uint64 { return uint64(len(l.Records)) }

// After calls fn with the records above a number, the oldest first, until fn returns false.
func (l *Log) After(seq uint64, fn func(event.Record) bool) error {
	for seq++; seq <= l.Last(); seq++ {
		r, err := l.Get(seq)
		if err != nil {
			return err
		}
		if !fn(r) {
			break
		}
	}
	return nil
}

// Before calls fn with the records below a number, or all for 0, the newest first, until fn
// returns false.
func (l *Log) Before(seq uint64, fn func(event.Record) bool) error {
	if seq == 0 || seq > l.Last() {
		seq = l.Last() + 1
	}
	for ; seq > 1; seq-- {
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

// Search returns all matches below before, or of the whole log if it is 0, on one page.
func (l *Log) Search(_ context.Context, match func(*event.Record) bool, before uint64, page func(eventlog.Found) bool) error {
	f := eventlog.Found{Edge: 1, End: true}
	err := l.Before(before, func(r event.Record) bool {
		f.Examined++
		if match(&r) {
			f.Seqs = append(f.Seqs, r.Seq)
		}
		return true
	})
	if err == nil {
		page(f)
	}
	return err
}

// SeqAt returns the number of the first record that was received at or after t.
func (l *Log) SeqAt(t time.Time) (uint64, error) {
	for i := range l.Records {
		if !l.Records[i].ReceivedAt.Before(t) {
			return uint64(i) + 1, l.Err
		}
	}
	return l.Last() + 1, l.Err
}

// Histogram counts the records in n intervals of equal length.
func (l *Log) Histogram(_ context.Context, from, to time.Time, n int) ([]uint64, error) {
	counts := make([]uint64, n)
	for i := range l.Records {
		if at := l.Records[i].ReceivedAt; !at.Before(from) && at.Before(to) {
			counts[int(float64(at.Sub(from))/float64(to.Sub(from))*float64(n))]++
		}
	}
	return counts, l.Err
}

// EmptyStore is a store for [eventlog.New] whose newest record has this number, and which has no
// records beyond those that are appended to the log.
type EmptyStore uint64

// Last returns the number of the newest record.
func (s EmptyStore) Last() uint64 { return uint64(s) }

// Generations returns none.
func (EmptyStore) Generations() event.Generations { return nil }

// Get returns no record. Error: [event.ErrNotFound].
func (EmptyStore) Get(uint64) (event.Record, error) { return event.Record{}, event.ErrNotFound }

// Forward calls nothing.
func (EmptyStore) Forward(uint64, func(event.Record) bool) error { return nil }

// Backward calls nothing.
func (EmptyStore) Backward(uint64, func(event.Record) bool) error { return nil }

// Scan calls nothing.
func (EmptyStore) Scan(uint64, uint64, func(*event.Record) bool) error { return nil }
