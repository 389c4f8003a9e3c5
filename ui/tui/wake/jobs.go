// Package wake says when the screen looks again: after changes of the host, when what it
// shows has grown older. It runs what takes its time beside the program.
package wake

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Jobs run beside the program and end with its context. They are made by [NewJobs].
type Jobs struct {
	ctx    context.Context
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// NewJobs returns jobs of which all end with ctx.
func NewJobs(ctx context.Context) *Jobs { return &Jobs{ctx: ctx} }

// Context ends with the program.
func (j *Jobs) Context() context.Context { return j.ctx }

// Do runs fn beside the program, unless that has ended.
func (j *Jobs) Do(fn func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !j.begin() {
			return nil
		}
		defer j.wg.Done()
		return fn(j.ctx)
	}
}

// After sends a message when a time is over, unless the program ends before.
func (j *Jobs) After(d time.Duration, msg tea.Msg) tea.Cmd {
	return j.Do(func(ctx context.Context) tea.Msg {
		if !pause(ctx, d) {
			return nil
		}
		return msg
	})
}

func (j *Jobs) begin() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.wg.Add(1)
	}
	return !j.closed
}

// Wait lets nothing begin any more and waits for what runs.
func (j *Jobs) Wait() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.wg.Wait()
}

// pause waits for d; it reports whether it has, and not ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
