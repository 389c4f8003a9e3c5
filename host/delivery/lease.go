package delivery

import (
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

	sub      event.Subscription // as it was stored before the server was asked
	firstNew trust.Text         // the first new event since the checkpoint then; zero: none

	proof *proof // nil: there is nothing to prove
	end   func() // ends the proof and waits for it; nil: there was none
}

// refresh subscribes or refreshes once, with a proof where one is due, and returns when to
// do it again.
func (l *openLease) refresh(ctx context.Context) (time.Duration, error) {
	r := l.r
	l.firstNew = r.beforeAsking()
	var err error
	if l.sub, err = r.deps.Store.Subscription(r.id); err != nil {
		return 0, fmt.Errorf("subscription %s: %w", r.id, err)
	}
	if err := r.checkpoint(ctx, &l.sub); err != nil {
		return 0, err
	}
	due, fresh := !l.proof.isOpen() && (l.opening || r.isDoubted()), r.canBeFresh()
	if due && fresh && r.wantsFresh(&l.sub, l.opening) {
		return l.openFreshPath(ctx)
	}
	if l.sub, err = r.prepareHook(ctx, l.sub, false); err != nil {
		return 0, err
	}
	if due && (!fresh || !l.sub.Opening().Valid || l.sub.LastSeen.IsZero()) {
		l.end = l.startProof(ctx, r.newKnownPathProof(&l.sub))
	}
	wait, err := l.subscribe(ctx)
	return l.untilProof(wait), err
}

// openFreshPath subscribes on a fresh path, and again on another one from a later position
// while the position that was asked for is too old for the server.
func (l *openLease) openFreshPath(ctx context.Context) (wait time.Duration, err error) {
	defer l.r.pollRefused.Store(false) // the next proof may try to poll
	for refused := 0; ; refused++ {
		if l.sub, err = l.r.prepareHook(ctx, l.sub, true); err != nil {
			return 0, err
		}
		l.end = l.startProof(ctx, l.r.newFreshPathProof(&l.sub, refused))
		if wait, err = l.subscribe(ctx); !errors.Is(err, errTooFarBack) {
			return wait, err
		}
		l.end()
	}
}

// untilProof returns the time to the next refresh: wait, or less if a proof is due.
func (l *openLease) untilProof(wait time.Duration) time.Duration {
	r := l.r
	if !r.isDoubted() || l.proof.isOpen() {
		return wait
	}
	if r.canBeFresh() {
		return min(wait, max(r.freshIn(), leastLease))
	}
	return min(wait, leastLease)
}

// startProof ends the previous proof, begins p (nil: there is nothing to prove), and returns the
// function that ends it.
func (l *openLease) startProof(ctx context.Context, p *proof) (end func()) {
	if l.end != nil {
		l.end()
	}
	if l.proof = p; p == nil {
		l.r.settleDoubts(l.r.doubts.raised.Load())
	}
	return p.start(ctx, l.cancel)
}

// endProof ends the proof with the attempt. A proof without a verdict is due again.
func (l *openLease) endProof() {
	if l.end == nil {
		return
	}
	l.end()
	if l.end = nil; l.proof.isOpen() {
		l.r.raiseDoubt(false)
	}
}

// requested returns the position that the server is asked to go on from.
func (l *openLease) requested() event.Cursor {
	if !l.proof.isOpen() {
		return l.sub.Cursor
	}
	l.proof.mu.Lock()
	defer l.proof.mu.Unlock()
	if at := l.proof.reachedBy(); at != nil {
		return *at
	}
	return l.proof.asked
}

// isFresh reports whether a fresh path is being proved.
func (l *openLease) isFresh() bool {
	if !l.proof.isOpen() {
		return false
	}
	_, fresh := l.proof.method.(*freshPath)
	return fresh
}

// errTooFarBack: the server no longer holds the position that was asked for, and may hold a
// later one.
var errTooFarBack = errors.New("the position is too old for the server")

// subscribe sends events/subscribe and takes the answer. It returns the time to the next one.
func (l *openLease) subscribe(ctx context.Context) (time.Duration, error) {
	r, sub := l.r, &l.sub
	now := r.deps.Now()
	r.mu.Lock()
	r.challengeUntil, r.grantStored, r.earlyCursor = now.Add(verifyWindow), !sub.Cursor.Valid && sub.LastSeen.IsZero(), nil
	r.mu.Unlock()
	r.set(func(s *Status) {
		if l.opening && s.State != event.StateBackoff {
			s.State = event.StateVerifying
		} else if s.State == event.StateLive {
			s.State = event.StateRefreshing
		}
	})
	if l.proof.isOpen() {
		r.deps.Failpoint(FailAsked)
	}
	res, err := r.deps.Source.Subscribe(ctx, wire.SubscribeRequest{
		Name: r.key.Type, Arguments: r.key.Args, At: wirePosition(sub, l.requested()),
		URL: sub.Hook.URL, Secret: sub.Hook.Secret.Reveal(), TTL: r.deps.TTL, Held: r.heldServerID(*sub),
	})
	if err != nil {
		return l.refused(ctx, err)
	}
	r.deps.Failpoint(FailSubscribed)
	if res.Truncated && l.isFresh() && l.proof.canStartLater() {
		return 0, errTooFarBack
	}
	return l.granted(ctx, res)
}

