package delivery

import (
	"context"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// A webhook has a last proved position beside the stored one: a server may give up
// deliveries that failed, and later ones move the position past them. It is a
// checkpoint, set when the proof of an opening succeeds and with each refresh whose
// answer speaks for no loss: to where the position was when the server was asked, as a
// later one may have passed over something since. Where something speaks for a loss, the
// checkpoint stays until a proof from there has ended.

// doubts count what speaks for a loss of deliveries, and how much of that is settled.
type doubts struct {
	raised, settled atomic.Uint64
}

// isDoubted reports whether something speaks for a loss that no proof has settled.
func (r *Runner) isDoubted() bool { return r.doubts.raised.Load() != r.doubts.settled.Load() }

// raise notes that something speaks for a loss. ofDelivered: of something that was
// delivered before the last answer, too, not only behind it.
func (r *Runner) raise(ofDelivered bool) {
	r.mu.Lock()
	r.doubts.raised.Add(1)
	r.unbroken = r.unbroken && !ofDelivered
	r.mu.Unlock()
	r.showProof(event.ProofProving)
}

func (r *Runner) isUnbroken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unbroken
}

// Doubt asks for a proof now: something happened that a delivery may not have
// survived, as a sleep of the machine. The delivery is opened again.
func (r *Runner) Doubt() {
	if r.Mode() == event.ModeWebhook {
		r.raise(true)
	}
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
		s.Checkpoint(s.Cursor, s.CompleteUntil, trust.Text{})
		sub.Proved, sub.ProvedAt = s.Proved, s.ProvedAt
	}})
	return err
}

// weigh raises a doubt where an answer speaks for a loss, on a path that the server had
// granted before: it shows failed deliveries, or that the server begins anew. settled is
// the failure that a proof has covered. Where no answer shows one since the last proof of
// this run, the deliveries until then can be relied on; a lease that ended may have ended
// with some missing behind them.
func (r *Runner) weigh(sub *event.Subscription, res wire.SubscribeResult, settled event.Failure) {
	if sub.Lease.GrantedAt.IsZero() || !sub.Cursor.Valid {
		return
	}
	told := status(res.Status).Failure()
	failed := r.challenged.Load() || told != (event.Failure{}) && told != settled || endsSuspension(sub, res) || r.leadsOn(sub, res)
	lapsed := !sub.Lease.RefreshBefore.IsZero() && r.deps.Now().After(sub.Lease.RefreshBefore)
	if failed || lapsed {
		r.raise(failed)
	}
	if r.vouched = (event.Cursor{}); !failed && !res.Truncated && r.isUnbroken() {
		r.vouched = sub.Cursor
	}
}

// endsSuspension reports whether the server delivers again that had stopped.
func endsSuspension(sub *event.Subscription, res wire.SubscribeResult) bool {
	return suspended(sub.Lease) && (res.Status == nil || res.Status.Active)
}

// leadsOn reports whether the answer to a refresh tells of another position than the
// stored one, though nothing was delivered since the answer before it.
func (r *Runner) leadsOn(sub *event.Subscription, res wire.SubscribeResult) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	moved := res.Cursor.HasText() && res.Cursor.Text != sub.Cursor.Text
	return moved && r.status.LastDelivery.Before(sub.Lease.GrantedAt)
}

// lastLife returns the last sign of life before the opening that begins now. Deliveries
// may be ahead of the first one of a process.
func (r *Runner) lastLife() time.Time {
	if !r.wasConfirmed() {
		return r.away
	}
	return r.in.lastSign()
}

// hookMedium is the medium of a webhook.
type hookMedium interface {
	medium
	// answered takes an answer, newest returns the newest one. The lock is held.
	answered(g granted)
	newest() granted
}

// answered takes the answer to a subscribe, which is stored, for a proof that is open.
func (p *proof) answered(res wire.SubscribeResult) {
	if !p.isOpen() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g := granted{failure: status(res.Status).Failure()}
	if res.Cursor.HasText() {
		at := cursorOf(res.Cursor)
		g.at = &at
	}
	p.medium.(hookMedium).answered(g)
	p.reach(p.mark(wire.Mark{Cursor: res.Cursor, Truncated: res.Truncated}, false))
}

// settledFailure returns the failure that is not to be doubted again: that of the last
// answer which the open proof knows, else the one that the last proof has covered.
func (p *proof) settledFailure(sub *event.Subscription) event.Failure {
	if !p.isOpen() {
		return sub.Settled
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.confirmed {
		return sub.Settled
	}
	return p.medium.(hookMedium).newest().failure
}

// reachedBy returns the newest position that came, nil if none did. The lock is held.
func (p *proof) reachedBy() *event.Cursor {
	if p.held != nil {
		return p.held
	}
	return p.medium.(hookMedium).newest().at
}

// reach leaves a verdict to the proof's goroutine. The lock is held.
func (p *proof) reach(v verdict) {
	if p.reached == undecided && v != undecided {
		p.reached = v
		p.rouse()
	}
}

// arrived looks at what a webhook delivered on the present path, an event if isEvent, and
// reports whether the proof is open: then a position that comes with it is held.
func (p *proof) arrived(b *event.Batch, isEvent bool) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled {
		return false
	}
	p.hold(b)
	if isEvent {
		p.reach(p.event(b.Records[0].EventID, b.Records[0].Cursor))
	}
	return true
}

// settleHook adds to the batch of a verdict what is stored of a webhook: the checkpoint
// moves to to, nil: it stays; what covered tells of failures is settled.
func (r *Runner) settleHook(b *event.Batch, to *event.Cursor, covered granted) {
	graceEnds := r.deps.Now().Add(oldGrace).UTC()
	if to != nil {
		r.forgetNewest()
	}
	also(b, func(s *event.Subscription) {
		if to != nil {
			s.Checkpoint(*to, s.CompleteUntil, trust.Text{})
		}
		s.Settled = covered.failure
		if unproved(&s.Hook) {
			s.Hook.OldUntil = graceEnds
		}
	})
	done := b.Done
	b.Done = func(o event.Outcome, err error) {
		if err == nil {
			r.settleDoubts(covered.doubts)
		}
		if done != nil {
			done(o, err)
		}
	}
}

// settleDoubts notes that a proof has settled what was raised until then, and asks for
// another one where more was.
func (r *Runner) settleDoubts(until uint64) {
	r.mu.Lock()
	r.doubts.settled.Store(until)
	r.unbroken = !r.isDoubted()
	r.mu.Unlock()
	if r.isDoubted() {
		r.showProof(event.ProofProving)
		r.Nudge()
	}
}

// newestEvents are the first events that came since the last checkpoint, and since the
// server was asked last; zero: none.
type newestEvents struct{ sinceCheckpoint, sinceAsked trust.Text }

// noteNewest notes an event that was delivered and not stored before.
func (r *Runner) noteNewest(id trust.Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newest.sinceCheckpoint.IsZero() {
		r.newest.sinceCheckpoint = id
	}
	if r.newest.sinceAsked.IsZero() {
		r.newest.sinceAsked = id
	}
}

// asking returns the first event since the last checkpoint; the server is about to be asked.
func (r *Runner) asking() trust.Text {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest.sinceAsked = trust.Text{}
	return r.newest.sinceCheckpoint
}

// checked notes that the checkpoint was moved to where the position was when the server
// was asked.
func (r *Runner) checked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest.sinceCheckpoint = r.newest.sinceAsked
}

func (r *Runner) forgetNewest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newest = newestEvents{}
}
