package delivery

import (
	"context"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// proof finds out, for one opening of a stream or a lease, whether events are missing since
// the last proved position. What a server says of positions (an echoed or an answered
// cursor, truncated: false) proves nothing; only events do.
//
//	opening ──► confirmed ──► proving ──► proved
//	                             └──────► possible gap, in the log
//
// Two ways lead to a proof, and the first that succeeds counts:
//
//   - A catch-up poll (catchup.go) where the type offers poll: once the delivery is
//     confirmed, the host polls for everything since the last proved position. That is a
//     proof when the poll brings the first new event of the delivery too, or when neither
//     brings anything.
//   - Overlap where it does not (overlap.go, newpath.go): the delivery is opened one
//     position further back, so that a stored event must come again before anything new.
//
// The last proved position is kept until then, and every opening begins there
// ([event.Subscription.Opening]). While a proof is open the stored positions do not move:
// cursors that come are held, and the commit that proves the opening, or records its gap,
// moves the positions. So a process that dies at any step begins again where this opening
// did, and nothing has to be undone.
//
// Once an opening is proved, [Runner.proof] is nil, so that a later event costs one look.
type proof struct {
	r *Runner
	opening
	method proofMethod
	end    context.CancelCauseFunc // ends the attempt

	wake  chan struct{} // holds a value when there is something to look at
	ended chan struct{} // closed with the proof's goroutine

	mu      chanLock
	settled bool                    // the verdict is handed to the store, or another proof takes over
	reached verdict                 // reached by a webhook delivery; the proof's goroutine settles it
	byPoll  bool                    // a catch-up poll decides
	matched bool                    // the poll has brought firstNew
	polled  map[trust.Text]struct{} // what the poll has brought before there was a firstNew
	observed
}

// opening is where an opening begins.
type opening struct {
	from     event.Cursor  // the last proved position
	asked    event.Cursor  // where the delivery is asked to begin: from, or one position back
	stored   event.Cursor  // the stored position, which is asked for when those before it are too old for the server
	expected trust.Text    // the stored event between asked and from, which must come again; zero: none
	gapFrom  time.Time     // where a gap of this opening begins
	maxAge   time.Duration // of the subscription
	opened   time.Time

	// firstOpening: the subscription never ran before, so nothing can be missing.
	firstOpening bool
	// lenient: the position that would prove more is too old for the server. A gap is then
	// recorded only if there is a sign of a loss.
	lenient bool
	// unsure: the last proved position is too old for the server, and deliveries moved the
	// stored position past it. Events that the server gave up between the two are lost.
	unsure bool
}

// observed is what a delivery has shown since its opening. The proof's lock guards it.
type observed struct {
	confirmed bool
	gapNoted  bool                    // a gap of this opening is in the log
	held      *event.Cursor           // newest cursor that came, not stored yet; nil: none
	eventCame bool                    // the delivery brought an event, new or stored before
	moved     bool                    // before any event, a cursor came that is not the one that was asked for
	echoed    bool                    // the newest cursor is the one that was asked for
	beats     int                     // heartbeats
	firstNew  trust.Text              // first event of this delivery that was not stored before; zero: none yet
	elsewhere map[trust.Text]struct{} // events that came since the opening by another way
}

// proofMethod is how an opening is proved: [streamOverlap] for a stream, [knownPath] for a
// lease on a path that the server knew before, [newPath] for one on a new path.
type proofMethod interface {
	// mark judges a confirmation or heartbeat, event an event. The lock is held.
	mark(isHeartbeat bool) verdict
	event(e seenEvent) verdict
	// decide waits for a verdict where no catch-up poll gives one.
	decide(ctx context.Context) verdict
	// settle adds to the batch of a verdict how the positions move. The lock is held.
	settle(b *event.Batch, v verdict)
}

// seenEvent is an event of a delivery.
type seenEvent struct {
	id       trust.Text
	position event.Cursor
	first    bool // of this delivery
	again    bool // it was stored before the opening
}

// chanLock is a mutex. A goroutine may hold it while it waits for room in the store, and one
// that waits for a channel is idle to testing/synctest, which one that waits for a
// sync.Mutex is not.
type chanLock chan struct{}

func (l chanLock) Lock()   { l <- struct{}{} }
func (l chanLock) Unlock() { <-l }

// verdict is what becomes of a proof.
type verdict int

const (
	undecided verdict = iota
	proved            // nothing is missing
	missing           // events may be missing
	unable            // of a catch-up poll: the type cannot be polled
)

// maxRemembered bounds the events that a proof remembers.
const maxRemembered = 4096

// startPoint is the position at which a delivery is asked to begin. When one is too old for
// the server, the next is tried.
type startPoint int

const (
	oneBack    startPoint = iota // the position before the last proved one
	lastProved                   // the last proved position
	lastStored                   // the stored position
)

// newProof returns the proof of an opening of sub; nil if there is nothing to prove. before is the
// last sign of life until now. With overlap the opening may begin one position back. refused is how
// many positions of this opening were too old for the server. The caller sets the method.
//
// For example, of a webhook c5 is the last proved position, deliveries moved the stored one
// to c7, and e5 is a stored event between c4 and c5:
//
//	──── c4 ──e5── c5 ──e6── c6 ──e7── c7 ────►
//	     │         │                   └ refused 2: what the server gave up before e7 is lost (unsure)
//	     │         └ refused 1: no stored event has to come again (lenient)
//	     └ refused 0: e5 must come again
func (r *Runner) newProof(sub *event.Subscription, before time.Time, overlap bool, refused int) *proof {
	p := &proof{
		r: r, byPoll: r.mayPoll(), wake: make(chan struct{}, 1), ended: make(chan struct{}), mu: make(chanLock, 1),
		opening: opening{
			from: sub.Opening(), stored: sub.Cursor, gapFrom: r.in.openingGapStart(sub, before), maxAge: sub.MaxAge,
			opened: r.deps.Now(), firstOpening: before.IsZero(), lenient: refused > 0,
		},
	}
	if !p.from.Valid || p.firstOpening && !p.byPoll {
		return nil
	}
	at := lastProved
	if overlap && !p.firstOpening && !r.polls() && sub.Before.Valid && !sub.Newest.IsZero() {
		at = oneBack
	}
	switch at + startPoint(refused) {
	case oneBack:
		p.asked, p.expected = sub.Before, sub.Newest
	case lastProved:
		p.asked = p.from
	default: // lastStored
		p.unsure = !p.from.Same(p.stored)
		p.from, p.asked = p.stored, p.stored
	}
	return p
}

// openingGapStart returns the beginning of a gap that is found at an opening, where before is
// the last sign of life until then.
func (in *ingest) openingGapStart(sub *event.Subscription, before time.Time) time.Time {
	since := in.gapStart(before)
	if sub.Proved.Valid && sub.ProvedAt.Before(since) {
		return sub.ProvedAt
	}
	return since
}

// start begins the proof and returns the function that ends it and waits for that. cancel
// ends the attempt when a verdict could not be stored.
func (p *proof) start(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	if p == nil {
		return func() {}
	}
	ctx, done := context.WithCancel(ctx)
	p.end = cancel
	p.r.proof.Store(p)
	p.r.deps.Log.Debug("continuity is to be proved", "sub", p.r.id, "from", p.from.Text, "asked", p.asked.Text, "known", p.expected, "since", p.gapFrom, "polls", p.byPoll)
	go func() {
		defer close(p.ended)
		p.decideAndConclude(ctx)
	}()
	return func() {
		p.r.proof.CompareAndSwap(p, nil)
		done()
		<-p.ended
	}
}

// decideAndConclude waits for the confirmation, finds the verdict and stores it.
func (p *proof) decideAndConclude(ctx context.Context) {
	defer func() {
		if p.isSettled() {
			p.r.catchUpDone = catchUpProgress{}
		}
	}()
	if !p.await(ctx, 0, func() bool { return p.confirmed }) {
		return
	}
	p.r.deps.Failpoint(FailConfirmed)
	v := p.catchUp(ctx)
	if v == unable {
		p.mu.Lock()
		p.byPoll = false
		p.mu.Unlock()
		v = p.method.decide(ctx)
	}
	if _, onNewPath := p.method.(*newPath); !onNewPath {
		p.conclude(ctx, v)
		return
	}
	p.mu.Lock()
	p.reach(v)
	p.mu.Unlock()
	p.r.Nudge() // the lease's goroutine concludes, as the hook changes
}

// await waits until done is true, at most for d (0: without a bound). done is called with the
// lock held. It reports false when ctx has ended or the proof was decided meanwhile.
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

// pause waits for d, and reports false like await.
func (p *proof) pause(ctx context.Context, d time.Duration) bool {
	return p.await(ctx, max(d, 1), func() bool { return false })
}

// isOpen reports whether the proof has no verdict yet. It is false for nil.
func (p *proof) isOpen() bool { return p != nil && !p.isSettled() }

func (p *proof) isSettled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settled
}

