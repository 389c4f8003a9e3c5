package eventlog

import (
	"context"
	"errors"
	"time"

	"eventdeck/host/event"
)

// SeqAt returns the sequence number of the first record that was received at or after a moment;
// if there is none, the number after the newest one. It assumes that records are in order of
// time. Where they are not, after an import or a clock that was set back, the record is near
// the moment.
//
// Errors: those of the store.
func (l *Log) SeqAt(at time.Time) (uint64, error) {
	low, end, err := l.bounds()
	for high := end; err == nil && low < high; {
		middle := low + (high-low)/2
		var r event.Record
		switch r, err = l.Get(middle); {
		case errors.Is(err, event.ErrNotFound): // pruned meanwhile, and so are all older ones
			low, err = middle+1, nil
		case err == nil && r.ReceivedAt.Before(at):
			low = middle + 1
		case err == nil:
			high = middle
		}
	}
	return low, err
}

// bounds returns the oldest stored sequence number and the one after the newest.
func (l *Log) bounds() (first, end uint64, err error) {
	end = l.store.Last() + 1
	first = end
	err = l.store.Scan(1, end-1, func(r *event.Record) bool {
		first = r.Seq
		return false
	})
	return first, end, err
}

// Histogram counts the stored records of all kinds that were received from one
// moment until before another, in buckets of equal length, oldest first. It looks
// at a few records for each bucket, not at all of them, and is as exact as
// [Log.SeqAt].
//
// Errors: the cause of ctx, those of the store.
func (l *Log) Histogram(ctx context.Context, from, to time.Time, buckets int) ([]uint64, error) {
	counts := make([]uint64, max(buckets, 0))
	if len(counts) == 0 || !from.Before(to) {
		return counts, nil
	}
	edge, err := l.SeqAt(from)
	for i := range counts {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		width := to.Sub(from)
		at := from.Add(width/time.Duration(len(counts))*time.Duration(i+1) + width%time.Duration(len(counts))*time.Duration(i+1)/time.Duration(len(counts)))
		var next uint64
		if next, err = l.SeqAt(at); next > edge {
			counts[i] = next - edge
			edge = next
		}
	}
	return counts, err
}
