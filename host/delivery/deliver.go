package delivery

import (
	"cmp"
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
	ServerID  trust.Text // the server's id of the subscription, as the delivery names it; may be empty
	Body      []byte     // exact bytes; Deliver keeps them
	Refused   error      // of DeliveredMalformed: why strict parsing refused it
	Previous  bool       // signed with the secret before the last rotation
	Old, New  bool       // came on the path before the present one, or on the one that is being proved
	SentAt    time.Time  // by the sender's clock; zero: not known
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

// ErrRejected: strict parsing refused the payload, which is stored as a rejected one.
var ErrRejected = errors.New("payload rejected")

// ErrChanged: an event with this id is stored with other data, which are kept.
var ErrChanged = errors.New("known id with other data")

// Deliver stores a delivery and returns after the commit.
//
// Errors: [ErrRejected] after the rejected payload was stored; [ErrChanged] where
// nothing was; [ErrStopped] when Run has ended; what the store answered; the cause
// of ctx.
func (r *Runner) Deliver(ctx context.Context, d Delivered) error {
	webhook, leads := r.Mode() == event.ModeWebhook, d.New == r.isProvingPath() && !d.Old
	if d.Kind == DeliveredGap && !leads || d.Kind == DeliveredTerminated && (d.Old || d.New) {
		return nil // on another path nothing is missing
	}
	in, now := &r.in, r.deps.Now()
	current := webhook && leads // otherwise it is late, after a change of mode or path, or another path is proved
	b, cursor := r.deliveredBatch(d, current, now)
	isEvent := len(b.Records) > 0 && b.Records[0].Kind == event.KindEvent
	if current && r.deps.Read == nil {
		b.Cursor = in.position(cursor)
	}
	if r.isRecent(b.Cursor) || isEvent && r.replaying.Load() && r.deps.Store.HasEvent(r.id, b.Records[0].EventID) {
		b.Cursor = nil // it is not behind the stored position
	}
	at := b.Cursor
	switch p := r.proof.Load(); {
	case !current && isEvent:
		p.noteElsewhere(b.Records[0].EventID)
	case current && !p.delivered(&b, isEvent):
		b.Cursor = r.whenGranted(b.Cursor)
	}
	if current && isEvent && (r.takeNew().IsZero() || !r.vouched.Load()) && !r.deps.Store.HasEvent(r.id, b.Records[0].EventID) {
		r.noteFirst(&b, now)
	}
	r.noteSecret(&b, d.Previous, now)
	in.noteSeen(now)
	outcome, err := in.commitAs(ctx, b, false)
	if err != nil {
		return err
	}
	r.notePosition(at)
	if current && isEvent {
		in.watermark.noteDelivery(occurredAt(b.Records[0].Timestamp, now), b.Cursor)
	}
	r.set(func(s *Status) {
		s.LastDelivery = now
		if d.Kind == DeliveredEvent {
			s.LastEvent = now
		}
	})
	if d.Kind == DeliveredTerminated && webhook {
		r.terminated(&terminated{wire.DecodeFault(d.Body)})
	}
	switch {
	case len(b.Records) > 0 && b.Records[0].Kind == event.KindRejected:
		return ErrRejected
	case outcome.Changed > 0:
		return ErrChanged
	}
	return nil
}

// noteFirst notes an event that was not delivered before, in its batch.
func (r *Runner) noteFirst(b *event.Batch, now time.Time) {
	rec := &b.Records[0]
	id := rec.EventID
	r.noteNew(id)
	addUpdate(b, func(s *event.Subscription) { s.After = cmp.Or(s.After, id) })
	if sub, err := r.deps.Store.Subscription(r.id); err == nil {
		r.waited(&sub, occurredAt(rec.Timestamp, now))
	}
}

// deliveredBatch returns the batch of a delivery, without the cursor, and the cursor that the
// delivery holds. current: it came on the path of a webhook that runs.
func (r *Runner) deliveredBatch(d Delivered, current bool, now time.Time) (b event.Batch, cursor wire.Cursor) {
	switch d.Kind {
	case DeliveredEvent, DeliveredMalformed:
		var rec event.Record
		rec, cursor = r.decodeDelivered(d, now)
		if rec.Kind == event.KindEvent && !d.New && r.isNewServerID(d.ServerID) {
			rec.Flags = append(rec.Flags, event.FlagIDLearned)
		}
		b.Records = []event.Record{rec}
	case DeliveredGap:
		cursor = wire.DecodeMark(d.Body).Cursor
		b.Records = []event.Record{r.in.gapRecord(event.CauseGap, r.in.gapStart(r.in.lastSeenAt()), true)}
	}
	for i := range b.Records {
		b.Records[i].Mode, b.Records[i].WebhookID = event.ModeWebhook, d.WebhookID
	}
	sent := d.SentAt
	if sent.IsZero() {
		sent = now.UTC()
	}
	b.Update = func(s *event.Subscription) {
		if sent.After(s.Received) {
			s.Received = sent
		}
		if s.Mode != event.ModeWebhook || d.Old || d.New {
			return
		}
		if s.Lease.Delivered = true; !d.ServerID.IsZero() {
			s.Lease.ServerID = d.ServerID
		}
	}
	return b, cursor
}

// isRecent reports whether a cursor came with a recent delivery, or was stored at the start.
// Deliveries overtake each other, so that such a cursor may lie before the stored position.
func (r *Runner) isRecent(at *event.Cursor) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return at != nil && slices.ContainsFunc(r.recentPositions, at.Same)
}

