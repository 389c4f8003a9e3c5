package delivery

import (
	"context"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// A webhook has a checkpoint, the last proved position, beside the stored position: a server
// may give up deliveries that failed, and later deliveries move the stored position past
// them. The checkpoint moves when the proof of an opening succeeds, and with each refresh
// whose answer shows no sign of a loss: to the position that was stored when the server was
// asked, as deliveries since then may have passed over a lost one. After a sign of a loss (a
// doubt) the checkpoint stays until a proof from there has ended.

// doubts counts the signs that deliveries were lost, and how many of them are settled.
type doubts struct {
	raised, settled atomic.Uint64
}

// isDoubted reports whether there is a sign of a loss that no proof has settled.
func (r *Runner) isDoubted() bool { return r.doubts.raised.Load() != r.doubts.settled.Load() }

// raiseDoubt notes a sign of a loss. ofDelivered: also of deliveries before the newest answer
// of the server, not only of later ones.
func (r *Runner) raiseDoubt(ofDelivered bool) {
	r.mu.Lock()
	r.doubts.raised.Add(1)
	r.unbroken = r.unbroken && !ofDelivered
	r.mu.Unlock()
	r.setProof(event.ProofProving)
}

func (r *Runner) isUnbroken() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unbroken
}

// Doubt opens the delivery again and asks for a proof, after an incident in which deliveries may have
// been lost, such as a sleep of the machine.
func (r *Runner) Doubt() {
	if r.Mode() == event.ModeWebhook {
		r.raiseDoubt(true)
	}
	r.Nudge()
}

// Challenged notes that the server has verified the callback. A server that verifies a callback
// again has lost the subscription, and with it the deliveries that were waiting.
func (r *Runner) Challenged() { r.challenged.Store(true) }

// checkpoint makes the stored position the proved one if there is none yet, before the server
// is asked.
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

// assess raises a doubt when an answer to a refresh shows a sign of a loss: failed deliveries
// other than settled (those that a proof has covered), or a server that began again, or a
// lease that lapsed. While no answer since the last proof of this run shows failures, all up
// to the stored position is taken for delivered; a lapsed lease casts doubt only on what came
// after that.
func (r *Runner) assess(sub *event.Subscription, res wire.SubscribeResult, settled event.Failure) {
	if sub.Lease.GrantedAt.IsZero() || !sub.Cursor.Valid {
		return
	}
	failure := status(res.Status).Failure()
	failed := r.challenged.Load() || failure != (event.Failure{}) && failure != settled || endsSuspension(sub, res) || r.positionMoved(sub, res)
	if failed || lapsed(sub, r.deps.Now()) {
		r.raiseDoubt(failed)
	}
	if r.failureFree = (event.Cursor{}); !failed && !res.Truncated && r.isUnbroken() {
		r.failureFree = sub.Cursor
	}
}

// lapsed reports whether the lease of a subscription ended before now.
func lapsed(sub *event.Subscription, now time.Time) bool {
	return !sub.Lease.RefreshBefore.IsZero() && now.After(sub.Lease.RefreshBefore)
}

// endsSuspension reports whether a server that had stopped delivering delivers again.
func endsSuspension(sub *event.Subscription, res wire.SubscribeResult) bool {
	return suspended(sub.Lease) && (res.Status == nil || res.Status.Active)
}

// positionMoved reports whether the answer to a refresh has another cursor than the stored
// one though nothing was delivered since the answer before it.
func (r *Runner) positionMoved(sub *event.Subscription, res wire.SubscribeResult) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	moved := res.Cursor.HasText() && res.Cursor.Text != sub.Cursor.Text
	return moved && r.status.LastDelivery.Before(sub.Lease.GrantedAt)
}

// lastSeen returns the last sign of life before the opening that begins now. Before the first
// opening of a run that is the stored one, as deliveries may have come ahead of it.
func (r *Runner) lastSeen() time.Time {
	if !r.wasConfirmed() {
		return r.lastSeenBefore
	}
	return r.in.lastSeenAt()
}

