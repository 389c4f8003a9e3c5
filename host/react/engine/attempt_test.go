package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"eventdeck/host/react"
)

type attempt struct {
	l       *life
	req     react.Request
	n       int
	adopted bool
	once    sync.Once
	killed  chan struct{}
}

func (a *attempt) name() string { return fmt.Sprintf("%s/%d", a.req.Run, a.n) }

func (a *attempt) Handle() react.Handle { return react.Handle{Attempt: a.n, PID: 1, At: time.Now()} }

// Go begins the act, which goes on even if the engine is killed.
func (a *attempt) Go(steps react.Steps) error {
	if a.l.isDead() {
		return errors.New("the host is gone")
	}
	w := a.l.w
	if steps != nil {
		a.follow(steps)
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun[a.name()]++
	var seqs []uint64
	for rest := string(a.req.Input); ; {
		var seq uint64
		if n, _ := fmt.Sscan(rest, &seq); n == 0 {
			break
		}
		seqs = append(seqs, seq)
		rest = rest[len(fmt.Sprint(seq))+1:]
	}
	w.inputs[a.req.Run] = seqs
	if a.req.Kind == react.RequestWebhook {
		w.sends[a.req.Run]++
	}
	end := make(chan struct{})
	w.ends[a.name()] = end
	outcome := w.outcome(a.req.Run, a.n)
	go func() {
		defer close(end)
		result := react.Result{Outcome: outcome}
		if outcome == react.OutcomeScarce {
			result.Why = errFull.Error()
		}
		select {
		case <-time.After(w.lasts):
		case <-a.killed:
			result.Outcome = react.OutcomeKilled
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.results[a.name()] = result
	}()
	return nil
}

func (a *attempt) Abort() {}
func (a *attempt) Kill()  { a.once.Do(func() { close(a.killed) }) }

func (a *attempt) Wait(ctx context.Context) (react.Result, error) {
	w := a.l.w
	w.mu.Lock()
	end, began := w.ends[a.name()]
	if a.adopted && a.req.Kind == react.RequestAgent {
		w.mu.Unlock()
		if w.cut {
			return react.Result{Outcome: react.OutcomeUnknown, Why: "its conversation is gone"}, nil
		}
		return react.Result{Outcome: react.OutcomeNever, Why: "its conversation is taken up"}, nil
	}
	cut := w.cut || a.adopted && a.req.Kind == react.RequestWebhook // its answer was for the process that is gone
	w.mu.Unlock()
	switch {
	case !began:
		return react.Result{Outcome: react.OutcomeNever}, nil
	case a.adopted && cut:
		return react.Result{Outcome: react.OutcomeUnknown}, nil
	}
	select {
	case <-end:
	case <-ctx.Done():
		return react.Result{}, context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.results[a.name()], nil
}
