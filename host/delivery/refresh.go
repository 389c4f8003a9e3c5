package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/event"
)

// errAsked ends an attempt that is to begin again at once.
var errAsked = errors.New("asked to begin again")

// Mode returns the mode in which the subscription runs now.
func (r *Runner) Mode() event.Mode {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mode
}

// Nudge asks for a sign of life now, because the server may have forgotten the
// subscription: it is polled, its lease refreshed, its stream opened again, and a
// pause after a failure ends.
func (r *Runner) Nudge() {
	select {
	case r.nudged <- struct{}{}:
	default:
	}
}

// Refresh is Nudge, and waits for what comes of it: nil after the server has
// answered.
//
// Errors: those of the attempt, which is made again later; [ErrStopped]; the
// cause of ctx.
func (r *Runner) Refresh(ctx context.Context) error {
	answer, forget := r.listen()
	defer forget()
	r.Nudge()
	select {
	case err := <-answer:
		return err
	case <-r.over:
		return fmt.Errorf("subscription %s: %w", r.id, ErrStopped)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Answered waits for what comes of the first attempt, also where a failure will be
// tried again: for those who would rather do something else then.
//
// Errors: those of the attempt, [ErrUnconfirmed], the cause of ctx.
func (r *Runner) Answered(ctx context.Context) error {
	answer, forget := r.listen()
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

// listen returns what the next answer comes on, until forget is called.
func (r *Runner) listen() (answer chan error, forget func()) {
	answer = make(chan error, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, answer)
	return answer, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.asked = slices.DeleteFunc(r.asked, func(c chan error) bool { return c == answer })
	}
}

// answer tells those who asked for a refresh what came of it.
func (r *Runner) answer(err error) {
	r.mu.Lock()
	asked := r.asked
	r.asked = nil
	r.mu.Unlock()
	for _, c := range asked {
		c <- err
	}
}

// pause waits, unless it is nudged. It reports false when ctx has ended.
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
