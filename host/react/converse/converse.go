// Package converse carries out runs of models: it asks the model, calls tools for it, and reads
// what it chooses. What a run sees, its tools and its budget are frozen in its first request;
// each step passes [react.Steps]; foreign text reaches a model only in envelopes; and the answer
// of a model can only be the name of a tool with arguments, the name of an act, or text for the
// operator.
//
// The next question follows from the first request and the steps so far ([Query]). There is no
// other state: after an approval, or in another process, a run continues from there.
package converse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/pause"
	"eventdeck/host/model"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
)

// runTime is the time limit of an attempt whose rule sets none.
const runTime = 15 * time.Minute

// Options of [New]. Tools and Acts are needed.
type Options struct {
	Tools react.Toolbox
	Acts  react.Runner  // carries out the act that a model chose
	Model model.Options // of all models

	// Context ends waiting for servers while a request is prepared; nil: never.
	Context context.Context
	Now     func() time.Time // nil: time.Now
	// Wait waits before a model is asked again, or until ctx ends; nil: with a timer.
	Wait   func(ctx context.Context, d time.Duration) error
	Jitter func() float64 // from 0 to 1, lengthens such a wait; nil: random
	Log    *slog.Logger   // nil: nothing is logged
}

// Runner is a [react.Runner] of requests of the kinds model, choice and tool. Its methods may
// be called from any goroutine.
type Runner struct{ o Options }

var (
	_ react.Runner = (*Runner)(nil)
	_ react.Pinner = (*Runner)(nil)
)

// New returns a runner. It opens nothing.
func New(o Options) *Runner {
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = pause.For
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return &Runner{o}
}

// Prepare implements [react.Runner]. Tools that their servers do not list are left out.
func (r *Runner) Prepare(rule react.Rule, run react.Run, members []event.Record) (react.Request, error) {
	req := react.Request{
		Run: run.ID, Rule: rule.Name, Count: run.Members.Count,
		Spend: rule.Limits.Spend, Tokens: rule.Limits.Tokens, Time: rule.Limits.Time,
	}
	if len(members) > 0 {
		req.Seq = members[0].Seq
	} else if len(run.Members.First) > 0 {
		req.Seq = run.Members.First[0]
	}
	if req.Time == 0 {
		req.Time = runTime
	}
	var fields []string
	var err error
	switch do := rule.Do; {
	case do.Task != nil:
		req.Kind, req.Model, req.Task, req.Flows = react.RequestModel, &do.Task.Model, do.Task.Task, do.Task.Flows
		fields = do.Task.Fields
		if len(members) > 0 {
			req.Tools = r.pin(r.o.Context, do.Task.Tools, run.Pins)
		}
	case do.Choice != nil:
		req.Kind, req.Model, req.Task = react.RequestChoice, &do.Choice.Model, do.Choice.Task
		fields = do.Choice.Fields
		req.Choices, err = r.choices(rule.Name, do.Choice.Acts)
	default:
		err = errors.New("the rule asks no model")
	}
	if err == nil {
		_, err = model.Open(*req.Model, r.o.Model)
	}
	if err == nil {
		req.Input, err = act.Envelope(run, members, fields)
	}
	if err == nil {
		req, err = stored(req)
	}
	if err != nil {
		return react.Request{}, fmt.Errorf("rule %s: %w", rule.Name, err)
	}
	return req, nil
}

// Ready implements [react.Runner].
func (r *Runner) Ready(_ context.Context, req react.Request, n int) (react.Attempt, error) {
	switch req.Kind {
	case react.RequestModel, react.RequestChoice, react.RequestTool:
		return react.NewAttempt(react.Handle{Attempt: n, At: r.o.Now()}, r.carryOut), nil
	}
	return nil, fmt.Errorf("run %s: no model has a part in a %s", req.Run, req.Kind)
}

// Adopt implements [react.Runner]. The attempt ended with its process; its steps say what it did.
func (r *Runner) Adopt(_ context.Context, _ react.Request, h react.Handle) (react.Attempt, error) {
	return react.EndedAttempt(h, react.Result{Outcome: react.OutcomeUnknown, Why: "eventdeck ended meanwhile", Ended: r.o.Now()}), nil
}

// Forget implements [react.Runner]. There are no files to remove.
func (r *Runner) Forget(react.Handle) error { return nil }
