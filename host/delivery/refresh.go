package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/event"
)

// errAsked ends an attempt that was asked to begin again at once.
var errAsked = errors.New("asked to begin again")

// Mode returns the mode in which the subscription runs now.
func (r *Runner) Mode() event.Mode {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode
}

// Nudge has the server asked now, as it may have forgotten the subscription: it is polled, the
// lease refreshed or the stream opened again. A pause after a failure ends. It does not block.
func (r *Runner) Nudge() { signal(r.nudged) }

// signal fills a one-slot flag.
func signal(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}

// Refresh nudges the subscription and waits until the server has answered.
//
// Errors: those of the attempt, which is made again later; [ErrStopped]; the
// cause of ctx.
func (r *Runner) Refresh(ctx context.Context) error {
	answer, forget := r.addWaiter()
	defer forget()
	r.Nudge()
	select {
	case err := <-answer:
		return err
	case <-r.done:
		return fmt.Errorf("subscription %s: %w", r.id, ErrStopped)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Answered waits for the outcome of the first attempt, also of a failure that will be tried
// again. [Runner.Confirmed] waits on in that case.
//
// Errors: those of the attempt, [ErrUnconfirmed], the cause of ctx.
func (r *Runner) Answered(ctx context.Context) error {
	answer, forget := r.addWaiter()
	defer forget()
	select {
	case err := <-answer:
		return err
	case <-r.confirmed:
		return r.outcome
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// addWaiter returns a channel that gets the outcome of the next attempt, until forget is
// called.
func (r *Runner) addWaiter() (answer chan error, forget func()) {
	answer = make(chan error, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiters = append(r.waiters, answer)
	return answer, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiters = slices.DeleteFunc(r.waiters, func(c chan error) bool { return c == answer })
	}
}

// resolveAsked hands the outcome of an attempt to all that wait for one.
func (r *Runner) resolveAsked(err error) {
	r.mu.Lock()
	asked := r.waiters
	r.waiters = nil
	r.mu.Unlock()
	for _, c := range asked {
		c <- err
	}
}

// pause waits for d or a nudge. It reports false when ctx has ended.
func (r *Runner) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.nudged:
	case <-ctx.Done():
		return false
	}
	return ctx.Err() == nil
}
