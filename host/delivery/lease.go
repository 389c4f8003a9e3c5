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

// A challenge is answered while a subscribe was begun on the path within this
// time (contracts, receiver).
const verifyWindow = 60 * time.Second

// leastLease keeps a server with absurdly short grants from being hammered.
const leastLease = 500 * time.Millisecond

// webhook keeps a lease: it subscribes, refreshes at 70 to 80 % of what was
// granted, and returns when that fails or the server ends the subscription.
func (r *Runner) webhook(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.in.onFailure(func(err error) { cancel(err) })
	defer r.in.onFailure(func(error) {})
	if final := r.endable(cancel); final != nil {
		return final
	}
	defer func() {
		// What ended this attempt is used up; what came too late for it is not.
		final := r.endable(func(error) {})
		if final != nil && final != context.Cause(ctx) {
			r.terminated(final)
		}
	}()

	l := openLease{r: r, cancel: cancel, opening: true}
	defer l.stop()
	for ; ; l.opening = false {
		wait, err := l.keep(ctx)
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			return err
		}
		r.answer(nil)
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

// endable sets what ends the attempt under way, and returns why it must not go
// on if the server ended the subscription meanwhile.
func (r *Runner) endable(end context.CancelCauseFunc) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	final := r.final
	r.final, r.terminate = nil, end
	return final
}

// terminated ends the attempt under way, or else the next one.
func (r *Runner) terminated(err error) {
	r.mu.Lock()
	end := r.terminate
	r.final = err
	r.mu.Unlock()
	end(err)
}

// openLease is the lease that an attempt holds, with its proof.
type openLease struct {
	r       *Runner
	cancel  context.CancelCauseFunc // ends the attempt
	opening bool                    // nothing was granted in this attempt

	sub    event.Subscription // as it was stored before the server was asked
	behind trust.Text         // the first event since the checkpoint, as of then; zero: none

	proof *proof // nil: this lease needs none
	end   func()
}

// keep subscribes or refreshes once, with a proof where one is due, and returns when to
// do it again.
func (l *openLease) keep(ctx context.Context) (time.Duration, error) {
	r := l.r
	l.behind = r.asking()
	var err error
	if l.sub, err = r.deps.Store.Subscription(r.id); err != nil {
		return 0, fmt.Errorf("subscription %s: %w", r.id, err)
	}
	if err := r.checkpoint(ctx, &l.sub); err != nil {
		return 0, err
	}
	due, fresh := !l.proof.isOpen() && (l.opening || r.isDoubted()), r.canBeFresh()
	if due && fresh && r.wantsFresh(&l.sub, l.opening) {
		return l.open(ctx)
	}
	if l.sub, err = r.hook(ctx, l.sub, false); err != nil {
		return 0, err
	}
	if due && (!fresh || !l.sub.Opening().Valid || l.sub.LastSeen.IsZero()) {
		l.end = l.begin(ctx, r.newKnownPathProof(&l.sub))
	}
	wait, err := l.subscribe(ctx)
	return l.untilProof(wait), err
}

// open subscribes on a fresh path, and on another one at a later position where the
// server does not hold the one that is asked for.
func (l *openLease) open(ctx context.Context) (wait time.Duration, err error) {
	defer l.r.unpolled.Store(false) // the next proof may try to poll
	for refused := 0; ; refused++ {
		if l.sub, err = l.r.hook(ctx, l.sub, true); err != nil {
			return 0, err
		}
		l.end = l.begin(ctx, l.r.newFreshPathProof(&l.sub, refused))
		if wait, err = l.subscribe(ctx); !errors.Is(err, errTooFarBack) {
			return wait, err
		}
		l.end()
	}
}

// untilProof returns when to go on after wait: earlier if a proof is due.
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

// begin begins a proof, nil where there is nothing to prove, and returns what ends it. The
// one before has ended then.
func (l *openLease) begin(ctx context.Context, p *proof) (end func()) {
	if l.end != nil {
		l.end()
	}
	if l.proof = p; p == nil {
		l.r.settleDoubts(l.r.doubts.raised.Load())
	}
	return p.run(ctx, l.cancel)
}

// stop ends the proof. One that is interrupted is due again.
func (l *openLease) stop() {
	if l.end == nil {
		return
	}
	l.end()
	if l.end = nil; l.proof.isOpen() {
		l.r.raise(false)
	}
}

// position returns where the server is asked to go on.
func (l *openLease) position() event.Cursor {
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

// isFresh reports whether the path is a fresh one that is not proved.
func (l *openLease) isFresh() bool {
	if !l.proof.isOpen() {
		return false
	}
	_, fresh := l.proof.medium.(*freshPath)
	return fresh
}

// errTooFarBack: the server does not hold the position any more that was asked for,
// though it may hold the stored one.
var errTooFarBack = errors.New("the position is too old for the server")

// subscribe subscribes or refreshes once and returns when to do it again.
func (l *openLease) subscribe(ctx context.Context) (time.Duration, error) {
	r, sub := l.r, &l.sub
	now := r.deps.Now()
	r.mu.Lock()
	r.inflight, r.granted, r.early = now.Add(verifyWindow), !sub.Cursor.Valid && sub.LastSeen.IsZero(), nil
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
		Name: r.key.Type, Arguments: r.key.Args, At: at(sub, l.position()),
		URL: sub.Hook.URL, Secret: sub.Hook.Secret.Reveal(), TTL: r.deps.TTL, Held: r.held(*sub),
	})
	if err != nil {
		return l.refused(ctx, err)
	}
	r.deps.Failpoint(FailSubscribed)
	if res.Truncated && l.isFresh() && l.proof.canGoOn() {
		return 0, errTooFarBack
	}
	return l.grant(ctx, res)
}

