package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Runner runs one subscription, in one mode at a time. Its methods may be called from any
// goroutine.
type Runner struct {
	deps Deps
	id   event.SubID
	key  event.Key

	in      ingest
	remarks remarks

	// Of the goroutine that makes attempts.
	losses          []time.Time // when the subscription was lost, within FlapWithin before the last time
	lastSeenBefore  time.Time   // last sign of life before this runner
	truncatedAt     time.Time   // poll: the last gap of a truncated answer
	intact          bool        // push: the last stream ended by itself and all that came on it is stored
	unproved        bool        // push: the last stream ended before its proof
	unprovedStreams int         // push: streams in a row that ended before their proof
	shortStreamsAt  time.Time   // push: the last gap for such streams

	// Of the goroutine of the open proof.
	nextCatchUp time.Time       // when a catch-up poll may ask next
	catchUpDone catchUpProgress // push

	proof       atomic.Pointer[proof] // of the open delivery; nil: there is nothing to prove
	doubts      doubts                // webhook
	suspected   atomic.Bool           // webhook: since the last answer deliveries may have been lost
	vouched     atomic.Bool           // webhook: no delivery of before this run waits, or that has raised a doubt
	pollRefused atomic.Bool           // webhook: the server refused a catch-up poll of a type that it lists with poll
	replaying   atomic.Bool           // webhook: stored events come again on a new path, from before the stored position

	mu              sync.Mutex
	mode            event.Mode // changed by the goroutine that makes attempts, between two of them
	failover        failover
	waiters         []chan error // of callers that wait for the outcome of an attempt
	status          Status
	planned         planned
	confirmedOnce   bool                    // the server has confirmed the subscription in this run
	seenSecret      event.Secret            // webhook: the newest secret that a delivery was signed with
	challengeUntil  time.Time               // webhook: until then a challenge is answered
	sinceAsked      trust.Text              // webhook: the first new event since the server was last asked; zero: none
	recentPositions []event.Cursor          // webhook: cursors of recent deliveries, and those stored at the start
	grantStored     bool                    // webhook: the answer to the last subscribe is stored
	earlyCursor     *event.Cursor           // webhook: the newest cursor that came before that
	finalErr        error                   // webhook: the server ended the subscription; for the next attempt
	terminate       context.CancelCauseFunc // webhook: ends the attempt under way

	confirmed chan struct{} // closed with the outcome
	outcome   error         // of the first attempt; valid once confirmed is closed
	once      sync.Once     // closes confirmed
	nudged    chan struct{} // one slot
	done      chan struct{} // closed when Run has ended
}

// New returns a runner for a subscription that is in the store.
func New(deps Deps, sub event.Subscription) *Runner {
	deps.Timing = deps.Timing.WithDefaults()
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Orphaned == nil {
		deps.Orphaned = func(context.Context, event.Subscription) {}
	}
	if deps.Locked == nil {
		deps.Locked = func() (<-chan struct{}, error) { return nil, nil }
	}
	if deps.ReasonOf == nil {
		deps.ReasonOf = func(error) event.Reason { return "" }
	}
	if deps.Altered == nil {
		deps.Altered = func(int) {}
	}
	if deps.Failpoint == nil {
		deps.Failpoint = func(string) {}
	}
	r := &Runner{
		deps:      deps,
		id:        sub.ID,
		key:       sub.Key,
		mode:      sub.Mode,
		confirmed: make(chan struct{}),
		nudged:    make(chan struct{}, 1),
		done:      make(chan struct{}),
		terminate: func(error) {},
	}
	for _, at := range []event.Cursor{sub.Before, sub.Proved, sub.Cursor} {
		if at.Valid {
			r.recentPositions = append(r.recentPositions, at)
		}
	}
	r.in.init(r, sub)
	r.lastSeenBefore = sub.LastSeen
	r.failover = newFailover(sub)
	if sub.Mode == event.ModeWebhook && sub.Proof == event.ProofProving {
		r.doubts.raise(true)
	}
	r.status = Status{State: event.StateStarting, Since: deps.Now(), Lease: sub.Lease}
	r.planned.at = deps.Ends
	return r
}