// notePosition remembers the cursor of a stored delivery; nil: it had none.
func (r *Runner) notePosition(at *event.Cursor) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at == nil {
		return
	}
	if len(r.recentPositions) >= recentKept {
		r.recentPositions = slices.Delete(r.recentPositions, 0, 1)
	}
	r.recentPositions = append(r.recentPositions, *at)
}

// forgetPositions forgets the recent cursors, when the stored position goes back.
func (r *Runner) forgetPositions() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recentPositions = nil
}

// isNewServerID reports whether a delivery names the subscription by another id than the
// server did before (contracts, receiver).
func (r *Runner) isNewServerID(id trust.Text) bool {
	sub, err := r.deps.Store.Subscription(r.id)
	return err == nil && !id.IsZero() && !sub.Lease.ServerID.IsZero() && sub.Lease.ServerID != id
}

// whenGranted returns the cursor of a delivery if it may be stored now. While the answer to a
// subscribe is not stored, that answer may report a gap before the cursor; stored now, the
// cursor would hide the gap from the next subscribe. So it is kept for the answer
// (takeEarlyCursor). The first subscribe begins from now, and its answer reports no gap.
func (r *Runner) whenGranted(at *event.Cursor) *event.Cursor {
	r.mu.Lock()
	if r.grantStored || at == nil {
		r.mu.Unlock()
		return at
	}
	r.earlyCursor = at
	first := !r.confirmedOnce
	r.mu.Unlock()
	if first {
		r.setProof(event.ProofProving) // what was sent before this run may be lost: see judge
	}
	return nil
}

// takeEarlyCursor returns the newest cursor that waited for the answer to a subscribe.
func (r *Runner) takeEarlyCursor() *event.Cursor {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.earlyCursor
	r.earlyCursor = nil
	return at
}

// decodeDelivered returns the record of a delivery's body, and the cursor that it holds.
func (r *Runner) decodeDelivered(d Delivered, now time.Time) (event.Record, wire.Cursor) {
	if d.Refused != nil {
		return r.in.rejectedRecord(d.Body, d.Refused, scanned(d.Body)), wire.DecodeMark(d.Body).Cursor
	}
	if r.deps.Read == nil {
		return r.in.decode(d.Body)
	}
	o, err := r.deps.Read(d.Body, d.WebhookID, now)
	if err != nil {
		return r.in.rejectedRecord(d.Body, err, scanned(d.Body)), wire.Cursor{}
	}
	return r.in.eventRecord(o, scanned(o.Raw)), wire.Cursor{}
}