// webhookMethod is the method of a webhook's proof.
type webhookMethod interface {
	proofMethod
	// answered takes an answer to a subscribe, newest returns the newest one. The lock is held.
	answered(g granted)
	newest() granted
}

// answered takes an answer to a subscribe, after it was stored, if the proof is open.
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
	p.method.(webhookMethod).answered(g)
	p.reach(p.mark(wire.Mark{Cursor: res.Cursor, Truncated: res.Truncated}, false))
}

// settledFailure returns the failure that raises no doubt again: that of the newest answer if
// a proof is open, else the one that the last proof has covered.
func (p *proof) settledFailure(sub *event.Subscription) event.Failure {
	if !p.isOpen() {
		return sub.Settled
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.confirmed {
		return sub.Settled
	}
	return p.method.(webhookMethod).newest().failure
}

// reachedBy returns the newest cursor of the delivery or of an answer; nil: none came. The
// lock is held.
func (p *proof) reachedBy() *event.Cursor {
	if p.held != nil {
		return p.held
	}
	return p.method.(webhookMethod).newest().at
}

// reach leaves a verdict to the proof's goroutine to settle. The lock is held.
func (p *proof) reach(v verdict) {
	if p.reached == undecided && v != undecided {
		p.reached = v
		p.signal()
	}
}

// delivered judges a webhook delivery on the present path, and reports whether the proof is
// open: then the cursor of the batch is held.
func (p *proof) delivered(b *event.Batch, isEvent bool) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled {
		return false
	}
	p.holdCursor(b)
	if isEvent {
		p.reach(p.event(b.Records[0].EventID, b.Records[0].Cursor))
	}
	return true
}

// settleHook adds the changes of a webhook to the batch of a verdict: the checkpoint moves to the
// position to (nil: it stays), the failure and doubts of covered are settled, and the grace of an
// old path begins.
func (r *Runner) settleHook(b *event.Batch, to *event.Cursor, covered granted) {
	graceEnds := r.deps.Now().Add(oldPathGrace).UTC()
	if to != nil {
		r.forgetNewEvents()
	}
	addUpdate(b, func(s *event.Subscription) {
		if to != nil {
			s.Checkpoint(*to, s.CompleteUntil, trust.Text{})
		}
		s.Settled = covered.failure
		if s.Hook.Unproved() {
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

// settleDoubts notes that a proof has settled the doubts up to number until, and asks for another
// proof if more were raised.
func (r *Runner) settleDoubts(until uint64) {
	r.mu.Lock()
	r.doubts.settled.Store(until)
	r.unbroken = !r.isDoubted()
	r.mu.Unlock()
	if r.isDoubted() {
		r.setProof(event.ProofProving)
		r.Nudge()
	}
}

// newEvents are the ids of the first new events since the last checkpoint, and since the
// server was last asked; zero: none.
type newEvents struct{ sinceCheckpoint, sinceAsked trust.Text }

// noteNewEvent notes a delivered event that was not stored before.
func (r *Runner) noteNewEvent(id trust.Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.newEvents.sinceCheckpoint.IsZero() {
		r.newEvents.sinceCheckpoint = id
	}
	if r.newEvents.sinceAsked.IsZero() {
		r.newEvents.sinceAsked = id
	}
}

// beforeAsking returns the first new event since the last checkpoint, when the server is about
// to be asked.
func (r *Runner) beforeAsking() trust.Text {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newEvents.sinceAsked = trust.Text{}
	return r.newEvents.sinceCheckpoint
}

// checkpointMoved notes that the checkpoint moved to the position that was stored when the
// server was asked.
func (r *Runner) checkpointMoved() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newEvents.sinceCheckpoint = r.newEvents.sinceAsked
}

func (r *Runner) forgetNewEvents() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.newEvents = newEvents{}
}