// canStartLater reports whether a later position can be asked for when this one is too old
// for the server.
func (p *proof) canStartLater() bool { return p != nil && !p.asked.Same(p.stored) }

// gapStart returns the beginning of a gap that the server reports now: that of the open proof,
// as what came since the opening is not proved, or otherwise if that is earlier or there is
// no proof.
func (p *proof) gapStart(otherwise time.Time) time.Time {
	if p == nil || otherwise.Before(p.gapFrom) {
		return otherwise
	}
	return p.gapFrom
}

// signal wakes the proof's goroutine, which waits in await.
func (p *proof) signal() { signal(p.wake) }

// confirm notes that the delivery is open: the server said so, or sent an event. The lock is
// held.
func (p *proof) confirm() {
	if p.confirmed {
		return
	}
	p.confirmed = true
	p.r.setProof(event.ProofProving)
	p.signal()
}

// holdCursor takes the cursor out of a batch and keeps it for the verdict. The lock is held.
func (p *proof) holdCursor(b *event.Batch) {
	if b.Cursor != nil {
		p.held, b.Cursor = b.Cursor, nil
		p.r.in.gaveCursor.Store(true)
	}
}

// mark judges a confirmation or heartbeat of a stream, or the answer to a subscribe. The
// lock is held.
func (p *proof) mark(m wire.Mark, isHeartbeat bool) verdict {
	p.confirm()
	if isHeartbeat {
		p.beats++
		p.signal()
	}
	p.gapNoted = p.gapNoted || m.Truncated
	if m.Cursor.HasText() {
		p.echoed = m.Cursor.Text == p.asked.Text
		p.moved = p.moved || !p.eventCame && !p.echoed
	}
	switch {
	case p.gapNoted && !p.r.polls():
		p.byPoll = false
		return missing
	case p.byPoll:
		return undecided
	}
	return p.method.mark(isHeartbeat)
}

