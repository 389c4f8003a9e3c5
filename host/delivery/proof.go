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

// A proof shows, for one opening of a stream or a lease, that nothing is missing
// since the last proved position. What a server says of positions (an echoed or an
// answered cursor, truncated: false) proves nothing; events do.
//
//	opening ──► confirmed ──► proving ──► proved
//	                             └──────► possible gap, in the log
//
// Two ways lead to a proof, and the first that succeeds counts:
//
//   - A catch-up poll (catchup.go) where the type offers poll: once the new delivery
//     is confirmed, all since the last proved position is asked for. It proves when it
//     has brought an event that the new delivery brought too, or when nothing came.
//   - Overlap (overlap.go) where it does not: the delivery is opened one position
//     back, so that an event that is stored must come again before anything new.
//
// The last proved position is kept until then, and every opening begins there
// ([event.Subscription.Opening]). Of a stream it is the stored position itself: while
// a proof is open, the cursors that come are only held, and the commit that proves,
// or records the gap, moves the position to the newest of them. Deliveries by webhook
// move the stored position at any time, so the proved one is kept beside it
// (checkpoint.go). In both cases a process that dies at any step begins again at the
// last proved position, and nothing has to be undone.
//
// Once an opening is proved, [Runner.proof] is nil: an event costs one look at it.
type proof struct {
	r      *Runner
	from   event.Cursor  // the last proved position
	asked  event.Cursor  // where the delivery is asked to begin: from, or one position back
	known  trust.Text    // the stored event between the two; zero: overlap cannot be had
	since  time.Time     // where a gap begins that is recorded
	maxAge time.Duration // of the subscription
	opened time.Time
	end    context.CancelCauseFunc // ends the attempt

	// first: there was no life before, so nothing can be missing.
	first bool
	// lenient: the position one back is too old for the server. A gap is recorded only
	// if something speaks for a loss.
	lenient bool
	// webhook: deliveries move the position while the proof is open.
	webhook bool

	wake  chan struct{} // holds a value when there is something to look at
	ended chan struct{} // closed with the proof's goroutine

	mu        latch
	over      bool
	confirmed bool
	told      bool          // a gap of this opening is in the log
	polling   bool          // a catch-up poll decides
	held      *event.Cursor // newest position that was told; nil: none
	heard     bool          // an event came
	moved     bool          // before any event came, another position was told than was asked for
	echoed    bool          // the last that was told is the position that was asked for
	doubtful  bool          // overlap has failed: it goes on elsewhere
	beats     int           // heartbeats
	witness   trust.Text    // first new event of this delivery; zero: none came
	met       bool          // the catch-up poll has brought the witness
}

// latch is a lock that may be held while the store has no room.
type latch chan struct{}

func (l latch) Lock()   { l <- struct{}{} }
func (l latch) Unlock() { <-l }

// verdict is what becomes of a proof.
type verdict int

const (
	undecided verdict = iota
	proved            // nothing is missing
	missing           // something may be missing
)

// errTooFarBack: the server does not hold the position one back any more.
var errTooFarBack = errors.New("the position one back is too old for the server")

// newProof returns the proof of an opening from what is stored; nil if there is
// nothing to be proved. before is the last sign of life until now.
func (r *Runner) newProof(sub *event.Subscription, before time.Time, lenient bool) *proof {
	p := &proof{
		r: r, from: sub.Opening(), since: r.in.since(before), maxAge: sub.MaxAge, opened: r.deps.Now(),
		first: before.IsZero(), lenient: lenient, webhook: r.Mode() == event.ModeWebhook,
		polling: r.mayPoll(),
		wake:    make(chan struct{}, 1), ended: make(chan struct{}), mu: make(latch, 1),
	}
	if !p.from.Valid || p.first && !p.polling {
		return nil
	}
	if sub.Proved.Valid && sub.ProvedAt.Before(p.since) {
		p.since = sub.ProvedAt
	}
	p.asked = p.from
	if !p.first && !lenient && !r.polls() && sub.Before.Valid && !sub.Newest.IsZero() {
		p.asked, p.known = sub.Before, sub.Newest
	}
	return p
}

// run begins the proof and returns what ends it. cancel ends the attempt when what
// is shown could not be stored.
func (p *proof) run(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	if p == nil {
		return func() {}
	}
	ctx, done := context.WithCancel(ctx)
	p.end = cancel
	p.r.proof.Store(p)
	go func() {
		defer close(p.ended)
		p.live(ctx)
	}()
	return func() {
		p.r.proof.CompareAndSwap(p, nil)
		done()
		<-p.ended
	}
}

// live waits for the confirmation and for what decides.
func (p *proof) live(ctx context.Context) {
	if !p.await(ctx, 0, func() bool { return p.confirmed }) {
		return
	}
	p.r.deps.Failpoint(FailConfirmed)
	v := undecided
	if p.isPolling() {
		v = p.catchUp(ctx)
	}
	if v == undecided && ctx.Err() == nil {
		v = p.overlap(ctx)
	}
	p.conclude(ctx, v)
}

