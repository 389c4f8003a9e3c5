package delivery

import (
	"context"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// A webhook has a last proved position beside the stored one: a server may give up
// deliveries that failed, and later ones move the position past them. It is a
// checkpoint, set when the proof of an opening succeeds and with each refresh whose
// answer shows no sign of failure. With such a sign the subscription is opened again,
// from the checkpoint, with a proof.

// Doubt asks for a proof now: something happened that a delivery may not have
// survived, as a sleep of the machine. The delivery is opened again.
func (r *Runner) Doubt() {
	r.doubt.Store(true)
	r.Nudge()
}

// Challenged is told that the server has verified the callback. It verifies one that
// it knows only when it has forgotten the subscription, and what it held for it.
func (r *Runner) Challenged() { r.challenged.Store(true) }

// checkpoint keeps the stored position as the proved one where there is none yet,
// before the server is asked for anything.
func (r *Runner) checkpoint(ctx context.Context, sub *event.Subscription) error {
	if sub.Proved.Valid || !sub.Cursor.Valid {
		return nil
	}
	_, err := r.in.commit(ctx, event.Batch{Update: func(s *event.Subscription) {
		s.Checkpoint(trust.Text{})
		sub.Proved, sub.ProvedAt = s.Proved, s.ProvedAt
	}})
	return err
}

// showsFailure reports whether an answer tells of failed deliveries that the one
// before it did not tell of.
func showsFailure(sub *event.Subscription, res wire.SubscribeResult) bool {
	if sub.Lease.GrantedAt.IsZero() {
		return false // the first one
	}
	was, now := event.DeliveryStatus{Active: true}, event.DeliveryStatus{Active: true}
	if sub.Lease.Status != nil {
		was = *sub.Lease.Status
	}
	if res.Status != nil {
		now = *status(res.Status)
	}
	return !now.LastError.IsZero() && now.LastError != was.LastError ||
		!now.FailedSince.IsZero() && now.FailedSince != was.FailedSince
}

// mayHidePast reports whether events may be missing before the stored position: the
// server had failed to deliver when a later delivery moved the position on. What failed
// after the newest delivery lies behind the position.
func (r *Runner) mayHidePast(sub *event.Subscription, res wire.SubscribeResult, before time.Time, opening bool) bool {
	since, ok := wire.ParseTime(res.Status.FailedSince)
	switch {
	case opening:
		return ok && since.Before(before)
	case ok:
		return r.deliveredSince(since)
	}
	return r.deliveredSince(sub.Lease.GrantedAt)
}

// endsSuspension reports whether the server delivers again that had stopped.
func endsSuspension(sub *event.Subscription, res wire.SubscribeResult) bool {
	return suspended(sub.Lease) && (res.Status == nil || res.Status.Active)
}

// leadsOn reports whether the answer to a refresh tells of another position than the
// one that was sent, though nothing was delivered since the answer before it.
func (r *Runner) leadsOn(sub *event.Subscription, res wire.SubscribeResult) bool {
	moved := res.Cursor.HasText() && sub.Cursor.Valid && res.Cursor.Text != sub.Cursor.Text
	return moved && !r.deliveredSince(sub.Lease.GrantedAt)
}

func (r *Runner) deliveredSince(at time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.status.LastDelivery.Before(at)
}

// answered takes the answer to a subscribe, which is stored, for a proof that is open.
func (p *proof) answered(res wire.SubscribeResult, suspect bool) {
	if !p.isOpen() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.suspect = p.suspect || suspect
	if res.Cursor.HasText() {
		at := cursorOf(res.Cursor)
		p.answer = &at
	}
	p.reach(p.mark(wire.Mark{Cursor: res.Cursor, Truncated: res.Truncated}, false))
}

// reach leaves a verdict to the proof's goroutine. The lock is held.
func (p *proof) reach(v verdict) {
	if p.reached == undecided && v != undecided {
		p.reached = v
		p.rouse()
	}
}

// arrived looks at an event that a webhook delivered on the present path. On a fresh
// path its position is held.
func (p *proof) arrived(b *event.Batch) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if p.fresh && b.Cursor != nil {
		p.held, b.Cursor = b.Cursor, nil
	}
	p.reach(p.event(b.Records[0].EventID, b.Records[0].Cursor, false))
}

// takeNewest returns the first event that came since the last checkpoint, and forgets it.
func (r *Runner) takeNewest() trust.Text {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := r.newest
	r.newest = trust.Text{}
	return id
}

// noteNewest notes an event that was delivered and not stored before.
func (r *Runner) noteNewest(id trust.Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newest.IsZero() {
		r.newest = id
	}
}
