package act

import (
	"context"
	"errors"
	"sync"
	"time"

	"eventdeck/host/react"
)

// task is an attempt inside of this process: a webhook or a note.
type task struct {
	handle react.Handle
	do     func(context.Context) react.Result
	ctx    context.Context
	cancel context.CancelFunc
	once   sync.Once
	done   chan struct{} // closed when result is there
	result react.Result
}

var errBegun = errors.New("the attempt was begun or given up before")

func newTask(h react.Handle, do func(context.Context) react.Result) *task {
	ctx, cancel := context.WithCancel(context.Background())
	return &task{handle: h, do: do, ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// over returns an attempt whose result is known.
func over(h react.Handle, result react.Result) *task {
	t := newTask(h, nil)
	t.end(result)
	return t
}

// end sets the result, if nothing was begun.
func (t *task) end(result react.Result) (first bool) {
	t.once.Do(func() {
		first = true
		t.result = result
		t.cancel()
		close(t.done)
	})
	return first
}

// Handle implements [react.Attempt].
func (t *task) Handle() react.Handle { return t.handle }

// Go implements [react.Attempt]. The goroutine ends with the act, which Kill cuts short.
func (t *task) Go(react.Steps) error {
	begun := false
	t.once.Do(func() {
		begun = true
		go func() {
			defer close(t.done)
			defer t.cancel()
			t.result = t.do(t.ctx)
		}()
	})
	if !begun {
		return errBegun
	}
	return nil
}

// Abort implements [react.Attempt].
func (t *task) Abort() {
	t.end(react.Result{Outcome: react.OutcomeNever, Why: "given up before it began", Ended: time.Now()})
}

// Wait implements [react.Attempt].
func (t *task) Wait(ctx context.Context) (react.Result, error) {
	select {
	case <-t.done:
		return t.result, nil
	case <-ctx.Done():
		return react.Result{}, context.Cause(ctx)
	}
}

// Kill implements [react.Attempt].
func (t *task) Kill() {
	t.end(react.Result{Outcome: react.OutcomeNever, Why: "stopped before it began", Ended: time.Now()})
	t.cancel()
}