// await waits until done, which is called with the lock held, or the proof is over,
// at most for d; 0: no bound. It reports false when ctx has ended or it is over.
func (p *proof) await(ctx context.Context, d time.Duration, done func() bool) bool {
	var late <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		late = timer.C
	}
	for {
		p.mu.Lock()
		over, ready := p.over, done()
		p.mu.Unlock()
		if over || ctx.Err() != nil {
			return false
		}
		if ready {
			return true
		}
		select {
		case <-p.wake:
		case <-late:
			return ctx.Err() == nil
		case <-ctx.Done():
			return false
		}
	}
}

// tooFarBack reports whether a server that begins later than asked was asked for the
// position one back: that it does not hold that one is no loss.
func (p *proof) tooFarBack() bool { return p != nil && p.asked != p.from }

// gapBegins returns where a gap begins that the server tells of now: what comes while
// the proof is open does not show that all of it came. otherwise is when none is.
func (p *proof) gapBegins(otherwise time.Time) time.Time {
	if p == nil || otherwise.Before(p.since) {
		return otherwise
	}
	return p.since
}

func (p *proof) isPolling() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.polling
}

// rouse wakes the proof's goroutine.
func (p *proof) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// confirming notes that the delivery is open: the server has said so, or sent something
// that only an open one brings. The lock is held.
func (p *proof) confirming() {
	if p.confirmed {
		return
	}
	p.confirmed = true
	p.r.set(func(s *Status) { s.Proof, s.Reason = event.ProofProving, event.ReasonProving })
	p.rouse()
}

// submit hands over a batch of the open stream, with what look makes of it: while the
// proof is open, the position that comes with it is held.
func (r *Runner) submit(ctx context.Context, b event.Batch, look func(*proof) verdict) error {
	p := r.proof.Load()
	if p == nil {
		return r.in.submit(ctx, b)
	}
	p.mu.Lock()
	defer p.mu.Unlock() // what is held must be handed over before the proof is
	if !p.over {
		fresh := p.witness.IsZero()
		v := look(p)
		if b.Cursor != nil {
			p.held, b.Cursor = b.Cursor, nil
			r.in.gave.Store(true)
		}
		if fresh && !p.witness.IsZero() {
			b.Done = func(_ event.Outcome, err error) {
				if err == nil {
					r.deps.Failpoint(FailFirst)
				}
			}
		}
		p.settle(&b, v)
	}
	return r.in.submit(ctx, b)
}

// settle adds to a batch what a verdict changes. The lock is held.
func (p *proof) settle(b *event.Batch, v verdict) {
	if v == undecided {
		return
	}
	p.over = true
	p.r.proof.CompareAndSwap(p, nil)
	p.rouse()
	word := event.ProofProved
	switch {
	case p.told:
		word = event.ProofPossibleGap
	case v == missing && p.first:
		word = event.ProofNew
	case v == missing:
		word = event.ProofPossibleGap
		b.Records = slices.Insert(b.Records, 0, p.r.in.gap(event.CauseUnproved, p.since, false))
	}
	if p.held != nil && !p.held.Same(p.asked) {
		b.Cursor, b.Newest = p.held, p.witness
	}
	witness, webhook, update, done := p.witness, p.webhook, b.Update, b.Done
	b.Update = func(s *event.Subscription) {
		if update != nil {
			update(s)
		}
		if webhook {
			s.Checkpoint(witness)
		} else {
			s.Proved, s.ProvedAt = event.Cursor{}, time.Time{}
		}
	}
	b.Done = func(o event.Outcome, err error) {
		if done != nil {
			done(o, err)
		}
		if err == nil {
			p.r.deps.Failpoint(FailProved)
		}
	}
	p.r.showProof(word)
}

// conclude stores a verdict that was reached without a note of the stream.
func (p *proof) conclude(ctx context.Context, v verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v == undecided || p.over || ctx.Err() != nil {
		return
	}
	var b event.Batch
	p.settle(&b, v)
	if err := p.r.in.submit(ctx, b); err != nil {
		p.end(err)
	}
}

// showProof sets what the status says of the proof.
func (r *Runner) showProof(word event.Proof) {
	r.set(func(s *Status) {
		s.Proof = word
		if s.Reason == event.ReasonProving {
			s.Reason = ""
		}
	})
}

// mark looks at an active or heartbeat notification, or the answer to a subscribe.
// The lock is held.
func (p *proof) mark(m wire.Mark, heartbeat bool) verdict {
	p.confirming()
	if heartbeat {
		p.beats++
		p.rouse()
	}
	if m.Truncated {
		p.told = true
	}
	if m.Cursor.HasText() {
		p.echoed = m.Cursor.Text == p.asked.Text
		p.moved = p.moved || !p.heard && !p.echoed
	}
	switch {
	case p.polling:
		return undecided
	case p.told:
		return missing
	}
	return p.overlaps(heartbeat)
}

// event looks at an event of the delivery. The lock is held.
func (p *proof) event(id trust.Text, position event.Cursor, replayed bool) verdict {
	p.confirming()
	first := !p.heard
	p.heard = true
	if id == p.known && !id.IsZero() {
		return proved
	}
	if !p.witness.IsZero() && p.known.IsZero() {
		return undecided // a catch-up poll decides
	}
	if p.r.deps.Store.HasEvent(p.r.id, id) {
		if first && !p.polling && p.known.IsZero() {
			return proved // it goes back to what is stored
		}
		return undecided
	}
	if p.witness.IsZero() {
		p.witness = id
		p.rouse()
	}
	return p.passed(position, replayed)
}
