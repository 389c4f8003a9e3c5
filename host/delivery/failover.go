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

// errSuspended: the lease stands, and the server does not deliver.
var errSuspended = errors.New("the server stopped delivering")

// takeLeave bounds how long a lease is ended on the server before the next mode
// is tried.
const takeLeave = 5 * time.Second

// failover decides when a subscription goes on in another mode and when it comes
// back. What fails is counted only while the server is connected: a server that
// is away is away in every mode.
type failover struct {
	on        bool
	preferred event.Mode // chosen by the operator

	since time.Time  // first of the failures in a row, zero: none
	tries int        // failures in a row
	back  event.Mode // set while the preferred mode is on trial: where it came from
	pause time.Duration
	retry time.Time // when the preferred mode is tried again; zero: it runs
}

func newFailover(sub event.Subscription) failover {
	f := failover{on: sub.Failover, preferred: sub.Mode}
	if sub.Failover && sub.Preferred != "" {
		f.preferred = sub.Preferred
	}
	return f
}

// SetFailover turns the failover on or off. The mode is the one that the
// subscription had when that was stored; it becomes the preferred one.
func (r *Runner) SetFailover(on bool, mode event.Mode) {
	r.mu.Lock()
	r.fail = failover{on: on, preferred: mode}
	r.mu.Unlock()
	r.deps.Changed()
}

func (r *Runner) failsOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fail.on
}

// limited makes an attempt that ends when the preferred mode is to be tried again.
func (r *Runner) limited(ctx context.Context) error {
	due := r.preferredIn()
	switch {
	case due == 0:
		return r.attempt(ctx)
	case due < 0:
		return errPrefer
	}
	return r.timed(ctx, due)
}

// timed is limited while the preferred mode is due at some time.
func (r *Runner) timed(ctx context.Context, due time.Duration) error {
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
			if err := <-ended; final(err) {
				return err
			}
			return errPrefer
		}
	}
}

// final reports whether the server said why an attempt ended: another mode must not
// pass that over.
func final(err error) bool {
	var t *terminated
	return errors.As(err, &t) || wire.NameFrom(err) != ""
}

// preferredIn returns the time until the preferred mode is tried again: 0 for
// never, negative for now. Without a position each move loses what happens
// meanwhile: then it is put off, and only a failure of this mode leads back.
func (r *Runner) preferredIn() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, now := &r.fail, r.deps.Now()
	if !f.on || r.mode == f.preferred {
		return 0
	}
	f.pause = max(f.pause, r.deps.Timing.PreferredMin)
	if f.retry.IsZero() || !f.retry.After(now) && !r.in.gave.Load() {
		f.retry = now.Add(f.pause)
	}
	if left := f.retry.Sub(now); left > 0 {
		return left
	}
	return -1
}

// step is a change to another mode. The zero step is none.
type step struct {
	mode event.Mode
	why  string
	err  error
}

// next decides, after an attempt that began then and ended with err, whether the
// subscription goes on in another mode.
func (r *Runner) next(err error, began time.Time) step {
	lived, modes, now := r.hadLife(began), r.ring(), r.deps.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &r.fail
	switch {
	case !f.on || blameless(err):
		return step{}
	case errors.Is(err, errPrefer):
		f.back, f.since, f.tries, f.retry = r.mode, time.Time{}, 0, time.Time{}
		return step{f.preferred, "the preferred mode is tried again", nil}
	case lived:
		f.since, f.tries, f.back = time.Time{}, 0, ""
		if r.mode == f.preferred {
			f.pause = 0
		}
	}
	if errors.Is(err, errAsked) {
		return step{}
	}
	if f.tries++; f.since.IsZero() {
		f.since = now
	}
	t := r.deps.Timing
	if f.back == "" && !unfit(err) && f.tries < t.FailoverTries && now.Sub(f.since) < t.FailoverAfter {
		return step{}
	}
	to := f.after(r.mode, modes, r.in.gave.Load())
	if to == "" {
		return step{}
	}
	why := fmt.Sprintf("%s failed %s in %v", r.mode, event.Some(f.tries, "time", "times"), now.Sub(f.since).Round(time.Second))
	if r.mode == f.preferred {
		f.pause = min(max(2*f.pause, t.PreferredMin), t.PreferredMax)
		f.retry = now.Add(f.pause)
	}
	f.since, f.tries, f.back = time.Time{}, 0, ""
	return step{to, why, err}
}

