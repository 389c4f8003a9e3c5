package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// errPrefer ends an attempt in another mode when the preferred one is due again.
var errPrefer = errors.New("the preferred mode is tried again")

// errSuspended ends an attempt whose lease stands while the server does not deliver.
var errSuspended = errors.New("the server stopped delivering")

// releaseWithin bounds the wait for the server to end a lease.
const releaseWithin = 5 * time.Second

// failover decides when a subscription goes on in another mode and when it comes back.
// Failures count only while the server is connected: without a connection no mode works.
type failover struct {
	enabled   bool
	preferred event.Mode // chosen by the operator

	failingSince time.Time     // first of the failures in a row; zero: none
	failures     int           // in a row
	trialFrom    event.Mode    // while the preferred mode is tried again: the mode before; else empty
	retryPause   time.Duration // before the preferred mode is tried again
	retryAt      time.Time     // when it is tried again; zero: it runs
}

func newFailover(sub event.Subscription) failover {
	f := failover{enabled: sub.Failover, preferred: sub.Mode}
	if sub.Failover && sub.Preferred != "" {
		f.preferred = sub.Preferred
	}
	return f
}

// SetFailover turns the failover on or off. mode is the mode of the stored subscription, which
// becomes the preferred one.
func (r *Runner) SetFailover(on bool, mode event.Mode) {
	r.mu.Lock()
	r.failover = failover{enabled: on, preferred: mode}
	r.mu.Unlock()
	r.deps.Changed()
}

func (r *Runner) failsOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failover.enabled
}

// attemptUntilPreferred makes an attempt that ends with errPrefer when the preferred mode is due
// to be tried again.
func (r *Runner) attemptUntilPreferred(ctx context.Context) error {
	due := r.preferredIn()
	switch {
	case due == 0:
		return r.attempt(ctx)
	case due < 0:
		return errPrefer
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.NewTimer(due)
	defer timer.Stop()
	ended := make(chan error, 1)
	go func() { ended <- r.attempt(ctx) }()
	for {
		select {
		case err := <-ended:
			return err
		case <-timer.C:
			if due = r.preferredIn(); due > 0 {
				timer.Reset(due)
				continue
			}
			cancel(errPrefer)
			if err := <-ended; serverSaidWhy(err) {
				return err
			}
			return errPrefer
		}
	}
}

// serverSaidWhy reports whether the server gave a reason for the end of an attempt, which a change
// of mode must not ignore.
func serverSaidWhy(err error) bool {
	var t *terminated
	return errors.As(err, &t) || wire.NameFrom(err) != ""
}

// preferredIn returns the time until the preferred mode is tried again: 0 for never, negative
// for now. For a type without cursors it is postponed each time, since every change of mode
// loses events: only a failure of the present mode leads back.
func (r *Runner) preferredIn() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, now := &r.failover, r.deps.Now()
	if !f.enabled || r.mode == f.preferred {
		return 0
	}
	f.retryPause = max(f.retryPause, r.deps.Timing.PreferredMin)
	if f.retryAt.IsZero() || !f.retryAt.After(now) && !r.in.gaveCursor.Load() {
		f.retryAt = now.Add(f.retryPause)
	}
	if left := f.retryAt.Sub(now); left > 0 {
		return left
	}
	return -1
}

// modeChange is a change to another mode. The zero value: none.
type modeChange struct {
	mode event.Mode
	why  string
	err  error
}

// nextMode decides whether the subscription goes on in another mode, after an attempt from
// began on that ended with err.
func (r *Runner) nextMode(err error, began time.Time) modeChange {
	useful, modes, now := r.wasUseful(began), r.modeOrder(), r.deps.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &r.failover
	switch {
	case !f.enabled || sameInEveryMode(err):
		return modeChange{}
	case errors.Is(err, errPrefer):
		f.trialFrom, f.failingSince, f.failures, f.retryAt = r.mode, time.Time{}, 0, time.Time{}
		return modeChange{f.preferred, "the preferred mode is tried again", nil}
	case useful:
		f.failingSince, f.failures, f.trialFrom = time.Time{}, 0, ""
		if r.mode == f.preferred {
			f.retryPause = 0
		}
	}
	if errors.Is(err, errAsked) {
		return modeChange{}
	}
	if f.failures++; f.failingSince.IsZero() {
		f.failingSince = now
	}
	t := r.deps.Timing
	if f.trialFrom == "" && !modeRefused(err) && f.failures < t.FailoverTries && now.Sub(f.failingSince) < t.FailoverAfter {
		return modeChange{}
	}
	to := f.after(r.mode, modes, r.in.gaveCursor.Load())
	if to == "" {
		return modeChange{}
	}
	why := fmt.Sprintf("%s failed %s in %v", r.mode, event.Some(f.failures, "time", "times"), now.Sub(f.failingSince).Round(time.Second))
	if r.mode == f.preferred {
		f.retryPause = min(max(2*f.retryPause, t.PreferredMin), t.PreferredMax)
		f.retryAt = now.Add(f.retryPause)
	}
	f.failingSince, f.failures, f.trialFrom = time.Time{}, 0, ""
	return modeChange{to, why, err}
}

