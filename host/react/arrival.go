package react

import (
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
)

// Arrivals takes records in the order of the log, and says of each how it arrived, for the
// policy. The zero value has seen no record. One goroutine at a time may use it.
type Arrivals struct{ subs map[event.SubID]*heard }

// heard is the state of a subscription by which later records are judged.
type heard struct {
	last time.Time // arrival of the newest event that was not a replay
	gap  bool      // there was a certain gap, and no event since
}

// Arrival is how a record arrived.
type Arrival struct {
	// Age of a replayed record is the time since the last event of its subscription that was
	// not a replay; of others it is 0. Records of the host about the subscription do not
	// count: that it resumed is recorded before the replay arrives.
	Age      time.Duration
	AfterGap bool // it is the first event after a certain gap
	Flagged  bool // the scanner noticed something in it
}

// sub returns the state of a subscription. The id may be lent.
func (a *Arrivals) sub(id event.SubID) *heard {
	sub := a.subs[id]
	if sub == nil {
		if a.subs == nil {
			a.subs = map[event.SubID]*heard{}
		}
		sub = &heard{}
		a.subs[event.SubID(strings.Clone(string(id)))] = sub
	}
	return sub
}

// Earlier takes records from before those given to Note, newest first: the age of a replay
// after a restart depends on what arrived before.
func (a *Arrivals) Earlier(r *event.Record) {
	if sub := a.sub(r.Sub); r.Kind == event.KindEvent && !r.Replayed && sub.last.IsZero() {
		sub.last = r.ReceivedAt
	}
}

// Behind makes the next event of a subscription count as the first after a certain gap.
func (a *Arrivals) Behind(id event.SubID) { a.sub(id).gap = true }

// Gaps returns the subscriptions whose next event is the first after a certain gap, sorted.
func (a *Arrivals) Gaps() (ids []event.SubID) {
	for id, sub := range a.subs {
		if sub.gap {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Note takes the next record, which is lent.
func (a *Arrivals) Note(r *event.Record) (arrival Arrival) {
	sub := a.sub(r.Sub)
	if r.Kind == event.KindEvent {
		arrival.AfterGap, sub.gap = sub.gap, false
		arrival.Flagged = len(r.Flags) > 0
		if !r.Replayed {
			sub.last = r.ReceivedAt
		}
	}
	if r.Replayed {
		arrival.Age = r.ReceivedAt.Sub(sub.last) // without an earlier event: larger than any limit
	}
	if r.Gap != nil && r.Gap.Certain {
		sub.gap = true
	}
	return arrival
}
