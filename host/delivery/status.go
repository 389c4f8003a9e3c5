// Package delivery runs subscriptions, each with a [Runner]: a poll loop, a push stream or a
// webhook lease. A runner stores what the server sends together with the cursor that follows,
// and reports the state of the subscription with its reason at any time.
//
// A runner makes attempts: one poll loop, one stream or one lease each, until it fails.
// ingest.go hands batches to the store, proof.go finds out after each opening whether events
// are missing, failover.go changes the mode when one keeps failing.
package delivery

import (
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Status is the state of a running subscription with its evidence. It is a value.
type Status struct {
	State event.State
	Since time.Time
	Error trust.Text // last error, kept until the next success

	// Fault is the last events/error of the server, which does not end the stream, and FaultAt
	// when it came; zero: none.
	Fault   trust.Text
	FaultAt time.Time

	Opened        time.Time     // when the stream or lease was last confirmed
	LastEvent     time.Time     // when the last event arrived
	LastHeartbeat time.Time     // push: the last heartbeat
	LastByte      time.Time     // push: the last byte, also of a comment
	Apart         bool          // push: heartbeats show that the server is alive, not that its events still come
	Interval      time.Duration // push: learned heartbeat interval, 0 while unknown
	LastPoll      time.Time     // poll: the last answer
	Asked         time.Time     // poll: when a request was sent that is not answered yet; zero: none is
	NextTry       time.Time     // poll, backoff, refresh: when the host acts next
	Attempt       int           // failures in a row
	Throttled     time.Time     // until when the server asks to wait; zero: it does not
	Losses        int           // how often it was lost within the last FlapWithin before LostAt, if too often
	LostAt        time.Time     // when it was lost last
	LastDelivery  time.Time     // webhook: the last delivery taken
	Lease         event.Lease   // webhook
	Mode          event.Mode    // in which it runs now
	Preferred     event.Mode    // of a failover: the preferred mode, if another one runs
	PreferredTry  time.Time     // when Preferred is tried again; zero: when the present mode fails
	Replayed      uint64        // events from the server's history since the start
	Duplicates    uint64        // events that were stored before
	Proof         event.Proof   // whether it is proved that nothing is missing
	Reason        event.Reason  // why it is in this state
	Refused       event.Refused // webhook: deliveries that the receiver refused
}

// A subscription that was lost FlapLosses times within FlapWithin flaps until FlapWithin has passed
// without a loss.
const (
	FlapLosses = 3
	FlapWithin = 5 * time.Minute
)

// UnansweredAfter is how long a poll waits for its answer until the status shows that.
const UnansweredAfter = 5 * time.Second

// Timing holds the durations and counts of subscriptions. A zero member means its default.
type Timing struct {
	PollFloor     time.Duration // least pause between polls; default 1 s
	PollCap       time.Duration // longest pause between polls; default 5 min
	BackoffMin    time.Duration // first pause after a failure; default 500 ms
	BackoffMax    time.Duration // longest pause after failures; default 60 s
	Watchdog      time.Duration // silence that ends a stream while no interval is learned; default 65 s
	ConfirmWithin time.Duration // silence after which an open stream counts as unconfirmed; default 3 s
	LeaseFloor    time.Duration // shortest time to a refresh; default 5 s
	LeaseCheck    time.Duration // refresh of a lease without expiry or with an unreadable one; default 5 min
	FailoverAfter time.Duration // time of failing after which the next mode is tried; default 30 s
	FailoverTries int           // failures in a row after which the next mode is tried; default 4
	PreferredMin  time.Duration // first pause before the preferred mode is tried again; default 1 min
	PreferredMax  time.Duration // longest of these pauses; default 30 min
	ProveWithin   time.Duration // longest wait for the evidence that decides a proof; default 30 s
	RenewEvery    time.Duration // least pause between two new webhook paths of a subscription; default 1 h
	ConnectWithin time.Duration // a first connection that takes longer has failed; default 8 s
}

// WithDefaults returns t with every zero member replaced.
func (t Timing) WithDefaults() Timing {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&t.PollFloor, time.Second)
	def(&t.PollCap, 5*time.Minute)
	def(&t.BackoffMin, 500*time.Millisecond)
	def(&t.BackoffMax, time.Minute)
	def(&t.Watchdog, 65*time.Second)
	def(&t.ConfirmWithin, 3*time.Second)
	def(&t.LeaseFloor, 5*time.Second)
	def(&t.LeaseCheck, 5*time.Minute)
	def(&t.FailoverAfter, 30*time.Second)
	def(&t.PreferredMin, time.Minute)
	def(&t.PreferredMax, 30*time.Minute)
	def(&t.ProveWithin, 30*time.Second)
	def(&t.RenewEvery, time.Hour)
	def(&t.ConnectWithin, 8*time.Second)
	if t.FailoverTries <= 0 {
		t.FailoverTries = 4
	}
	return t
}
