package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Runner lives one subscription, in one mode at a time, from Run to its end. Its
// methods may be called from any goroutine.
type Runner struct {
	deps Deps
	id   event.SubID
	key  event.Key

	in      ingest
	remarks remarks
	// intact: the last stream ended by itself and all that came on it is stored. Of
	// Run's goroutine.
	intact bool
	// unproved: the last stream ended before it was shown that nothing is missing. Of
	// Run's goroutine.
	unproved     bool
	undecided    int          // push: streams in a row that ended before their proof; of Run's goroutine
	shortStreams time.Time    // push: when that left a gap last; of Run's goroutine
	truncatedAt  time.Time    // poll: when a truncated answer left a gap last; of Run's goroutine
	vouched      event.Cursor // webhook: the server showed no failure up to here; of Run's goroutine
	away         time.Time    // last sign of life before this runner; of Run's goroutine

	proof      atomic.Pointer[proof] // of the open delivery; nil: nothing is left to prove
	doubts     doubts                // webhook
	challenged atomic.Bool           // webhook: the server has verified the callback since its last answer
	unpolled   atomic.Bool           // webhook: the server refused to be polled, whatever it lists
	pollAgain  time.Time             // when a catch-up poll may ask next; of the proof's goroutine
	caughtUp   progress              // push: of catch-up polls; of the proof's goroutine

	mu         sync.Mutex
	mode       event.Mode // changed by Run alone, between attempts
	fail       failover
	asked      []chan error // who waits for the outcome of a refresh
	status     Status
	said       bool                    // the server has confirmed the subscription in this run
	seenSecret event.Secret            // webhook: the newest one with which a delivery was signed
	inflight   time.Time               // webhook: until when a verification is expected
	newest     newestEvents            // webhook
	told       []event.Cursor          // webhook: positions that deliveries told lately, or that were stored
	granted    bool                    // webhook: what the server answered to the last subscribe is stored
	renewed    time.Time               // webhook: when a path was made anew
	replaying  atomic.Bool             // webhook: stored events come again on a fresh path, from before the stored position
	unbroken   bool                    // webhook: an opening of this run was proved, and nothing spoke for a loss of what was delivered since
	early      *event.Cursor           // webhook: the newest position that came before the answer to a subscribe
	final      error                   // webhook: the server ended the subscription; for the next attempt
	terminate  context.CancelCauseFunc // webhook: ends the attempt under way
	confirmed  chan struct{}
	outcome    error // of the first attempt; valid once confirmed is closed
	once       sync.Once
	nudged     chan struct{}
	over       chan struct{} // closed when Run has ended
}

// New returns a runner for a subscription that is in the store.
func New(deps Deps, sub event.Subscription) *Runner {
	deps.Timing = deps.Timing.WithDefaults()
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Left == nil {
		deps.Left = func(context.Context, event.Subscription) {}
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
		over:      make(chan struct{}),
		terminate: func(error) {},
	}
	for _, at := range []event.Cursor{sub.Before, sub.Proved, sub.Cursor} {
		if at.Valid {
			r.told = append(r.told, at)
		}
	}
	r.in.init(r, sub)
	r.away = sub.LastSeen
	r.fail = newFailover(sub)
	r.status = Status{State: event.StateStarting, Since: deps.Now(), Lease: sub.Lease}
	return r
}

// Status returns the present state with its evidence.
func (r *Runner) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	if s.Mode = r.mode; r.fail.on && r.fail.preferred != r.mode {
		s.Preferred = r.fail.preferred
		if r.in.gave.Load() {
			s.PreferredTry = r.fail.retry
		}
	}
	s.Replayed, s.Duplicates = r.in.replayed.Load(), r.in.repeated.Load()
	return s
}