// refused goes on after an answer that says no, where it knows another way.
func (l *openLease) refused(ctx context.Context, err error) (time.Duration, error) {
	r := l.r
	if refusesSecond(err) && l.sub.Hook.OldURL != "" && unproved(&l.sub.Hook) {
		if l.sub, err = r.breakFirst(ctx, l.sub); err != nil {
			return 0, err
		}
		return l.subscribe(ctx)
	}
	if !cursorRefused(err) || !l.sub.Cursor.Valid {
		return 0, err
	}
	if l.isFresh() && l.proof.canGoOn() {
		return 0, errTooFarBack
	}
	if l.end != nil {
		l.end()
		l.end, l.proof = nil, nil
	}
	if err := r.in.forget(ctx); err != nil {
		return 0, err
	}
	r.settleDoubts(r.doubts.raised.Load()) // the gap is told
	l.sub.Reset(event.Cursor{})
	l.sub.LastSeen, r.away = time.Time{}, time.Time{}
	return l.subscribe(ctx)
}

// grant takes the server's answer.
func (l *openLease) grant(ctx context.Context, res wire.SubscribeResult) (time.Duration, error) {
	r, sub, p, now := l.r, &l.sub, l.proof, l.r.deps.Now()
	r.weigh(sub, res, p.settledFailure(sub))
	r.challenged.Store(false)
	if res.ID.IsZero() {
		res.ID = sub.Lease.ServerID
	}
	lease := event.Lease{ServerID: res.ID, GrantedAt: now.UTC(), RefreshBefore: res.RefreshBefore, Status: status(res.Status)}
	before := sub.LastSeen
	if !r.wasConfirmed() {
		before = r.away // deliveries may be ahead of the answer
	}
	b := event.Batch{Records: l.gaps(res, before, now), Update: func(s *event.Subscription) {
		s.Lease = lease
		keepGiven(&s.Hook, res.Secret, now)
	}}
	open := p.isOpen() // then the position is held
	if !open {
		l.check(&b, res)
	}
	if !sub.Cursor.Valid && before.IsZero() {
		r.in.whole.to(now) // from now
	}
	if l.opening {
		r.opened(ctx, now, sub.Cursor.Valid && !before.IsZero(), event.StateLive)
		if !open && (before.IsZero() || !sub.Cursor.Valid) {
			r.showProof(proofless(before, sub.Cursor.Valid))
		}
	}
	r.in.seen(now)
	if _, err := r.in.commit(ctx, b); err != nil {
		return 0, err
	}
	r.mu.Lock()
	r.granted = true
	r.mu.Unlock()
	p.answered(res)
	l.show(ctx, lease, now)
	if suspended(lease) && r.failsOver() {
		return 0, fmt.Errorf("%w: %v", errSuspended, lease.Status.LastError)
	}
	return r.renewal(res, lease, now), nil
}

// gaps returns the gap that the answer shows, if any. before is the last sign of life
// until then.
func (l *openLease) gaps(res wire.SubscribeResult, before, now time.Time) []event.Record {
	r, sub := l.r, &l.sub
	lapsed := !sub.Lease.RefreshBefore.IsZero() && now.After(sub.Lease.RefreshBefore)
	switch {
	case res.Truncated && l.proof.isOpen():
		return []event.Record{r.in.gap(event.CauseTruncated, l.proof.since, true)}
	case res.Truncated:
		return []event.Record{r.in.gap(event.CauseTruncated, r.in.missingSince(sub, before), true)}
	case sub.Cursor.Valid || before.IsZero():
		return nil // the server replays from the position, or there was no life before
	case res.Anew, lapsed && r.in.awayCause() != event.CausePaused:
		return []event.Record{r.in.gap(event.CauseLapsed, before, false)}
	case l.opening:
		return []event.Record{r.in.gap(r.in.awayCause(), before, false)}
	}
	return nil
}

// check adds to an answer's batch how the positions move where no proof is open.
func (l *openLease) check(b *event.Batch, res wire.SubscribeResult) {
	r, sub := l.r, l.sub
	r.replay(false)
	b.Cursor = r.in.position(res.Cursor)
	if early := r.takeEarly(); early != nil && !res.Truncated {
		b.Cursor = early
	}
	told := status(res.Status).Failure()
	if res.Truncated { // the gap tells of all until now
		r.settleHook(b, b.Cursor, granted{failure: told, doubts: r.doubts.raised.Load()})
		return
	}
	if r.isDoubted() {
		return
	}
	// Where no poll can prove and no event behind the proved position is known, that stays,
	// so that one that is stored lies behind it.
	moves := sub.Cursor.Valid && !sub.Cursor.Same(sub.Proved) && (!l.behind.IsZero() || r.polls())
	if moves {
		b.Done = func(_ event.Outcome, err error) {
			if err == nil {
				r.checked()
			}
		}
	}
	also(b, func(s *event.Subscription) {
		if s.Settled = told; moves {
			s.Checkpoint(sub.Cursor, sub.CompleteUntil, l.behind)
		} else if !s.Proved.Valid {
			s.Checkpoint(s.Cursor, s.CompleteUntil, trust.Text{})
		}
	})
}

// show sets the state by what was granted.
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

func status(s *wire.DeliveryStatus) *event.DeliveryStatus {
	if s == nil {
		return nil
	}
	return &event.DeliveryStatus{
		Active: s.Active, LastDeliveryAt: s.LastDeliveryAt, LastError: s.LastError,
		FailedSince: s.FailedSince, Throttled: s.Throttled, RetryAfter: s.RetryAfter,
	}
}

// InFlight reports whether a verification of the callback may be answered.
func (r *Runner) InFlight() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.deps.Now().Before(r.inflight)
}