// Status returns the present state with its evidence.
func (r *Runner) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	if s.Mode = r.mode; r.failover.enabled && r.failover.preferred != r.mode {
		s.Preferred = r.failover.preferred
		if r.in.gaveCursor.Load() {
			s.PreferredTry = r.failover.retryAt
		}
	}
	s.Replayed, s.Duplicates = r.in.replayed.Load(), r.in.repeated.Load()
	return s
}

// Confirmed waits until the server has confirmed the subscription for the first time, or refused it
// for good, and returns the outcome. For a stream that stays open in silence it returns
// [ErrUnconfirmed] after [Timing.ConfirmWithin]. An unreachable server is tried again meanwhile.
func (r *Runner) Confirmed(ctx context.Context) error {
	select {
	case <-r.confirmed:
		return r.outcome
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Run runs the subscription until ctx or the subscription ends, and returns when the store
// has answered all its batches. It is called once.
func (r *Runner) Run(ctx context.Context) {
	defer func() {
		r.resolveConfirmed(context.Cause(ctx))
		r.in.stop()
		close(r.done)
		r.resolveAsked(fmt.Errorf("subscription %s: %w", r.id, ErrStopped))
	}()
	planned, cancel := r.untilEnd(ctx)
	defer cancel()
	r.runAttempts(planned)
	if ctx.Err() == nil && errors.Is(context.Cause(planned), errPlanned) && r.Status().State != event.StateEnded {
		r.finish(ctx)
	}
}

// runAttempts makes attempts until ctx ends or the subscription does.
func (r *Runner) runAttempts(ctx context.Context) {
	backoff := r.deps.Backoff()
	for ctx.Err() == nil {
		if err := r.deps.Source.Ready(ctx); err != nil {
			r.resolveConfirmed(err)
			return
		}
		started := r.deps.Now()
		err := r.attemptUntilPreferred(ctx)
		if ctx.Err() != nil || !r.afterAttempt(ctx, err, started, backoff) {
			return
		}
	}
}

// afterAttempt handles the end of an attempt that began at started and ended with err, and
// waits for the time of the next one. It reports false when there is none.
func (r *Runner) afterAttempt(ctx context.Context, err error, started time.Time, backoff Backoff) bool {
	if to := r.nextMode(err, started); to.mode != "" {
		if err = r.switchMode(ctx, to); err == nil {
			return true // backoff is not reset: the pauses go on growing until an attempt is useful
		}
		if ctx.Err() != nil {
			return false
		}
	}
	if errors.Is(err, errAsked) || errors.Is(err, errPrefer) {
		return true // to begin again at once
	}
	if r.conclude(ctx, err) || ctx.Err() != nil {
		return false
	}
	r.in.awaitFenced()
	if r.wasUseful(started) {
		backoff.Reset()
	}
	wait := backoff.Next(err)
	r.lost(ctx, err, wait)
	r.resolveAsked(err)
	return r.pause(ctx, wait)
}

// attempt makes one attempt in the present mode, and returns why it ended.
func (r *Runner) attempt(ctx context.Context) error {
	sub, err := r.in.begin()
	if err != nil {
		return err
	}
	switch mode := r.Mode(); mode {
	case event.ModePoll:
		return r.poll(ctx, sub)
	case event.ModePush:
		return r.push(ctx, sub)
	case event.ModeWebhook:
		return r.webhook(ctx)
	default:
		return fmt.Errorf("subscription %s has mode %q: nothing can run it", r.id, mode)
	}
}

// wasUseful reports whether an attempt that began at began brought a new event or lasted some
// time, so that its failure is the first of a new series. Otherwise a server that confirms
// and closes at once would be asked again without growing pauses.
func (r *Runner) wasUseful(began time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in.broughtNew.Load() || !r.status.Opened.Before(began) && r.deps.Now().Sub(r.status.Opened) > 5*r.deps.Timing.BackoffMin
}

// terminated is the error of an attempt whose subscription the server ended.
type terminated struct{ cause *wire.Error }

func (t *terminated) Error() string { return "the server ended the subscription: " + t.cause.Error() }
func (t *terminated) Unwrap() error { return t.cause }

// conclude ends the subscription if the error of an attempt means that (mcp-events, sections 2
// and 7), and reports whether it did.
func (r *Runner) conclude(ctx context.Context, err error) bool {
	var t *terminated
	wasTerminated := errors.As(err, &t)
	switch name := wire.NameFrom(err); {
	case errors.Is(err, errPlanned):
		r.finish(ctx)
		return true
	case name == wire.Forbidden:
		r.end(ctx, event.StateDenied, "the server refuses for lack of rights", err)
		return true
	case wire.Is(err, wire.NotFound, "kind", "event"), wire.Is(err, wire.Unsupported, "reason", "schema_changed"):
		if !wasTerminated {
			r.end(ctx, event.StateEnded, "the server does not offer this", err)
			return true
		}
		if r.deps.Relist == nil {
			r.end(ctx, event.StateEnded, "the event type was removed or changed", err)
			return true
		}
		// While the types cannot be listed, the next attempt finds out.
		if again := r.deps.Relist(ctx, r.key, r.Mode()); errors.Is(again, ErrGone) {
			r.end(ctx, event.StateEnded, "the event type was removed or changed", fmt.Errorf("%w; %w", err, again))
			return true
		}
		return false
	case wasTerminated:
		r.end(ctx, event.StateEnded, "the server ended the subscription", err)
		return true
	case errors.Is(err, wire.ErrUnacceptable):
		r.end(ctx, event.StateEnded, "it cannot be had from this server", err)
		return true
	case name == wire.NotFound, name == wire.Unsupported, name == wire.InvalidParams,
		name == wire.MethodNotFound, name == wire.InvalidRequest, name == wire.HeaderMismatch:
		// The same request would be refused again.
		r.end(ctx, event.StateEnded, "the server does not accept the subscription", err)
		return true
	case name == wire.InternalError && r.in.lastSeenAt().IsZero() && r.attempts() >= startTries:
		// It was never confirmed, and some servers answer a bad request like this (field notes 4).
		r.end(ctx, event.StateEnded, "the server does not accept the subscription", err)
		return true
	}
	return false
}

// startTries is how many attempts are made at a server that answers with internal errors and never
// confirmed the subscription.
const startTries = 5

// attempts returns how many attempts have failed in a row, with the present one.
func (r *Runner) attempts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status.Attempt + 1
}

// wasConfirmed reports whether the server has confirmed the subscription in this run.
func (r *Runner) wasConfirmed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.confirmedOnce
}