// Confirmed waits until the server has confirmed the subscription for the first
// time, or refused it for good, and returns what it said. Of a stream that stays open
// without a word it returns [ErrUnconfirmed] after [Timing.Unsaid]. A server that
// cannot be reached is tried again meanwhile.
func (r *Runner) Confirmed(ctx context.Context) error {
	select {
	case <-r.confirmed:
		return r.outcome
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Run lives the subscription until ctx ends or the subscription does, and
// returns when nothing of it is under way any more. It is called once.
func (r *Runner) Run(ctx context.Context) {
	defer func() {
		r.settle(context.Cause(ctx))
		r.in.stop()
		close(r.over)
		r.answer(fmt.Errorf("subscription %s: %w", r.id, ErrStopped))
	}()
	live, cancel := r.untilEnd(ctx)
	defer cancel()
	r.keep(live)
	if ctx.Err() == nil && errors.Is(context.Cause(live), errPlanned) && r.Status().State != event.StateEnded {
		r.finish(ctx)
	}
}

// keep makes attempts until ctx ends or the subscription does.
func (r *Runner) keep(ctx context.Context) {
	backoff := r.deps.Backoff()
	for ctx.Err() == nil {
		if err := r.deps.Source.Ready(ctx); err != nil {
			r.settle(err)
			return
		}
		started := r.deps.Now()
		err := r.limited(ctx)
		if ctx.Err() != nil || !r.goesOn(ctx, err, started, backoff) {
			return
		}
	}
}

// goesOn waits for the time of the next attempt after one that began then and ended
// with err. It is false when there is none.
func (r *Runner) goesOn(ctx context.Context, err error, started time.Time, backoff Backoff) bool {
	if to := r.next(err, started); to.mode != "" {
		if err = r.move(ctx, to); err == nil {
			return true // the pauses go on growing until the server is worth something
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
	r.in.settled()
	if r.hadLife(started) {
		backoff.Reset()
	}
	wait := backoff.Next(err)
	r.lost(ctx, err, wait)
	r.answer(err)
	return r.pause(ctx, wait)
}

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
		return r.unknown(mode)
	}
}

func (r *Runner) unknown(mode event.Mode) error {
	return fmt.Errorf("subscription %s has mode %q: nothing can run it", r.id, mode)
}

// hadLife reports whether the attempt that began then was worth something, so
// that the next failure is the first of a new series. A server that confirms,
// perhaps repeats itself, and closes at once does not count, or it would be
// hammered.
func (r *Runner) hadLife(began time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in.fresh.Load() || !r.status.Opened.Before(began) && r.deps.Now().Sub(r.status.Opened) > 5*r.deps.Timing.BackoffMin
}

// terminated is the error of a subscription that the server ended while it ran.
type terminated struct{ cause *wire.Error }

func (t *terminated) Error() string { return "the server ended the subscription: " + t.cause.Error() }
func (t *terminated) Unwrap() error { return t.cause }

// conclude decides what an attempt's error means for the subscription's life
// (mcp-events, sections 2 and 7). It reports whether the life is over.
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
		// Where the list cannot be had now, the next attempt tells.
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
		name == wire.MethodNotFound, name == wire.InvalidRequest:
		// A bad request stays bad: looping on it would only hammer the server.
		r.end(ctx, event.StateEnded, "the server does not accept the subscription", err)
		return true
	case name == wire.InternalError && r.in.lastSign().IsZero() && r.attempts() >= startTries:
		// It was never had, and a bad request may be answered like this (field notes 4).
		r.end(ctx, event.StateEnded, "the server does not accept the subscription", err)
		return true
	}
	return false
}

// startTries is how often a server that answers with internal errors is asked for
// a subscription that it never confirmed.
const startTries = 5

// attempts returns how many attempts have failed in a row, with the present one.
func (r *Runner) attempts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status.Attempt + 1
}

func (r *Runner) wasConfirmed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said
}

// settle tells Confirmed what became of the first attempt.
func (r *Runner) settle(err error) {
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

// lost notes a failure that will be tried again. The first one of a series
// leaves a record, also of one that never began; the following only change the status.
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
	r.set(func(s *Status) {
		if first = s.Attempt == 0; first && !answered && s.State == event.StateStarting {
			evidence = "it could not begin"
		}
		s.Attempt++
		s.State = event.StateBackoff
		s.NextTry = r.deps.Now().Add(wait)
		s.Reason = r.deps.ReasonOf(err)
		if err != nil {
			s.Error = trust.Unescaped(err.Error())
		}
	})
	r.deps.Log.Warn("subscription interrupted", "sub", r.id, "mode", r.Mode(), "err", err, "again_in", wait)
	if first {
		r.record(ctx, event.StateBackoff, evidence, err)
	}
}

func (r *Runner) end(ctx context.Context, state State, evidence string, err error) {
	r.set(func(s *Status) {
		s.State = state
		s.NextTry = time.Time{}
		s.Error, s.Reason = trust.Unescaped(err.Error()), r.deps.ReasonOf(err)
	})
	r.record(ctx, state, evidence, err)
	r.settle(err)
	r.answer(err)
}

// finish ends a subscription as planned: that is no error.
func (r *Runner) finish(ctx context.Context) {
	r.set(func(s *Status) {
		s.State, s.NextTry, s.Error, s.Reason = event.StateEnded, time.Time{}, trust.Text{}, ""
	})
	r.record(ctx, event.StateEnded, "it ended as planned", nil)
	r.settle(errPlanned)
	r.answer(errPlanned)
}

// record puts a state change into the log and onto the stored subscription.
func (r *Runner) record(ctx context.Context, state State, evidence string, err error) {
	r.mark(ctx, state, state, evidence, err)
}

// mark is record where the log tells another word than the state that follows.
func (r *Runner) mark(ctx context.Context, word, state State, evidence string, err error) {
	change := &event.StateChange{State: word, Evidence: evidence}
	if err != nil {
		change.Error = trust.Unescaped(err.Error())
	}
	rec := r.in.record(event.KindState)
	rec.State = change
	stored := r.in.submit(ctx, event.Batch{
		Ended:   r.ended(state),
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

// ended returns what the receiver remembers of the path of a subscription that is
// over.
func (r *Runner) ended(state State) *event.Ended {
	if state != event.StateEnded && state != event.StateDenied {
		return nil
	}
	sub, err := r.deps.Store.Subscription(r.id)
	if err != nil || sub.Hook.Path == "" {
		return nil
	}
	return &event.Ended{Path: sub.Hook.Path, At: r.deps.Now().UTC()}
}

// audit returns what the audit log says of a change of state: only what a server
// did to the subscription is an act.
func (r *Runner) audit(state State, evidence string, err trust.Text) []event.AuditEntry {
	switch state {
	case event.StateEnded, event.StateDenied, event.StateSuspended:
	default:
		return nil
	}
	e := r.act(event.ActorServer, "subscription "+string(state))
	e.Result, e.Detail = evidence, err
	return []event.AuditEntry{e}
}