// after returns the mode that follows the present one: that before the trial, else
// the next one of the ring; from its end only where nothing else leads back to the
// preferred mode.
func (f *failover) after(mode event.Mode, ring []event.Mode, replay bool) event.Mode {
	if f.back != "" {
		return f.back
	}
	if at := slices.Index(ring, mode); at+1 < len(ring) {
		return ring[at+1]
	}
	if !replay && mode != f.preferred {
		return f.preferred
	}
	return ""
}

// ring returns the modes in the order in which they are tried: the preferred one,
// then webhook, push and poll, as far as the type offers them and the host can.
func (r *Runner) ring() []event.Mode {
	if r.deps.Modes == nil {
		return nil
	}
	have := r.deps.Modes(r.key)
	r.mu.Lock()
	ring := []event.Mode{r.fail.preferred}
	r.mu.Unlock()
	for _, m := range []event.Mode{event.ModeWebhook, event.ModePush, event.ModePoll} {
		if m != ring[0] && slices.Contains(have, m) {
			ring = append(ring, m)
		}
	}
	return ring
}

// blameless reports whether an attempt ended for a reason that another mode shares.
func blameless(err error) bool {
	var t *terminated
	switch {
	case errors.As(err, &t), errors.Is(err, errPlanned), errors.Is(err, errStore), errors.Is(err, ErrStopped):
		return true
	case wire.Is(err, wire.NotFound, "kind", "event"), wire.Is(err, wire.Unsupported, "reason", "schema_changed"):
		return true
	}
	switch wire.NameFrom(err) {
	case wire.Forbidden, wire.NotFound, wire.InvalidParams:
		return true
	}
	return false
}

// unfit reports whether the server says that it cannot do this mode at all.
func unfit(err error) bool {
	switch wire.NameFrom(err) {
	case wire.MethodNotFound, wire.Unsupported, wire.InvalidRequest:
		return true
	}
	return false
}

// move goes on in another mode: the cursor and what is known of stored events stay.
func (r *Runner) move(ctx context.Context, to step) error {
	from := r.Mode()
	left := r.leave(ctx, from)
	r.in.settled()
	change := Switched(from, to.mode, to.why, to.err)
	audit := r.act(event.ActorHost, ActionSwitched)
	audit.Detail = trust.Unescaped(change.Evidence)
	record := r.in.record(event.KindState)
	record.State = change
	record.Mode = to.mode
	_, err := r.in.commit(ctx, event.Batch{
		Records: []event.Record{record},
		Audit:   []event.AuditEntry{audit},
		Update: func(s *event.Subscription) {
			// As it is stored: the operator may have changed it meanwhile.
			preferred := cmp.Or(s.Preferred, s.Mode)
			s.Mode, s.Preferred = to.mode, ""
			if s.Failover && to.mode != preferred {
				s.Preferred = preferred
			}
			s.State, s.Evidence, s.Error = event.StateStarting, change.Evidence, change.Error
			if left {
				r.forgetHeld(s)
			}
		},
	})
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.mode, r.unbroken = to.mode, false
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

// Switched returns what the log says of a change of mode.
func Switched(from, to event.Mode, why string, err error) *event.StateChange {
	change := &event.StateChange{State: event.StateSwitched, Evidence: fmt.Sprintf("mode switched %s -> %s: %s", from, to, why)}
	if err != nil {
		change.Error = trust.Unescaped(err.Error())
	}
	return change
}

// leave ends what the server keeps of a mode, as far as it answers. It reports
// whether the server keeps nothing any more.
func (r *Runner) leave(ctx context.Context, mode event.Mode) bool {
	if mode != event.ModeWebhook && (mode != event.ModePush || !r.deps.Lasting) {
		return false
	}
	sub, err := r.deps.Store.Subscription(r.id)
	if err != nil {
		return false // removed meanwhile
	}
	within, cancel := context.WithTimeout(ctx, takeLeave)
	defer cancel()
	if err := Release(within, r.deps.Source, sub); err != nil {
		r.deps.Log.Warn("the lease stays on the server until it ends there", "sub", r.id, "err", err)
		r.deps.Left(ctx, sub)
		return false
	}
	return true
}

// forgetHeld forgets what a server gave that has ended the subscription.
func (r *Runner) forgetHeld(s *event.Subscription) {
	s.Lease = event.Lease{}
	if r.deps.ServerSecret {
		s.Hook.Secret, s.Hook.Scheme = event.Secret{}, event.SchemeStandard
	}
}