// after returns the mode that follows the present one, "" for none: the mode before a trial of
// the preferred one, else the next in order. After the last one that is the preferred mode
// where nothing else leads back to it: without replay (see preferredIn).
func (f *failover) after(mode event.Mode, order []event.Mode, replay bool) event.Mode {
	if f.trialFrom != "" {
		return f.trialFrom
	}
	if at := slices.Index(order, mode); at+1 < len(order) {
		return order[at+1]
	}
	if !replay && mode != f.preferred {
		return f.preferred
	}
	return ""
}

// modeOrder returns the modes in the order in which they are tried: the preferred one,
// then webhook, push and poll, as far as the type offers them and the host can.
func (r *Runner) modeOrder() []event.Mode {
	if r.deps.Modes == nil {
		return nil
	}
	have := r.deps.Modes(r.key)
	r.mu.Lock()
	order := []event.Mode{r.failover.preferred}
	r.mu.Unlock()
	for _, m := range []event.Mode{event.ModeWebhook, event.ModePush, event.ModePoll} {
		if m != order[0] && slices.Contains(have, m) {
			order = append(order, m)
		}
	}
	return order
}

// sameInEveryMode reports whether an attempt ended for a reason that holds in every mode.
func sameInEveryMode(err error) bool {
	var t *terminated
	switch name := wire.NameFrom(err); {
	case errors.As(err, &t), errors.Is(err, errPlanned), errors.Is(err, errStore), errors.Is(err, ErrStopped),
		wire.Is(err, wire.Unsupported, "reason", "schema_changed"),
		name == wire.Forbidden, name == wire.NotFound, name == wire.InvalidParams, name == wire.HeaderMismatch:
		return true
	}
	return false
}

// modeRefused reports whether the server says that it does not support this mode at all.
func modeRefused(err error) bool {
	switch wire.NameFrom(err) {
	case wire.MethodNotFound, wire.Unsupported, wire.InvalidRequest:
		return true
	}
	return false
}

// switchMode stores another mode, in which the next attempt is made. The cursor and the ids of
// stored events stay.
func (r *Runner) switchMode(ctx context.Context, to modeChange) error {
	from := r.Mode()
	left := r.releaseMode(ctx, from)
	r.in.awaitFenced()
	change := Switched(from, to.mode, to.why, to.err)
	audit := r.auditEntry(event.ActorHost, ActionSwitched)
	audit.Detail = trust.Unescaped(change.Evidence)
	record := r.in.record(event.KindState)
	record.State = change
	record.Mode = to.mode
	_, err := r.in.commit(ctx, event.Batch{
		Records: []event.Record{record},
		Audit:   []event.AuditEntry{audit},
		Update: func(s *event.Subscription) {
			// From the store, as the operator may have changed it meanwhile.
			preferred := cmp.Or(s.Preferred, s.Mode)
			s.Mode, s.Preferred = to.mode, ""
			if s.Failover && to.mode != preferred {
				s.Preferred = preferred
			}
			s.State, s.Evidence, s.Error = event.StateStarting, change.Evidence, change.Error
			if left {
				Released(s, r.deps.ServerSecret)
			}
		},
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.mode = to.mode
	r.mu.Unlock()
	r.set(func(s *Status) {
		s.State, s.NextTry, s.Error = event.StateStarting, time.Time{}, change.Error
		s.Reason = ""
		if to.err != nil {
			s.Reason = r.deps.ReasonOf(to.err)
		}
		if to.mode != event.ModeWebhook {
			s.Lease = event.Lease{}
		}
	})
	return nil
}

// ActionSwitched is the audit log's word for a change of mode.
const ActionSwitched = "mode switched"

// Switched returns the log's change of state for a change of mode; err may be nil.
func Switched(from, to event.Mode, why string, err error) *event.StateChange {
	change := &event.StateChange{State: event.StateSwitched, Evidence: fmt.Sprintf("mode switched %s -> %s: %s", from, to, why)}
	if err != nil {
		change.Error = trust.OfError(err)
	}
	return change
}

// releaseMode ends the subscription that the server keeps in a mode, and reports whether the
// server confirmed that.
func (r *Runner) releaseMode(ctx context.Context, mode event.Mode) bool {
	if mode != event.ModeWebhook && (mode != event.ModePush || !r.deps.Lasting) {
		return false
	}
	sub, err := r.deps.Store.Subscription(r.id)
	if err != nil {
		return false // removed meanwhile
	}
	within, cancel := context.WithTimeout(ctx, releaseWithin)
	defer cancel()
	if err := Release(within, r.deps.Source, sub); err != nil {
		r.deps.Log.Warn("the lease stays on the server until it ends there", "sub", r.id, "err", err)
		r.deps.Orphaned(ctx, sub)
		return false
	}
	return true
}
