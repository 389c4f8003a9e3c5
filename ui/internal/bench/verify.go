//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/store"
	"eventdeck/store/seal"
)

// maxErrors bounds the errors about one store.
const maxErrors = 10

// verify checks that a store has the events 1 to res.emitted, each once and without a gap, and
// counts them. The oldest records of a bounded store may be pruned; the others must have no hole.
// last is when the last event was received.
//
// Errors: each event that is stored twice, was never sent, or is missing, with its number and
// records, at most maxErrors; those of the store.
func verify(dir string, bounded bool, res *result) (last time.Time, err error) {
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Keyring: seal.NoKeyring()})
	if err != nil {
		return last, err
	}
	defer s.Close()
	a := account{records: make([]uint64, res.emitted+1)}
	next := uint64(0)
	err = s.Forward(1, func(r event.Record) bool {
		if next == 0 {
			res.pruned = int(r.Seq) - 1
		} else if r.Seq != next {
			a.tell("records %d to %d are missing in the middle of the store", next, r.Seq-1)
		}
		next = r.Seq + 1
		if a.take(&r) {
			last = r.ReceivedAt
		}
		return len(a.wrong) < maxErrors
	})
	if res.pruned > 0 && !bounded {
		a.tell("the oldest %d records are gone, and the store has no bound", res.pruned)
	}
	if res.pruned == 0 {
		a.missing()
	}
	res.kept = min(a.kept+res.pruned, res.emitted) // changes of state were pruned, too
	res.ingest = [3]time.Duration{quantile(a.took, 0.5), quantile(a.took, 0.99), quantile(a.took, 1)}
	for i := range res.ingest {
		res.ingest[i] = res.ingest[i].Round(100 * time.Microsecond)
	}
	return last, errors.Join(append(a.wrong, err)...)
}

// account compares records with the sent events.
type account struct {
	records []uint64 // of each event by its number; 0: there is none
	kept    int
	took    []time.Duration // from emit to receipt
	wrong   []error
}

func (a *account) tell(format string, args ...any) {
	if len(a.wrong) < maxErrors {
		a.wrong = append(a.wrong, fmt.Errorf(format, args...))
	}
}

// take counts a record and reports whether it is a sent event.
func (a *account) take(r *event.Record) bool {
	switch r.Kind {
	case event.KindGap:
		a.tell("record %d is a gap: %s", r.Seq, r.Gap.Cause)
		return false
	case event.KindRejected:
		a.tell("record %d was rejected: %v", r.Seq, r.Reason)
		return false
	case event.KindEvent:
	default:
		return false
	}
	n, err := strconv.Atoi(strings.TrimPrefix(r.EventID.Raw(), "tick-"))
	switch {
	case err != nil || n < 1 || n >= len(a.records):
		a.tell("event %v, record %d, was never sent: the last one is %d", r.EventID, r.Seq, len(a.records)-1)
		return false
	case a.records[n] != 0:
		a.tell("event %d is stored twice, as records %d and %d", n, a.records[n], r.Seq)
		return false
	}
	a.records[n] = r.Seq
	a.kept++
	if at, ok := r.Timestamp.Time(); ok {
		a.took = append(a.took, r.ReceivedAt.Sub(at))
	}
	return true
}

// missing reports the events that were sent and are not stored, in ranges.
func (a *account) missing() {
	for n := 1; n < len(a.records); n++ {
		first := n
		for n < len(a.records) && a.records[n] == 0 {
			n++
		}
		if n > first {
			a.tell("events %d to %d were sent and are not stored; the one before is record %d", first, n-1, a.records[first-1])
		}
	}
}