// event judges an event of the delivery. The lock is held.
func (p *proof) event(id trust.Text, position event.Cursor) verdict {
	e := seenEvent{id: id, position: position, first: !p.eventCame}
	p.eventCame = true
	if id == p.expected && !id.IsZero() {
		return proved
	}
	if _, new := p.elsewhere[id]; !new {
		e.again = p.r.deps.Store.HasEvent(p.r.id, id)
	}
	return p.method.event(e)
}

// noteNew notes a new event of the delivery. The lock is held.
func (p *proof) noteNew(id trust.Text) {
	if p.firstNew.IsZero() {
		p.firstNew = id
		_, p.matched = p.polled[id]
		p.signal()
	}
}

// noteElsewhere notes an event that comes by another way than the delivery of this proof. When
// the delivery brings it too, that it is stored by then must not count as overlap.
func (p *proof) noteElsewhere(id trust.Text) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.r.deps.Store.HasEvent(p.r.id, id) || len(p.elsewhere) >= maxRemembered {
		return
	}
	if p.elsewhere == nil {
		p.elsewhere = map[trust.Text]struct{}{}
	}
	p.elsewhere[id] = struct{}{}
}

// submit hands a batch of the open stream to the store. While a proof is open, judge returns
// what the batch shows, and its cursor is held.
func (r *Runner) submit(ctx context.Context, b event.Batch, judge func(*proof) verdict) error {
	p := r.proof.Load()
	if p == nil {
		return r.in.submit(ctx, b)
	}
	p.mu.Lock()
	defer p.mu.Unlock() // not before this batch is queued: it must be ahead of the verdict's
	if !p.settled {
		hadNone := p.firstNew.IsZero()
		v := judge(p)
		p.holdCursor(&b)
		if hadNone && !p.firstNew.IsZero() {
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

// settle ends the proof with a verdict, and adds to a batch what that changes: the positions,
// and the gap if there is one. The lock is held.
func (p *proof) settle(b *event.Batch, v verdict) {
	if v == undecided {
		return
	}
	p.settled = true
	p.r.proof.CompareAndSwap(p, nil)
	p.signal()
	word := event.ProofProved
	switch {
	case p.gapNoted:
		word = event.ProofPossibleGap
	case v == missing && p.firstOpening:
		word = event.ProofNew
	case v == missing:
		word = event.ProofPossibleGap
		b.Records = slices.Insert(b.Records, 0, p.r.in.gapRecord(event.CauseUnproved, p.gapFrom, false))
	}
	p.method.settle(b, v)
	p.r.deps.Log.Debug("continuity is decided", "sub", p.r.id, "is", word, "witness", p.firstNew)
	done := b.Done
	b.Done = func(o event.Outcome, err error) {
		if done != nil {
			done(o, err)
		}
		if err == nil {
			p.r.deps.Failpoint(FailProved)
		}
	}
	p.r.setProof(word)
}

// conclude stores a verdict in a batch of its own.
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

// addUpdate adds a change of the subscription to a batch.
func addUpdate(b *event.Batch, change func(s *event.Subscription)) {
	update := b.Update
	b.Update = func(s *event.Subscription) {
		if update != nil {
			update(s)
		}
		change(s)
	}
}

// setProof sets the proof of the status, which the next batch stores too.
func (r *Runner) setProof(word event.Proof) {
	r.set(func(s *Status) {
		switch s.Proof = word; {
		case word == event.ProofProving:
			s.Reason = event.ReasonProving
		case s.Reason == event.ReasonProving:
			s.Reason = ""
		}
	})
}

// proofShown returns the proof of the status.
func (r *Runner) proofShown() event.Proof {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status.Proof
}

// proofUnneeded returns the proof to show for an opening that has nothing to prove.
func proofUnneeded(before time.Time, position bool) event.Proof {
	if before.IsZero() || position {
		return event.ProofNew
	}
	return event.ProofNoReplay
}
