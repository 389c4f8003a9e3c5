package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// verifyWindow is how long after a subscribe was begun on a path a challenge there is answered
// (contracts, receiver).
const verifyWindow = 60 * time.Second

// leastLease is the least pause before a refresh, however short a lease is.
const leastLease = 500 * time.Millisecond

// webhook is an attempt in webhook mode: it subscribes, refreshes the lease after 70 to 80 %
// of its time, and returns when that fails or the server ends the subscription.
func (r *Runner) webhook(ctx context.Context) error {
	if err := r.awaitKey(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.in.onFailure(func(err error) { cancel(err) })
	defer r.in.onFailure(func(error) {})
	if final := r.setTerminate(cancel); final != nil {
		return final
	}
	defer func() {
		// A termination that came too late to end this attempt ends the next one.
		final := r.setTerminate(func(error) {})
		if final != nil && final != context.Cause(ctx) {
			r.terminated(final)
		}
	}()

	l := openLease{r: r, cancel: cancel, opening: true}
	defer l.endProof()
	for ; ; l.opening = false {
		wait, err := l.refresh(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		r.resolveAsked(nil)
		r.set(func(s *Status) { s.NextTry = r.deps.Now().Add(wait) })
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-r.nudged:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
	}
}

// awaitKey waits until the store can read and store secrets.
func (r *Runner) awaitKey(ctx context.Context) error {
	until, why := r.deps.Locked()
	if why == nil {
		return nil
	}
	r.set(func(s *Status) {
		s.State, s.Reason, s.Error, s.NextTry = event.StateBackoff, event.ReasonLocked, trust.OfError(why), time.Time{}
	})
	r.record(ctx, event.StateBackoff, "it waits for its secret", why)
	select {
	case <-until:
		r.set(func(s *Status) { s.State, s.Reason, s.Error = event.StateStarting, "", trust.Text{} })
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// setTerminate sets the function that ends the attempt under way. It returns the error of a
// termination that no attempt has taken yet; nil: there is none.
func (r *Runner) setTerminate(end context.CancelCauseFunc) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	final := r.finalErr
	r.finalErr, r.terminate = nil, end
	return final
}

// terminated ends the attempt under way, or else the next one, with err.
func (r *Runner) terminated(err error) {
	r.mu.Lock()
	end := r.terminate
	r.finalErr = err
	r.mu.Unlock()
	end(err)
}

// openLease is the lease that an attempt holds, with its proof.
type openLease struct {
	r       *Runner
	cancel  context.CancelCauseFunc // ends the attempt
	opening bool                    // nothing was granted in this attempt

	sub event.Subscription // as it was stored before the server was asked

	proof *proof // nil: there is nothing to prove
	end   func() // ends the proof and waits for it; nil: there was none
}

// refresh subscribes or refreshes once, with a proof where one is due, and returns when to
// do it again.
func (l *openLease) refresh(ctx context.Context) (time.Duration, error) {
	r := l.r
	err := l.concludeNewPath(ctx)
	if err != nil {
		return 0, err
	}
	r.noteNew(trust.Text{})
	if l.sub, err = r.deps.Store.Subscription(r.id); err != nil {
		return 0, fmt.Errorf("subscription %s: %w", r.id, err)
	}
	if err := r.checkpoint(ctx, &l.sub); err != nil {
		return 0, err
	}
	if l.sub, err = r.prepareHook(ctx, l.sub); err != nil {
		return 0, err
	}
	unproved := !l.sub.Opening().Valid || l.sub.LastSeen.IsZero() // no position of before
	if !l.proof.isOpen() && (l.opening || r.isDoubted()) && (unproved || !r.canReplay()) {
		l.startProof(ctx, r.newKnownPathProof(&l.sub))
	}
	wait, err := l.subscribe(ctx, l.requested())
	if err != nil {
		return 0, err
	}
	return min(wait, l.replay(ctx, wait)), nil
}

// startProof ends the previous proof and begins p; nil: there is nothing to prove.
func (l *openLease) startProof(ctx context.Context, p *proof) {
	l.dropProof()
	if l.proof = p; p == nil {
		l.r.settleDoubts(l.r.doubts.raised.Load())
	}
	l.end = p.start(ctx, l.cancel)
}

// endProof ends the proof with the attempt. A proof without a verdict is due again.
func (l *openLease) endProof() {
	p := l.proof
	l.dropProof()
	if p.isOpen() {
		l.r.raiseDoubt(false)
	}
}

// dropProof ends the proof, if there is one.
func (l *openLease) dropProof() {
	if l.end != nil {
		l.end()
	}
	l.end, l.proof = nil, nil
}

// requested returns the position that the server is asked to go on from.
func (l *openLease) requested() event.Cursor {
	if !l.proof.isOpen() || l.r.isProvingPath() {
		return l.sub.Cursor
	}
	return l.proof.position()
}

// errTooFarBack: the server no longer holds the position that was asked for, and may hold a
// later one.
var errTooFarBack = errors.New("the position is too old for the server")

// subscribe sends events/subscribe for the present path and takes the answer. It returns the time
// to the next one.
func (l *openLease) subscribe(ctx context.Context, at event.Cursor) (time.Duration, error) {
	r, sub := l.r, &l.sub
	r.mu.Lock()
	r.grantStored, r.earlyCursor = !sub.Cursor.Valid && sub.LastSeen.IsZero(), nil
	r.mu.Unlock()
	r.set(func(s *Status) {
		if l.opening && s.State != event.StateBackoff {
			s.State = event.StateVerifying
		} else if s.State == event.StateLive {
			s.State = event.StateRefreshing
		}
	})
	res, err := l.ask(ctx, sub.Hook.URL, at)
	if err != nil {
		return l.refused(ctx, err)
	}
	return l.granted(ctx, res, at)
}

// ask sends events/subscribe for an address.
func (l *openLease) ask(ctx context.Context, url string, at event.Cursor) (wire.SubscribeResult, error) {
	r, sub := l.r, &l.sub
	r.mu.Lock()
	r.challengeUntil = r.deps.Now().Add(verifyWindow)
	r.mu.Unlock()
	if l.proof.isOpen() {
		r.deps.Failpoint(FailAsked)
	}
	res, err := r.deps.Source.Subscribe(ctx, wire.SubscribeRequest{
		Name: r.key.Type, Arguments: r.key.Args, At: wirePosition(sub, at),
		URL: url, Secret: sub.Hook.Secret.Reveal(), TTL: r.deps.TTL, Held: r.heldServerID(*sub),
	})
	if err == nil {
		r.deps.Failpoint(FailSubscribed)
	}
	return res, err
}

// refused handles a refusal of the subscribe: it subscribes again if there is another way.
func (l *openLease) refused(ctx context.Context, err error) (time.Duration, error) {
	r := l.r
	if !cursorRefused(err) || !l.sub.Cursor.Valid {
		return 0, err
	}
	l.dropProof()
	if err := r.in.dropCursor(ctx); err != nil {
		return 0, err
	}
	r.settleDoubts(r.doubts.raised.Load()) // by the gap
	l.sub.Reset(event.Cursor{})
	l.sub.LastSeen, r.lastSeenBefore = time.Time{}, time.Time{}
	return l.subscribe(ctx, event.Cursor{})
}

// granted takes the answer to a subscribe at the position asked, and returns the time to the next
// one.
func (l *openLease) granted(ctx context.Context, res wire.SubscribeResult, asked event.Cursor) (time.Duration, error) {
	r, sub, p, now := l.r, &l.sub, l.proof, l.r.deps.Now()
	before := r.lastSeen()
	lasted := l.judge(res, asked, before)
	lease := newLease(res, now)
	if res.ID.IsZero() {
		lease.ServerID = sub.Lease.ServerID
	}
	b := event.Batch{Records: l.gapRecords(res, lasted, before, now), Update: func(s *event.Subscription) {
		delivered := lasted && s.Lease.Delivered
		s.Lease = lease
		s.Lease.Delivered = delivered
		keepGiven(&s.Hook, res.Secret, now)
	}}
	open := p.isOpen() // then the cursor of the answer is held
	if !open {
		l.settleWithoutProof(&b, res, before)
	}
	if !sub.Cursor.Valid && before.IsZero() {
		r.in.watermark.advance(now) // from now
	}
	if l.opening {
		r.opened(ctx, now, sub.Cursor.Valid && !before.IsZero(), event.StateLive)
		if !open && (before.IsZero() || !sub.Cursor.Valid) {
			r.setProof(proofUnneeded(before, sub.Cursor.Valid))
		}
	}
	r.in.noteSeen(now)
	if _, err := r.in.commit(ctx, b); err != nil {
		return 0, err
	}
	r.mu.Lock()
	r.grantStored = true
	r.mu.Unlock()
	if !r.isProvingPath() {
		p.answered(res, lease)
	}
	wait := r.renewal(res, lease, now)
	l.show(ctx, lease, now, wait)
	if isSuspended(lease.Status) && r.failsOver() {
		return 0, fmt.Errorf("%w: %v", errSuspended, lease.Status.LastError)
	}
	if r.isDoubted() && !p.isOpen() && !r.canReplay() {
		wait = min(wait, leastLease) // the next answer is that of a proof
	}
	return wait, nil
}

// newLease returns the lease of an answer that came now.
func newLease(res wire.SubscribeResult, now time.Time) event.Lease {
	return event.Lease{ServerID: res.ID, GrantedAt: now.UTC(), RefreshBefore: res.RefreshBefore, Status: status(res.Status)}
}

// gapRecords returns the gap that an answer shows, if any. lasted says that the lease lasted, before
// is the last sign of life until then. A server that vouches has missed nothing, also without replay.
func (l *openLease) gapRecords(res wire.SubscribeResult, lasted bool, before, now time.Time) []event.Record {
	r, sub := l.r, &l.sub
	switch {
	case res.Truncated && l.proof.isOpen():
		return []event.Record{r.in.gapRecord(event.CauseTruncated, l.proof.gapFrom, true)}
	case res.Truncated:
		return []event.Record{r.in.gapRecord(event.CauseTruncated, r.in.openingGapStart(sub, before), true)}
	case sub.Cursor.Valid || before.IsZero():
		return nil // the server replays from the position, or the subscription never ran before
	case res.Anew, lapsed(sub, now) && r.in.missedCause() != event.CausePaused:
		return []event.Record{r.in.gapRecord(event.CauseLapsed, before, false)}
	case l.opening && !(lasted && status(res.Status).Failure() == (event.Failure{}) && vouches(sub, status(res.Status))):
		return []event.Record{r.in.gapRecord(r.in.missedCause(), before, false)}
	}
	return nil
}

// settleWithoutProof adds to an answer's batch how the positions move when no proof is open. before
// is the last sign of life until then.
func (l *openLease) settleWithoutProof(b *event.Batch, res wire.SubscribeResult, before time.Time) {
	r, sub := l.r, l.sub
	r.replaying.Store(false)
	b.Cursor = r.in.position(res.Cursor)
	if early := r.takeEarlyCursor(); early != nil && !res.Truncated {
		b.Cursor = early
	}
	failure := status(res.Status).Failure()
	settled := granted{failure: failure, doubts: r.doubts.raised.Load()}
	switch {
	case res.Truncated: // the gap covers everything until now
		r.settleHook(b, b.Cursor, trust.Text{}, settled)
		return
	case isSuspended(status(res.Status)), r.isDoubted() && (r.isBroken() || !r.canReplay()):
		return
	case r.isDoubted():
		to := b.Cursor
		if !vouches(&sub, status(res.Status)) {
			b.Records = append(b.Records, r.in.gapRecord(event.CauseUnproved, r.in.openingGapStart(&sub, before), false))
			r.setProof(event.ProofPossibleGap)
		} else if r.setProof(event.ProofProved); !r.mayLeave(&sub) {
			to = nil
		}
		r.settleHook(b, to, trust.Text{}, settled)
		return
	}
	moves := sub.Cursor.Valid && !sub.Cursor.Same(sub.Proved) && r.mayLeave(&sub)
	addUpdate(b, func(s *event.Subscription) {
		if s.Settled = failure; moves {
			s.Checkpoint(sub.Cursor, sub.CompleteUntil, sub.After, r.takeNew())
		} else if !s.Proved.Valid {
			s.Checkpoint(s.Cursor, s.CompleteUntil, trust.Text{}, trust.Text{})
		}
	})
}

// mayLeave reports whether the checkpoint may move though no event is known between it and the new
// one: a later proof needs one behind its position, unless it is a poll.
func (r *Runner) mayLeave(sub *event.Subscription) bool {
	return r.polls() || sub.Before.Valid || !sub.After.IsZero()
}

// mostThrottled bounds the time for which a server that delivers counts as throttled.
const mostThrottled = time.Hour

// show sets the status by what was granted, and records when the server stops delivering or
// delivers again. A server that throttles and names no time is asked again after wait.
func (l *openLease) show(ctx context.Context, lease event.Lease, now time.Time, wait time.Duration) {
	r, state, throttled := l.r, event.StateLive, time.Time{}
	if d := lease.Status; d != nil && d.Throttled {
		throttled = now.Add(cmp.Or(min(d.RetryAfter, mostThrottled), wait))
	}
	if isSuspended(lease.Status) {
		state = event.StateSuspended
	}
	r.set(func(s *Status) { s.State, s.Lease, s.Opened = state, lease, now })
	r.throttled(throttled)
	switch was := !l.opening && isSuspended(l.sub.Lease.Status); {
	case isSuspended(lease.Status) && !was:
		r.record(ctx, state, fmt.Sprintf("the server stopped delivering: %v", lease.Status.LastError), nil)
	case was && !isSuspended(lease.Status):
		r.record(ctx, state, "the server delivers again", nil)
	}
}

// renewal returns the time to the next refresh.
func (r *Runner) renewal(res wire.SubscribeResult, lease event.Lease, now time.Time) time.Duration {
	t := r.deps.Timing
	share := 0.7 + 0.1*r.deps.Jitter()
	part := func(d time.Duration) time.Duration { return time.Duration(share * float64(d)) }
	var wait time.Duration
	switch left := res.RefreshBefore.Sub(now); {
	case !res.Expires:
		wait = part(t.LeaseCheck)
	case res.RefreshBefore.IsZero() || left <= 0:
		wait = t.LeaseFloor
	default:
		wait = max(part(left), leastLease)
	}
	if s := lease.Status; s != nil && !s.Active {
		wait = min(wait, max(s.RetryAfter, t.LeaseFloor))
	}
	return wait
}

func isSuspended(s *event.DeliveryStatus) bool { return s != nil && !s.Active }

// status returns a server's status of its deliveries as it is stored; nil stays nil.
func status(s *wire.DeliveryStatus) *event.DeliveryStatus {
	if s == nil {
		return nil
	}
	return &event.DeliveryStatus{
		Active: s.Active, LastDeliveryAt: s.LastDeliveryAt, LastError: s.LastError,
		FailedSince: s.FailedSince, Throttled: s.Throttled, RetryAfter: s.RetryAfter,
	}
}

// InFlight reports whether a verification of the callback may be answered: a subscribe was
// begun within the last 60 s.
func (r *Runner) InFlight() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.deps.Now().Before(r.challengeUntil)
}
