// Package attempt runs one try of an act inside this process.
package attempt

import (
	"context"
	"errors"
	"sync"
	"time"

	"eventdeck/host/react"
)

// Attempt is a [react.Attempt] that a function carries out.
type Attempt struct {
	handle react.Handle
	do     func(context.Context, react.Steps) react.Result
	ctx    context.Context
	cancel context.CancelFunc
	once   sync.Once
	done   chan struct{} // closed when result is there
	result react.Result
}

// ErrBegun: the attempt was begun or aborted already.
var ErrBegun = errors.New("the attempt was begun or given up before")

var _ react.Attempt = (*Attempt)(nil)

// New returns an attempt for which Go calls do. Kill ends the context of do.
func New(h react.Handle, do func(context.Context, react.Steps) react.Result) *Attempt {
	ctx, cancel := context.WithCancel(context.Background())
	return &Attempt{handle: h, do: do, ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// Over returns an attempt that has ended with a result.
func Over(h react.Handle, result react.Result) *Attempt {
	a := New(h, nil)
	a.end(result)
	return a
}

// end sets the result, if nothing was begun.
func (a *Attempt) end(result react.Result) (first bool) {
	a.once.Do(func() {
		first = true
		a.result = result
		a.cancel()
		close(a.done)
	})
	return first
}

// Handle implements [react.Attempt].
func (a *Attempt) Handle() react.Handle { return a.handle }

// Go implements [react.Attempt]. The goroutine ends with the act, which Kill cuts short.
func (a *Attempt) Go(steps react.Steps) error {
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
func (a *Attempt) Abort() {
	a.end(react.Result{Outcome: react.OutcomeNever, Why: "given up before it began", Ended: time.Now()})
}

// Wait implements [react.Attempt].
func (a *Attempt) Wait(ctx context.Context) (react.Result, error) {
	select {
	case <-a.done:
		return a.result, nil
	case <-ctx.Done():
		return react.Result{}, context.Cause(ctx)
	}
}

// Kill implements [react.Attempt].
func (a *Attempt) Kill() {
	a.end(react.Result{Outcome: react.OutcomeNever, Why: "stopped before it began", Ended: time.Now()})
	a.cancel()
}
