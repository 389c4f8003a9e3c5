package delivery

import (
	"context"
	"errors"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Delivered is a webhook delivery whose signature was verified.
type Delivered struct {
	Kind      DeliveredKind
	WebhookID trust.Text
	ServerID  trust.Text // the server's routing handle, to be learned; may be empty
	Body      []byte     // exact bytes; kept
	Refused   error      // of DeliveredMalformed: why strict parsing refused it
	Previous  bool       // signed with the secret before the last rotation
	Old       bool       // came on the path before the present one
}

// DeliveredKind says what the body of a delivery is.
type DeliveredKind int

// The kinds of deliveries.
const (
	DeliveredEvent DeliveredKind = iota
	DeliveredGap
	DeliveredTerminated
	DeliveredMalformed
)

// ErrRejected: the payload was refused and is stored as rejected.
var ErrRejected = errors.New("payload rejected")

// ErrChanged: an event with this id is stored with other data, which stay.
var ErrChanged = errors.New("known id with other data")

// Deliver stores a delivery and returns after the commit.
//
// Errors: [ErrRejected] after the refused payload was stored; [ErrChanged] where
// nothing was; [ErrStopped] when Run has ended; what the store answered; the cause
// of ctx.
func (r *Runner) Deliver(ctx context.Context, d Delivered) error {
	in, now := &r.in, r.deps.Now()
	if d.Old && (d.Kind == DeliveredGap || d.Kind == DeliveredTerminated) {
		return nil // of a subscription that has another path now, from which nothing is missing
	}
	current := r.Mode() == event.ModeWebhook && !d.Old // else it is late, after a change of mode or of the path
	b := event.Batch{Update: func(s *event.Subscription) {
		if !d.ServerID.IsZero() && current && s.Mode == event.ModeWebhook {
			s.Lease.ServerID = d.ServerID
		}
	}}
	var (
		rejected bool
		told     wire.Cursor
	)
	switch d.Kind {
	case DeliveredEvent, DeliveredMalformed:
		var rec event.Record
		rec, told = r.delivered(d, now)
		rec.WebhookID = d.WebhookID
		rejected = rec.Kind == event.KindRejected
		if !rejected && !d.WebhookID.IsZero() && rec.EventID != d.WebhookID {
			rec.Flags = append(rec.Flags, event.FlagIDMismatch)
		}
		if !rejected && r.learns(d.ServerID) {
			rec.Flags = append(rec.Flags, event.FlagIDLearned)
		}
		b.Records = []event.Record{rec}
	case DeliveredGap:
		told = wire.DecodeMark(d.Body).Cursor
		gap := in.gap(event.CauseGap, in.since(in.lastSign()), true)
		gap.WebhookID = d.WebhookID
		b.Records = []event.Record{gap}
	}
	isEvent := d.Kind == DeliveredEvent && !rejected
	if current && r.deps.Read == nil {
		b.Cursor = in.position(told)
	}
	if r.toldBefore(b.Cursor) || isEvent && r.isReplaying() && r.deps.Store.HasEvent(r.id, b.Records[0].EventID) {
		b.Cursor = nil // it lies behind
	}
	at := b.Cursor
	switch p := r.proof.Load(); {
	case !current && isEvent:
		p.note(b.Records[0].EventID)
	case current && !p.arrived(&b, isEvent):
		b.Cursor = r.whenGranted(b.Cursor)
	}
	for i := range b.Records {
		b.Records[i].Mode = event.ModeWebhook
	}
	r.signed(&b, d.Previous, now)
	in.seen(now)
	outcome, err := in.commitAs(ctx, b, false)
	if err != nil {
		return err
	}
	r.tell(at)
	if current && isEvent {
		in.whole.delivered(occurred(b.Records[0].Timestamp, now), b.Cursor)
	}
	if current && isEvent && outcome.Stored > 0 {
		r.noteNewest(b.Records[0].EventID)
	}
	r.set(func(s *Status) {
		s.LastDelivery = now
		if d.Kind == DeliveredEvent {
			s.LastEvent = now
		}
	})
	if d.Kind == DeliveredTerminated && current {
		r.terminated(&terminated{wire.DecodeFault(d.Body)})
	}
	switch {
	case rejected:
		return ErrRejected
	case outcome.Changed > 0:
		return ErrChanged
	}
	return nil
}

// toldBefore reports whether a delivery told a position shortly before, or the store held
// it at the start: deliveries overtake each other.
func (r *Runner) toldBefore(at *event.Cursor) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return at != nil && slices.ContainsFunc(r.told, at.Same)
}

// tell notes a position that a stored delivery told.
func (r *Runner) tell(at *event.Cursor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at == nil {
		return
	}
	if len(r.told) >= arrivals {
		r.told = slices.Delete(r.told, 0, 1)
	}
	r.told = append(r.told, *at)
}

// untell forgets the positions that were told: the stored one goes back.
func (r *Runner) untell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = nil
}

// learns reports whether a delivery names the subscription by another id than the
// server did before (contracts, receiver).
func (r *Runner) learns(id trust.Text) bool {
	sub, err := r.deps.Store.Subscription(r.id)
	return err == nil && !id.IsZero() && !sub.Lease.ServerID.IsZero() && sub.Lease.ServerID != id
}

// whenGranted returns the position of a delivery if it may be stored now. Before the
// answer to a subscribe is stored, it may lie behind a gap that the answer tells of,
// and the next subscribe would not be told again: then it waits for that answer. The
// answer to a first subscribe, from now, tells of no gap.
func (r *Runner) whenGranted(at *event.Cursor) *event.Cursor {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.granted || at == nil {
		return at
	}
	r.early = at
	return nil
}

// takeEarly returns the newest position that waited for the answer to a subscribe.
func (r *Runner) takeEarly() *event.Cursor {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.early
	r.early = nil
	return at
}

// delivered turns the body of a delivery into a record, and returns the cursor that
// it holds.
func (r *Runner) delivered(d Delivered, now time.Time) (event.Record, wire.Cursor) {
	if d.Refused != nil {
		return r.in.rejected(d.Body, d.Refused), wire.DecodeMark(d.Body).Cursor
	}
	if r.deps.Read == nil {
		return r.in.occurred(d.Body)
	}
	o, err := r.deps.Read(d.Body, d.WebhookID, now)
	if err != nil {
		return r.in.rejected(d.Body, err), wire.Cursor{}
	}
	return r.in.happened(o, scanned(o.Raw)), wire.Cursor{}
}
