package react

import (
	"strings"
	"time"

	"eventdeck/host/event"
)

// Arrivals notes records in the order of the log, and tells of each what the policy wants to
// know of how it arrived. The zero Arrivals has noted nothing. One goroutine at a time may
// use it.
type Arrivals struct{ subs map[event.SubID]*heard }

// heard is what later records of a subscription are judged by.
type heard struct {
	last time.Time // of what was no replay
	gap  bool      // a certain gap, and no event since
}

// Arrival is how a record arrived.
type Arrival struct {
	// Age is how long after its first possible arrival it came: of a replayed record since
	// its subscription was heard of last.
	Age      time.Duration
	AfterGap bool // it is the first event behind a certain gap
	Flagged  bool // the scanner noticed something in it
}

// Note takes up a record, which is lent.
func (a *Arrivals) Note(r *event.Record) (arrival Arrival) {
	sub := a.subs[r.Sub]
	if sub == nil {
		if a.subs == nil {
			a.subs = map[event.SubID]*heard{}
		}
		sub = &heard{}
		a.subs[event.SubID(strings.Clone(string(r.Sub)))] = sub
	}
	if r.Kind == event.KindEvent {
		arrival.AfterGap, sub.gap = sub.gap, false
		arrival.Flagged = len(r.Flags) > 0
	}
	if r.Replayed {
		arrival.Age = r.ReceivedAt.Sub(sub.last) // of one that was not heard of: older than any age
	} else {
		sub.last = r.ReceivedAt
	}
	if r.Gap != nil && r.Gap.Certain {
		sub.gap = true
	}
	return arrival
}
