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
// ([event.Subscription.Opening]). While a proof is open, the stored position stays
// where it is: the cursors that come are only held, and the commit that proves, or
// records the gap, moves the position to the newest of them. So a process that dies at
// any step begins again at the last proved position, and nothing has to be undone. Of a
// stream the two positions are one; of a webhook, whose deliveries may be given up
// behind later ones, the proved one is kept beside the other (checkpoint.go).
//
// Once an opening is proved, [Runner.proof] is nil: an event costs one look at it.
type proof struct {
	r      *Runner
	from   event.Cursor  // the last proved position
	asked  event.Cursor  // where the delivery is asked to begin: from, or one position back
	stored event.Cursor  // where it is asked to begin when all else is too old for the server
	known  trust.Text    // the stored event between asked and from; zero: overlap cannot be had
	since  time.Time     // where a gap begins that is recorded
	maxAge time.Duration // of the subscription
	opened time.Time
	end    context.CancelCauseFunc // ends the attempt

	// first: there was no life before, so nothing can be missing.
	first bool
	// lenient: what would prove more is too old for the server. A gap is recorded only
	// if something speaks for a loss.
	lenient bool
	webhook bool
	fresh   bool   // webhook: on a path that the server did not know before
	oldURL  string // webhook: the address of the path before it; empty: none
	// unlisted: whether the type may be polled was not known when it was opened.
	unlisted bool

	wake  chan struct{} // holds a value when there is something to look at
	ended chan struct{} // closed with the proof's goroutine

	mu        latch
	over      bool
	confirmed bool
	reached   verdict                 // webhook: what an answer or a delivery has shown
	suspect   bool                    // webhook: the server has shown a failure
	told      bool                    // a gap of this opening is in the log
	polling   bool                    // a catch-up poll decides
	held      *event.Cursor           // newest position that was told; nil: none
	heard     bool                    // an event came
	moved     bool                    // before any event came, another position was told than was asked for
	echoed    bool                    // the last that was told is the position that was asked for
	doubtful  bool                    // overlap has failed: it goes on elsewhere
	beats     int                     // heartbeats
	seen      map[trust.Text]struct{} // of a fresh path: new events that it brought
	noOverlap bool                    // the server replays nothing: it is not asked for overlap again
	repeated  trust.Text              // of a fresh path: the stored event that came again
	answer    *event.Cursor           // webhook: the position of the newest answer
	witness   trust.Text              // first new event of this delivery; zero: none came
	met       bool                    // the catch-up poll has brought the witness
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

// errTooFarBack: the server does not hold the position any more that was asked for,
// though it may hold the stored one.
var errTooFarBack = errors.New("the position is too old for the server")

// newProof returns the proof of an opening from what is stored; nil if there is
// nothing to be proved. before is the last sign of life until now. older is how many of
// the positions that it may begin at were too old for the server: one back, the last
// proved one, the stored one.
//
// fresh: a webhook has a path that the server did not know before.
func (r *Runner) newProof(sub *event.Subscription, before time.Time, older int, fresh bool) *proof {
	p := &proof{
		r: r, from: sub.Opening(), stored: sub.Cursor, since: r.in.since(before), maxAge: sub.MaxAge, opened: r.deps.Now(),
		first: before.IsZero(), lenient: older > 0, webhook: r.Mode() == event.ModeWebhook,
		polling: r.mayPoll(), unlisted: !r.knowsModes(), fresh: fresh,
		wake: make(chan struct{}, 1), ended: make(chan struct{}), mu: make(latch, 1),
	}
	if !p.from.Valid || p.first && !p.polling {
		return nil
	}
	if sub.Proved.Valid && sub.ProvedAt.Before(p.since) {
		p.since = sub.ProvedAt
	}
	overlap := !p.first && !r.polls() && sub.Before.Valid && !sub.Newest.IsZero()
	if !overlap || p.fresh && !p.from.Same(p.stored) {
		older++ // one back is not known, or events since the proved position show the same
	}
	switch {
	case p.webhook && !p.fresh:
		p.asked, p.suspect = p.stored, r.suspect
		r.suspect = false
	case older == 0:
		p.asked, p.known = sub.Before, sub.Newest
	case older == 1:
		p.asked = p.from
	default:
		p.from, p.asked, p.lenient = p.stored, p.stored, true
	}
	if p.fresh {
		p.suspect, r.suspect = r.suspect, false
		p.oldURL, p.seen = sub.Hook.OldURL, map[trust.Text]struct{}{}
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
	if p.mayCatchUp(ctx) {
		v = p.catchUp(ctx)
	}
	if v == undecided && ctx.Err() == nil {
		v = p.overlap(ctx)
	}
	p.conclude(ctx, v)
	if p.fresh && p.isOver() && ctx.Err() == nil {
		p.r.dropOld(ctx, p.oldURL)
	}
}

// await waits until done, which is called with the lock held, at most for d; 0: no
// bound. It reports false when ctx has ended or the proof is decided without it.
func (p *proof) await(ctx context.Context, d time.Duration, done func() bool) bool {
	var late <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		late = timer.C
	}
	for {
		p.mu.Lock()
		ready, over := done(), p.over || p.confirmed && p.reached != undecided
		p.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return false
		case ready:
			return true
		case over:
			return false
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

// isOpen reports whether there is something to prove still.
func (p *proof) isOpen() bool { return p != nil && !p.isOver() }

// proofless returns what is known of an opening that needs no proof.
func proofless(before time.Time, position bool) event.Proof {
	if before.IsZero() || position {
		return event.ProofNew
	}
	return event.ProofNoReplay
}

// canGoOn reports whether a server that does not hold the position asked for is to be
// asked for a later one: that it does not hold this one is no loss.
func (p *proof) canGoOn() bool { return p != nil && !p.asked.Same(p.stored) }

// gapBegins returns where a gap begins that the server tells of now: what comes while
// the proof is open does not show that all of it came. otherwise is when none is.
func (p *proof) gapBegins(otherwise time.Time) time.Time {
	if p == nil || otherwise.Before(p.since) {
		return otherwise
	}
	return p.since
}

// pause is await for a time.
func (p *proof) pause(ctx context.Context, d time.Duration) bool {
	return p.await(ctx, max(d, 1), func() bool { return false })
}

// mayCatchUp reports whether the type may be polled. It waits for some time until the
// types of the server are known.
func (p *proof) mayCatchUp(ctx context.Context) bool {
	for waited := time.Duration(0); p.isPolling() && !p.r.knowsModes() && waited < p.r.deps.Timing.ProveWithin; waited += listPause {
		if !p.pause(ctx, listPause) {
			return false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.polling = p.polling && p.r.mayPoll()
	return p.polling
}

func (p *proof) isPolling() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.polling
}

// listPause is how often it is looked whether the types of the server are known.
const listPause = 250 * time.Millisecond

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
	switch {
	case p.fresh:
		b.Cursor = p.reachedBy(v)
	case p.held != nil && !p.held.Same(p.asked):
		b.Cursor, b.Newest = p.held, p.witness
	}
	behind, webhook, update, done := p.witness, p.webhook, b.Update, b.Done
	if !p.repeated.IsZero() {
		behind = p.repeated
	}
	if webhook && behind.IsZero() {
		behind = p.r.takeNewest()
	}
	// Else the proved position stays, with an event behind it, or with the replay of all
	// that may be missing before the stored one, which is under way.
	moves := v == missing || p.polling || !behind.IsZero() && (!p.fresh || p.from.Same(p.stored))
	graceEnds := p.r.deps.Now().Add(oldGrace).UTC()
	noOverlap := p.noOverlap
	b.Update = func(s *event.Subscription) {
		if update != nil {
			update(s)
		}
		if webhook {
			if moves {
				s.Checkpoint(behind)
			}
			if s.Hook.OldPath != "" && s.Hook.OldUntil.IsZero() {
				s.Hook.OldUntil = graceEnds
			}
		} else {
			s.Proved, s.ProvedAt = event.Cursor{}, time.Time{}
		}
		if noOverlap {
			s.Before, s.Newest = event.Cursor{}, trust.Text{}
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
	case p.told && !p.r.polls():
		p.polling = false
		return missing
	case p.polling:
		return undecided
	}
	return p.overlaps(heartbeat)
}

// event looks at an event of the delivery. The lock is held.
func (p *proof) event(id trust.Text, position event.Cursor, replayed bool) verdict {
	if !p.webhook { // a delivery may be ahead of the answer
		p.confirming()
	}
	first := !p.heard
	p.heard = true
	if id == p.known && !id.IsZero() {
		return proved
	}
	if p.fresh && p.known.IsZero() {
		return p.comesAgain(id)
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
