package delivery

import (
	"context"
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
//   - Overlap where it does not (overlap.go, freshpath.go): the delivery is opened one
//     position back, so that an event that is stored must come again before anything new.
//
// The last proved position is kept until then, and every opening begins there
// ([event.Subscription.Opening]). While a proof is open, the stored positions stay
// where they are: those that come are only held, and the commit that proves, or
// records the gap, moves them. So a process that dies at any step begins again where
// this opening did, and nothing has to be undone.
//
// Once an opening is proved, [Runner.proof] is nil: an event costs one look at it.
type proof struct {
	r *Runner
	start
	medium medium
	end    context.CancelCauseFunc // ends the attempt

	wake  chan struct{} // holds a value when there is something to look at
	ended chan struct{} // closed with the proof's goroutine

	mu      latch
	settled bool                    // the verdict is handed to the store, or another proof takes over
	reached verdict                 // of a delivery, for the proof's goroutine to settle
	polling bool                    // a catch-up poll decides
	met     bool                    // the poll has brought the witness
	polled  map[trust.Text]struct{} // what it has brought before there was one
	signs
}

// start is where an opening begins.
type start struct {
	from   event.Cursor  // the last proved position
	asked  event.Cursor  // where the delivery is asked to begin: from, or one position back
	stored event.Cursor  // where it is asked to begin when all else is too old for the server
	known  trust.Text    // the stored event between asked and from; zero: overlap cannot be had
	since  time.Time     // where a gap begins that is recorded
	maxAge time.Duration // of the subscription
	opened time.Time

	// first: there was no life before, so nothing can be missing.
	first bool
	// lenient: what would prove more is too old for the server. A gap is recorded only
	// if something speaks for a loss.
	lenient bool
	// unsure: deliveries moved the stored position past the last proved one, which is too
	// old for the server: what was given up between the two cannot be had.
	unsure bool
}

// signs are what a delivery has shown since its opening. The proof's lock is held.
type signs struct {
	confirmed bool
	told      bool                    // a gap of this opening is in the log
	held      *event.Cursor           // newest position that came; nil: none
	heard     bool                    // an event came
	moved     bool                    // before any event came, another position was told than was asked for
	echoed    bool                    // the last that was told is the position that was asked for
	beats     int                     // heartbeats
	witness   trust.Text              // first new event of this delivery; zero: none came
	elsewhere map[trust.Text]struct{} // events that came since the opening, and not by this delivery
}

// medium is what a proof is of: a stream, a lease on a path that the server knew
// before, or one on a fresh path.
type medium interface {
	// mark and event judge what came. The lock is held.
	mark(heartbeat bool) verdict
	event(e sight) verdict
	// decide waits for what decides where no catch-up poll does.
	decide(ctx context.Context) verdict
	// settle adds to the batch of a verdict how the positions move. The lock is held.
	settle(b *event.Batch, v verdict)
}

// sight is an event of a delivery as a proof sees it.
type sight struct {
	id       trust.Text
	position event.Cursor
	first    bool // of this delivery
	again    bool // it was stored before the opening
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
	unable            // of a catch-up poll: the type cannot be polled
)

// mostRemembered bounds the events that a proof remembers.
const mostRemembered = 4096

// rung is where a proof asks its delivery to begin. What is too old for the server leads to
// the next one.
type rung int

const (
	oneBack    rung = iota // before the last proved position: a known event must come again
	lastProved             // at it
	lastStored             // at the stored one
)

// newProof returns the proof of an opening from what is stored; nil if there is
// nothing to be proved. before is the last sign of life until now. overlap: it may begin
// one position back. refused is how many positions of this opening were too old for the
// server. The medium is for the caller to set.
//
// A webhook, for example, of which c5 is proved, deliveries led to c7, and e5 is an event
// between the position before the proved one and that:
//
//	──── c4 ──e5── c5 ──e6── c6 ──e7── c7 ────►
//	     │         │                   └ refused 2: what was given up before e7 cannot be had (unsure)
//	     │         └ refused 1: nothing comes again that must (lenient)
//	     └ refused 0: e5 must come again
func (r *Runner) newProof(sub *event.Subscription, before time.Time, overlap bool, refused int) *proof {
	p := &proof{
		r: r, polling: r.mayPoll(), wake: make(chan struct{}, 1), ended: make(chan struct{}), mu: make(latch, 1),
		start: start{
			from: sub.Opening(), stored: sub.Cursor, since: r.in.missingSince(sub, before), maxAge: sub.MaxAge,
			opened: r.deps.Now(), first: before.IsZero(), lenient: refused > 0,
		},
	}
	if !p.from.Valid || p.first && !p.polling {
		return nil
	}
	at := lastProved
	if overlap && !p.first && !r.polls() && sub.Before.Valid && !sub.Newest.IsZero() {
		at = oneBack
	}
	switch at + rung(refused) {
	case oneBack:
		p.asked, p.known = sub.Before, sub.Newest
	case lastProved:
		p.asked = p.from
	default: // lastStored
		p.unsure = !p.from.Same(p.stored)
		p.from, p.asked = p.stored, p.stored
	}
	return p
}

// missingSince returns where a gap begins that an opening shows. before is the last sign
// of life until then.
func (in *ingest) missingSince(sub *event.Subscription, before time.Time) time.Time {
	since := in.since(before)
	if sub.Proved.Valid && sub.ProvedAt.Before(since) {
		return sub.ProvedAt
	}
	return since
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
	p.r.deps.Log.Debug("continuity is to be proved", "sub", p.r.id, "from", p.from.Text, "asked", p.asked.Text, "known", p.known, "since", p.since, "polls", p.polling)
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
	defer func() {
		if p.isSettled() {
			p.r.caughtUp = progress{}
		}
	}()
	if !p.await(ctx, 0, func() bool { return p.confirmed }) {
		return
	}
	p.r.deps.Failpoint(FailConfirmed)
	v := p.catchUp(ctx)
	if v == unable {
		p.mu.Lock()
		p.polling = false
		p.mu.Unlock()
		v = p.medium.decide(ctx)
	}
	p.conclude(ctx, v)
	if fresh, ok := p.medium.(*freshPath); ok && p.isSettled() && ctx.Err() == nil {
		p.r.dropOld(ctx, fresh.oldURL)
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
		ready, decided := done(), p.settled || p.confirmed && p.reached != undecided
		p.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return false
		case ready:
			return true
		case decided:
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

// pause is await for a time.
func (p *proof) pause(ctx context.Context, d time.Duration) bool {
	return p.await(ctx, max(d, 1), func() bool { return false })
}

// isOpen reports whether there is something to prove still.
func (p *proof) isOpen() bool { return p != nil && !p.isSettled() }

func (p *proof) isSettled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settled
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
	p.r.showProof(event.ProofProving)
	p.rouse()
}

// hold keeps the position of a batch back. The lock is held.
func (p *proof) hold(b *event.Batch) {
	if b.Cursor != nil {
		p.held, b.Cursor = b.Cursor, nil
		p.r.in.gave.Store(true)
	}
}

// mark looks at an active or heartbeat notification, or the answer to a subscribe.
// The lock is held.
func (p *proof) mark(m wire.Mark, heartbeat bool) verdict {
	p.confirming()
	if heartbeat {
		p.beats++
		p.rouse()
	}
	p.told = p.told || m.Truncated
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
	return p.medium.mark(heartbeat)
}

// event looks at an event of the delivery. The lock is held.
func (p *proof) event(id trust.Text, position event.Cursor) verdict {
	e := sight{id: id, position: position, first: !p.heard}
	p.heard = true
	if id == p.known && !id.IsZero() {
		return proved
	}
	if _, new := p.elsewhere[id]; !new {
		e.again = p.r.deps.Store.HasEvent(p.r.id, id)
	}
	return p.medium.event(e)
}

// witnessed notes a new event of the delivery. The lock is held.
func (p *proof) witnessed(id trust.Text) {
	if p.witness.IsZero() {
		p.witness = id
		_, p.met = p.polled[id]
		p.rouse()
	}
}

// note notes an event that comes while the proof is open, and not by the delivery that it
// is of: that this one is stored when the delivery brings it shows nothing.
func (p *proof) note(id trust.Text) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.r.deps.Store.HasEvent(p.r.id, id) || len(p.elsewhere) >= mostRemembered {
		return
	}
	if p.elsewhere == nil {
		p.elsewhere = map[trust.Text]struct{}{}
	}
	p.elsewhere[id] = struct{}{}
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
	if !p.settled {
		fresh := p.witness.IsZero()
		v := look(p)
		p.hold(&b)
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
	p.settled = true
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
	p.medium.settle(b, v)
	p.r.deps.Log.Debug("continuity is decided", "sub", p.r.id, "is", word, "witness", p.witness)
	done := b.Done
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
	if v == undecided || p.settled || ctx.Err() != nil {
		return
	}
	var b event.Batch
	p.settle(&b, v)
	if err := p.r.in.submit(ctx, b); err != nil {
		p.end(err)
	}
}

// also adds a change of the subscription to a batch.
func also(b *event.Batch, change func(s *event.Subscription)) {
	update := b.Update
	b.Update = func(s *event.Subscription) {
		if update != nil {
			update(s)
		}
		change(s)
	}
}

// showProof sets what the status says of the proof, and the next batch stores.
func (r *Runner) showProof(word event.Proof) {
	r.set(func(s *Status) {
		switch s.Proof = word; {
		case word == event.ProofProving:
			s.Reason = event.ReasonProving
		case s.Reason == event.ReasonProving:
			s.Reason = ""
		}
	})
}

// shownProof returns what the status says of the proof.
func (r *Runner) shownProof() event.Proof {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status.Proof
}

// proofless returns what is known of an opening that needs no proof.
func proofless(before time.Time, position bool) event.Proof {
	if before.IsZero() || position {
		return event.ProofNew
	}
	return event.ProofNoReplay
}
