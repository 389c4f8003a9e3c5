package react

import (
	"slices"
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
	last time.Time // when an event came that was no replay
	gap  bool      // a certain gap, and no event since
}

// Arrival is how a record arrived.
type Arrival struct {
	// Age is how long after its first possible arrival it came: of a replayed record since
	// an event of its subscription came by itself last. What the host says of the
	// subscription does not count: that it goes on is said before the replay comes.
	Age      time.Duration
	AfterGap bool // it is the first event behind a certain gap
	Flagged  bool // the scanner noticed something in it
}

// sub returns what is known of a subscription, whose id may be lent.
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

// Earlier takes up a record from before those that are noted, the newest first: a replay
// behind a restart is as old as what was heard before it.
func (a *Arrivals) Earlier(r *event.Record) {
	if sub := a.sub(r.Sub); r.Kind == event.KindEvent && !r.Replayed && sub.last.IsZero() {
		sub.last = r.ReceivedAt
	}
}

// Behind has the next event of a subscription be the first one behind a certain gap.
func (a *Arrivals) Behind(id event.SubID) { a.sub(id).gap = true }

// Gaps returns the subscriptions whose next event is the first behind a certain gap, sorted.
func (a *Arrivals) Gaps() (ids []event.SubID) {
	for id, sub := range a.subs {
		if sub.gap {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Note takes up a record, which is lent.
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
		arrival.Age = r.ReceivedAt.Sub(sub.last) // of one that was not heard of: older than any age
	}
	if r.Gap != nil && r.Gap.Certain {
		sub.gap = true
	}
	return arrival
}