// resolveConfirmed ends [Runner.Confirmed] with an outcome, if it has none yet.
func (r *Runner) resolveConfirmed(err error) {
	r.once.Do(func() {
		r.outcome = err
		close(r.confirmed)
	})
}

// set changes the status under its lock and tells the host.
func (r *Runner) set(change func(*Status)) {
	r.mu.Lock()
	before := r.status.State
	change(&r.status)
	if r.status.State != before {
		r.status.Since = r.deps.Now()
	}
	r.mu.Unlock()
	r.deps.Changed()
}

// lost notes a failure after which another attempt is made. The first one of a series is
// recorded, the others only change the status.
func (r *Runner) lost(ctx context.Context, err error, wait time.Duration) {
	var first bool
	evidence, answered := "the connection ended", wire.NameFrom(err) != ""
	var t *terminated
	switch {
	case errors.As(err, &t):
		evidence = "the server ended it; the type is still listed"
	case answered:
		evidence = "the server refused for now"
	case errors.Is(err, wire.ErrMalformed):
		evidence = "the server's answer cannot be used"
	}
	reason := r.deps.ReasonOf(err)
	r.set(func(s *Status) {
		if s.Opened.After(s.LostAt) && reason != event.ReasonQuota {
			r.noteLoss(s)
		}
		if first = s.Attempt == 0; first && !answered && s.State == event.StateStarting {
			evidence = "it could not begin"
		}
		s.Attempt++
		s.State = event.StateBackoff
		s.NextTry = r.deps.Now().Add(wait)
		s.Reason = reason
		if err != nil {
			s.Error = trust.OfError(err)
		}
	})
	r.deps.Log.Warn("subscription interrupted", "sub", r.id, "mode", r.Mode(), "err", err, "again_in", wait)
	if first {
		r.record(ctx, event.StateBackoff, evidence, err)
	}
}

