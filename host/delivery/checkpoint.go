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
// them. The checkpoint follows the stored position while nothing is in doubt (see
// [openLease.judge]). It stays where it is until a doubt is settled: by a proof, or by a gap.

// doubts counts the signs that events were lost, and how many of them are settled.
type doubts struct {
	raised  atomic.Uint64
	broken  atomic.Uint64 // the newest one that only a replay can settle
	settled atomic.Uint64
}

// raise counts another sign. broken: only a replay can settle it.
func (d *doubts) raise(broken bool) {
	if n := d.raised.Add(1); broken {
		d.broken.Store(n)
	}
}

// isDoubted reports whether there is a sign of a loss that is not settled.
func (r *Runner) isDoubted() bool { return r.doubts.raised.Load() != r.doubts.settled.Load() }

// isBroken reports whether there is one that only a replay can settle.
func (r *Runner) isBroken() bool { return r.doubts.broken.Load() > r.doubts.settled.Load() }

// raiseDoubt notes a sign of a loss, as [doubts.raise] does.
func (r *Runner) raiseDoubt(broken bool) {
	r.doubts.raise(broken)
	r.setProof(event.ProofProving)
}

// suspect notes that deliveries may have been lost, which the next answer of the server shows.
func (r *Runner) suspect() {
	r.suspected.Store(true)
	r.setProof(event.ProofProving)
}

// Doubt opens the delivery again and has its continuity proved, after an incident in which deliveries
// may have been lost, such as a sleep of the machine.
func (r *Runner) Doubt() {
	if r.Mode() == event.ModeWebhook {
		r.suspect()
	}
	r.Nudge()
}

// Challenged notes that the server has verified the callback. A server that verifies the callback
// of a lease again has lost it, and with it the deliveries that were waiting.
func (r *Runner) Challenged() {
	sub, err := r.deps.Store.Subscription(r.id)
	if err == nil && !sub.Lease.GrantedAt.IsZero() && !r.isProvingPath() {
		r.suspect()
	}
}

// checkpoint makes the stored position the proved one if there is none yet, before the server
// is asked.
func (r *Runner) checkpoint(ctx context.Context, sub *event.Subscription) error {
	if sub.Proved.Valid || !sub.Cursor.Valid {
		return nil
	}
	_, err := r.in.commit(ctx, event.Batch{Update: func(s *event.Subscription) {
		s.Checkpoint(s.Cursor, s.CompleteUntil, trust.Text{}, trust.Text{})
		sub.Proved, sub.ProvedAt = s.Proved, s.ProvedAt
	}})
	return err
}

// judge raises a doubt when the answer to a subscribe at the position asked shows a sign of a loss:
//
//   - Deliveries failed, in another way than those that a proof has covered, or a suspension
//     ended. Later deliveries may have passed over those that failed.
//   - The position is not the one that was asked for, as if the server had delivered
//     something, and either the lease did not last since the answer before (it ended, or the
//     callback was verified again), or deliveries came before the first answer of this run.
//   - The position is another one, the lease lasted, and nothing was delivered. A server
//     that leaves out events by a filter does that too, so that a replay is not needed if
//     the server vouches for it (vouches).
//
// A server that answers with the position it was asked for has passed over nothing yet. What it gave
// up ahead of that while the host was away shows by what it retried ([Runner.waited]). judge reports
// whether the lease lasted.
func (l *openLease) judge(res wire.SubscribeResult, asked event.Cursor, before time.Time) (lasted bool) {
	r, sub, told := l.r, &l.sub, status(res.Status)
	suspected, first := r.suspected.Swap(false), !r.wasConfirmed()
	quiet := r.Status().LastDelivery.Before(sub.Lease.GrantedAt)
	lasted = !suspected && holds(sub, r.deps.Now())
	if first {
		r.vouched.Store(!lasted || quiet && vouches(sub, told))
	}
	switch {
	case r.isProvingPath():
		return lasted
	case !sub.Cursor.Valid || before.IsZero():
		if suspected {
			r.setProof(proofUnneeded(before, sub.Cursor.Valid))
		}
		return lasted
	}
	failed := told.Failure() != (event.Failure{}) && told.Failure() != l.proof.settledFailure(sub)
	elsewhere := !res.Cursor.HasText() || res.Cursor.Text != asked.Text
	switch {
	case failed, isSuspended(sub.Lease.Status) && !isSuspended(told), elsewhere && (!lasted || first && !quiet):
		r.raiseDoubt(true)
	case isSuspended(told):
		// Its end is a sign.
	case !lasted && r.polls(), lasted && quiet && elsewhere && res.Cursor.HasText():
		r.raiseDoubt(false)
	case !r.isDoubted() && !l.proof.isOpen() && r.proofShown() != event.ProofPossibleGap:
		r.setProof(event.ProofProved)
	}
	return lasted
}