// refused handles a refusal of the subscribe: it subscribes again if there is another way.
func (l *openLease) refused(ctx context.Context, err error) (time.Duration, error) {
	r := l.r
	if refusesSecond(err) && l.sub.Hook.OldURL != "" && l.sub.Hook.Unproved() {
		if l.sub, err = r.releaseOldPathFirst(ctx, l.sub); err != nil {
			return 0, err
		}
		return l.subscribe(ctx)
	}
	if !cursorRefused(err) || !l.sub.Cursor.Valid {
		return 0, err
	}
	if l.isFresh() && l.proof.canStartLater() {
		return 0, errTooFarBack
	}
	if l.end != nil {
		l.end()
		l.end, l.proof = nil, nil
	}
	if err := r.in.dropCursor(ctx); err != nil {
		return 0, err
	}
	r.settleDoubts(r.doubts.raised.Load()) // by the gap
	l.sub.Reset(event.Cursor{})
	l.sub.LastSeen, r.lastSeenBefore = time.Time{}, time.Time{}
	return l.subscribe(ctx)
}

// granted takes the answer to a subscribe, and returns the time to the next one.
func (l *openLease) granted(ctx context.Context, res wire.SubscribeResult) (time.Duration, error) {
	r, sub, p, now := l.r, &l.sub, l.proof, l.r.deps.Now()
	r.assess(sub, res, p.settledFailure(sub))
	r.challenged.Store(false)
	if res.ID.IsZero() {
		res.ID = sub.Lease.ServerID
	}
	lease := event.Lease{ServerID: res.ID, GrantedAt: now.UTC(), RefreshBefore: res.RefreshBefore, Status: status(res.Status)}
	before := sub.LastSeen
	if !r.wasConfirmed() {
		before = r.lastSeenBefore // deliveries may be ahead of the answer
	}
	b := event.Batch{Records: l.gapRecords(res, before, now), Update: func(s *event.Subscription) {
		s.Lease = lease
		keepGiven(&s.Hook, res.Secret, now)
	}}
	open := p.isOpen() // then the cursor of the answer is held
	if !open {
		l.settleWithoutProof(&b, res)
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
	p.answered(res)
	l.show(ctx, lease, now)
	if suspended(lease) && r.failsOver() {
		return 0, fmt.Errorf("%w: %v", errSuspended, lease.Status.LastError)
	}
	return r.renewal(res, lease, now), nil
}

// gapRecords returns the gap that an answer shows, if any. before is the last sign of life
// until then.
func (l *openLease) gapRecords(res wire.SubscribeResult, before, now time.Time) []event.Record {
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
	case l.opening:
		return []event.Record{r.in.gapRecord(r.in.missedCause(), before, false)}
	}
	return nil
}

// settleWithoutProof adds to an answer's batch how the positions move when no proof is open.
func (l *openLease) settleWithoutProof(b *event.Batch, res wire.SubscribeResult) {
	r, sub := l.r, l.sub
	r.replaying.Store(false)
	b.Cursor = r.in.position(res.Cursor)
	if early := r.takeEarlyCursor(); early != nil && !res.Truncated {
		b.Cursor = early
	}
	failure := status(res.Status).Failure()
	if res.Truncated { // the gap covers everything until now
		r.settleHook(b, b.Cursor, granted{failure: failure, doubts: r.doubts.raised.Load()})
		return
	}
	if r.isDoubted() {
		return
	}
	// The checkpoint stays where the next proof needs an event behind it and none came: where
	// no poll can prove.
	moves := sub.Cursor.Valid && !sub.Cursor.Same(sub.Proved) && (!l.firstNew.IsZero() || r.polls())
	if moves {
		b.Done = func(_ event.Outcome, err error) {
			if err == nil {
				r.checkpointMoved()
			}
		}
	}
	addUpdate(b, func(s *event.Subscription) {
		if s.Settled = failure; moves {
			s.Checkpoint(sub.Cursor, sub.CompleteUntil, l.firstNew)
		} else if !s.Proved.Valid {
			s.Checkpoint(s.Cursor, s.CompleteUntil, trust.Text{})
		}
	})
}

// show sets the status by what was granted, and records when the server stops delivering or
// delivers again.
func (l *openLease) show(ctx context.Context, lease event.Lease, now time.Time) {
	r, state := l.r, event.StateLive
	if suspended(lease) {
		state = event.StateSuspended
	}
	r.set(func(s *Status) { s.State, s.Lease, s.Opened = state, lease, now })
	switch was := !l.opening && suspended(l.sub.Lease); {
	case suspended(lease) && !was:
		r.record(ctx, state, fmt.Sprintf("the server stopped delivering: %v", lease.Status.LastError), nil)
	case was && !suspended(lease):
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

func suspended(l event.Lease) bool { return l.Status != nil && !l.Status.Active }

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
