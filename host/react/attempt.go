// Runs one try of an act inside this process.

package react

import (
	"context"
	"errors"
	"sync"
	"time"
)

// LocalAttempt is a [react.Attempt] that a function carries out.
type LocalAttempt struct {
	handle Handle
	do     func(context.Context, Steps) Result
	ctx    context.Context
	cancel context.CancelFunc
	once   sync.Once
	done   chan struct{} // closed when result is there
	result Result
}

// ErrBegun: the attempt was begun or aborted already.
var ErrBegun = errors.New("the attempt was begun or given up before")

var _ Attempt = (*LocalAttempt)(nil)

// NewAttempt returns an attempt for which Go calls do. Kill ends the context of do.
func NewAttempt(h Handle, do func(context.Context, Steps) Result) *LocalAttempt {
	ctx, cancel := context.WithCancel(context.Background())
	return &LocalAttempt{handle: h, do: do, ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// EndedAttempt returns an attempt that has ended with a result.
func EndedAttempt(h Handle, result Result) *LocalAttempt {
	a := NewAttempt(h, nil)
	a.end(result)
	return a
}

// end sets the result, if nothing was begun.
func (a *LocalAttempt) end(result Result) (first bool) {
	a.once.Do(func() {
		first = true
		a.result = result
		a.cancel()
		close(a.done)
	})
	return first
}

// Handle implements [react.Attempt].
func (a *LocalAttempt) Handle() Handle { return a.handle }

// Go implements [react.Attempt]. The goroutine ends with the act, which Kill cuts short.
func (a *LocalAttempt) Go(steps Steps) error {
	begun := false
	a.once.Do(func() {
		begun = true
		go func() {
			defer close(a.done)
			defer a.cancel()
			a.result = a.do(a.ctx, steps)
		}()
	})
	if !begun {
		return ErrBegun
	}
	return nil
}

// Abort implements [react.Attempt].
func (a *LocalAttempt) Abort() {
	a.end(Result{Outcome: OutcomeNever, Why: "given up before it began", Ended: time.Now()})
}

// Wait implements [react.Attempt].
func (a *LocalAttempt) Wait(ctx context.Context) (Result, error) {
	select {
	case <-a.done:
		return a.result, nil
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
}

// Kill implements [react.Attempt].
func (a *LocalAttempt) Kill() {
	a.end(Result{Outcome: OutcomeNever, Why: "stopped before it began", Ended: time.Now()})
	a.cancel()
}