// noteLoss counts the loss of a subscription that worked.
func (r *Runner) noteLoss(s *Status) {
	now := r.deps.Now()
	held := now.Sub(s.LostAt) >= FlapWithin
	r.losses = append(slices.DeleteFunc(r.losses, func(at time.Time) bool { return now.Sub(at) >= FlapWithin }), now)
	if s.LostAt = now; len(r.losses) >= FlapLosses || s.Losses > 0 && !held {
		s.Losses = len(r.losses)
		time.AfterFunc(FlapWithin, r.deps.Changed)
	} else {
		s.Losses = 0
	}
}

// throttled shows until when the server asks to wait, and has that looked at again then.
func (r *Runner) throttled(until time.Time) {
	r.set(func(s *Status) { s.Throttled = until })
	if wait := until.Sub(r.deps.Now()); wait > 0 {
		time.AfterFunc(wait, r.deps.Changed)
	}
}

// end ends the subscription because of err, in a state that is over.
func (r *Runner) end(ctx context.Context, state event.State, evidence string, err error) {
	r.set(func(s *Status) {
		s.State = state
		s.NextTry = time.Time{}
		s.Error, s.Reason = trust.OfError(err), r.deps.ReasonOf(err)
	})
	r.record(ctx, state, evidence, err)
	r.resolveConfirmed(err)
	r.resolveAsked(err)
}

// finish ends the subscription as planned. If it was not alive, what the server may have sent since
// the last sign of life is a gap.
func (r *Runner) finish(ctx context.Context) {
	r.mu.Lock()
	end, alive := r.planned.at, r.status.State.Alive()
	r.mu.Unlock()
	r.set(func(s *Status) {
		s.State, s.NextTry, s.Error, s.Reason = event.StateEnded, time.Time{}, trust.Text{}, ""
	})
	if seen := r.in.lastSeenAt(); !alive && seen.Before(end) && !seen.IsZero() {
		gap := r.in.gapRecord(event.CauseUnproved, r.in.gapStart(seen), false)
		gap.Gap.To = end.UTC()
		if err := r.in.submit(ctx, event.Batch{Records: []event.Record{gap}}); err != nil {
			r.deps.Log.Warn("a gap before the end was not stored", "sub", r.id, "err", err)
		}
	}
	r.record(ctx, event.StateEnded, "it ended as planned", nil)
	if r.deps.Release != nil {
		r.deps.Release(ctx, r.id)
	}
	r.resolveConfirmed(errPlanned)
	r.resolveAsked(errPlanned)
}

// record puts a state change into the log and onto the stored subscription.
func (r *Runner) record(ctx context.Context, state event.State, evidence string, err error) {
	r.recordAs(ctx, state, state, evidence, err)
}

// recordAs is record with another word in the log than the state of the subscription.
func (r *Runner) recordAs(ctx context.Context, word, state event.State, evidence string, err error) {
	change := &event.StateChange{State: word, Evidence: evidence}
	if err != nil {
		change.Error = trust.OfError(err)
	}
	rec := r.in.record(event.KindState)
	rec.State = change
	stored := r.in.submit(ctx, event.Batch{
		Ended:   r.ended(state, err),
		Audit:   r.audit(state, evidence, change.Error),
		Records: []event.Record{rec},
		Update: func(s *event.Subscription) {
			s.State, s.Evidence, s.Error = state, evidence, change.Error
		},
	})
	if stored != nil && ctx.Err() == nil {
		r.deps.Log.Warn("a change of state was not stored", "sub", r.id, "state", state, "err", stored)
	}
}

// ended returns what the receiver remembers of the paths of a subscription that ended because of
// err; nothing of one that ended as planned, whose deliveries are not wanted again.
func (r *Runner) ended(state event.State, err error) (ended []event.Ended) {
	if !state.Over() || err == nil {
		return nil
	}
	sub, err := r.deps.Store.Subscription(r.id)
	if err != nil {
		return nil
	}
	for _, path := range sub.Hook.Paths() {
		ended = append(ended, event.Ended{Path: path, At: r.deps.Now().UTC()})
	}
	return ended
}

// audit returns the entries of the audit log for a change of state: one where the server did
// something to the subscription.
func (r *Runner) audit(state event.State, evidence string, err trust.Text) []event.AuditEntry {
	switch state {
	case event.StateEnded, event.StateDenied, event.StateSuspended:
	default:
		return nil
	}
	e := r.auditEntry(event.ActorServer, "subscription "+string(state))
	e.Result, e.Detail = evidence, err
	return []event.AuditEntry{e}
}
