// Decides when the screen reads the host again and when it redraws, and
// runs background work as Bubble Tea commands that end with the program.

package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Jobs runs background work under one context. Its methods may be called from every goroutine.
// [NewJobs] makes it.
type Jobs struct {
	ctx    context.Context
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// NewJobs returns jobs that end with ctx.
func NewJobs(ctx context.Context) *Jobs { return &Jobs{ctx: ctx} }

// Context returns the context of all jobs; it ends with the program.
func (j *Jobs) Context() context.Context { return j.ctx }

// Do returns a command that runs fn in the background and sends its message. After a call of
// [Jobs.Wait] the command does nothing.
func (j *Jobs) Do(fn func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !j.begin() {
			return nil
		}
		defer j.wg.Done()
		return fn(j.ctx)
	}
}

// After returns a command that sends msg after d, unless the context ends first.
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

// Wait prevents new jobs and waits until the running ones have returned.
func (j *Jobs) Wait() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.wg.Wait()
}

// pause waits for d. It returns false if ctx ends first.
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