// waited notes a new event that was delivered. If it occurred before this run, on a lease that lasted
// since, its delivery was tried again while the host was away, and others may have been given up.
func (r *Runner) waited(sub *event.Subscription, occurred time.Time) {
	if sub.Cursor.Valid && occurred.Before(r.in.watermark.began) && !r.vouched.Load() && holds(sub, r.in.watermark.began) && !r.polls() {
		r.vouched.Store(true)
		r.raiseDoubt(true)
		r.Nudge()
	}
}

// holds reports whether the lease of a subscription holds at a time.
func holds(sub *event.Subscription, now time.Time) bool {
	return !sub.Lease.GrantedAt.IsZero() && !lapsed(sub, now)
}

// receiptSlack is how long after a delivery was sent it may be over: servers wait for an answer for
// about as long.
const receiptSlack = 10 * time.Second

// vouches reports whether a server says that it delivered nothing and failed at nothing since the
// last delivery that was taken.
func vouches(sub *event.Subscription, s *event.DeliveryStatus) bool {
	if s == nil || !s.Active || s.Failure() != (event.Failure{}) && s.Failure() != sub.Settled {
		return false
	}
	if s.LastDeliveryAt.IsZero() {
		return !sub.Lease.Delivered
	}
	last, ok := s.LastDeliveryAt.Time()
	return ok && !last.After(sub.Received.Add(receiptSlack))
}

// lapsed reports whether the lease of a subscription ended before now.
func lapsed(sub *event.Subscription, now time.Time) bool {
	return !sub.Lease.RefreshBefore.IsZero() && now.After(sub.Lease.RefreshBefore)
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
func (p *proof) answered(res wire.SubscribeResult, lease event.Lease) {
	if !p.isOpen() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g := granted{lease: lease, failure: lease.Status.Failure()}
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

// position returns the position to go on from: the newest one that came, or the one asked for.
func (p *proof) position() event.Cursor {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.reachedBy(); at != nil {
		return *at
	}
	return p.asked
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
// position to (nil: it stays), behind which after is the first event (zero: none is known), and the
// failure and doubts of covered are settled.
func (r *Runner) settleHook(b *event.Batch, to *event.Cursor, after trust.Text, covered granted) {
	addUpdate(b, func(s *event.Subscription) {
		if to != nil {
			s.Checkpoint(*to, s.CompleteUntil, s.After, after)
		}
		s.Settled = covered.failure
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

// settleDoubts notes that the doubts up to number until are settled, and asks for another proof if
// more were raised.
func (r *Runner) settleDoubts(until uint64) {
	if until > r.doubts.settled.Load() {
		r.doubts.settled.Store(until)
	}
	if r.isDoubted() {
		r.setProof(event.ProofProving)
		r.Nudge()
	}
}

// noteNew notes the first new event that was delivered since the server was last asked; zero: it
// is about to be asked.
func (r *Runner) noteNew(id trust.Text) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sinceAsked.IsZero() || id.IsZero() {
		r.sinceAsked = id
	}
}

// takeNew returns that event.
func (r *Runner) takeNew() trust.Text {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sinceAsked
}
