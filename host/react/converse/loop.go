package converse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/model"
	"eventdeck/host/react"
	"eventdeck/host/react/toolset"
)

// endWithin is the time limit for committing the end of a step after its attempt ended.
const endWithin = 5 * time.Second

// errTime is the cause of an attempt that took too long.
var errTime = errors.New("the time for the run is over")

// loop is one attempt.
type loop struct {
	*Runner
	steps  react.Steps
	first  react.Request
	client *model.Client
}

// carryOut takes the remaining steps of a run.
func (r *Runner) carryOut(ctx context.Context, steps react.Steps) react.Result {
	l := loop{Runner: r, steps: steps, first: steps.First()}
	if l.first.Model == nil {
		return l.failed("the run began without a model")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.first.Time, errTime)
	defer cancel()
	var err error
	if l.client, err = model.Open(*l.first.Model, r.o.Model); err != nil {
		return l.failed(err.Error())
	}
	for {
		if over := l.next(ctx); over != nil {
			over.Ended = r.o.Now()
			return *over
		}
	}
}

// next takes one step. It returns the result after the last one.
func (l *loop) next(ctx context.Context) *react.Result {
	all := l.steps.All()
	again := 0 // a step that an earlier attempt began
	if n := len(all); n > 0 && all[n-1].State == react.StepBegun {
		again, all = all[n-1].N, all[:n-1]
	}
	at := len(all) - 1
	for at >= 0 && all[at].Kind != react.StepModel {
		at--
	}
	if at < 0 {
		return l.ask(ctx, all, again)
	}
	last := all[at]
	if !last.Again.IsZero() {
		if over := l.rest(ctx, last.Again); over != nil {
			return over
		}
		return l.ask(ctx, all, again)
	}
	if last.State != react.StepDone || last.Answer == nil {
		return l.over(react.OutcomeFailed, last.Why)
	}
	settled := len(all) - 1 - at
	switch calls := last.Answer.Calls; {
	case last.Answer.Cut:
		return l.said(last.Answer, react.OutcomeFailed, fmt.Sprintf("the answer was cut at %d tokens", l.first.Model.Output))
	case l.first.Kind == react.RequestChoice:
		return l.chosen(last.Answer)
	case len(calls) == 0 && last.Answer.Text.IsZero():
		return l.over(react.OutcomeFailed, "the model answered nothing")
	case len(calls) == 0:
		return l.said(last.Answer, react.OutcomeDone, "")
	case settled < len(calls):
		return l.call(ctx, calls[settled], len(all)+1, again)
	}
	return l.ask(ctx, all, again)
}

// ask asks the model.
func (l *loop) ask(ctx context.Context, before []react.Step, again int) *react.Result {
	text, err := body(l.client, l.first, before)
	if err != nil {
		return l.over(react.OutcomeFailed, err.Error())
	}
	s := react.Step{N: again, Kind: react.StepModel, Sent: react.Digest(text)}
	s.Usage, s.Cost = l.client.Bound(text)
	if s.N, err = l.steps.Begin(ctx, s, nil); err != nil {
		return l.stopped(ctx, err)
	}
	answer, usage, cost, err := l.client.Ask(ctx, text, l.steps.Progress)
	s.State, s.Usage, s.Cost = react.StepDone, usage, cost
	if err == nil {
		answer, err = stored(answer)
		s.Answer = &answer
	}
	if err != nil {
		s.State, s.Why, s.Answer = react.StepFailed, err.Error(), nil
		l.again(ctx, before, &s, err)
	}
	if failed := l.end(ctx, s); failed != nil {
		return failed
	}
	if ctx.Err() != nil {
		return l.stopped(ctx, context.Cause(ctx))
	}
	return nil
}

// call carries out one tool call, as step n.
func (l *loop) call(ctx context.Context, c react.Call, n, again int) *react.Result {
	s := react.Step{N: again, Kind: react.StepTool, Call: c.ID, Tool: c.Name, Args: c.Args}
	tool, ok := toolset.Named(l.first.Tools, c.Name)
	if !ok {
		return l.refuse(ctx, s, "there is no such tool")
	}
	s.Server, s.Tool, s.Class = tool.Server, tool.Name, tool.Class
	request, changed, err := toolset.Request(ctx, l.o.Tools, l.first, tool, c.Args)
	if err != nil {
		l.o.Log.Warn("a tool is not called", "server", tool.Server, "tool", tool.Name, "err", err)
		return l.refuse(ctx, s, toolset.Refusal(err))
	}
	request.Step, s.Class, s.Args, s.Why = n, request.Class, request.Input, changed
	s.N, err = l.steps.Begin(ctx, s, &request)
	switch {
	case errors.Is(err, react.ErrAsks):
		return &react.Result{Outcome: react.OutcomeAsks, Next: &request, Why: because(err, react.ErrAsks)}
	case errors.Is(err, react.ErrRefusedStep):
		return nil // the next question says so
	case err != nil:
		return l.stopped(ctx, err)
	}
	return l.called(ctx, s)
}

// called calls the tool of a begun step, and stores the result. A call that may have changed
// something and whose outcome is unknown stays begun: the run is parked.
func (l *loop) called(ctx context.Context, s react.Step) *react.Result {
	s, known := toolset.Call(ctx, l.o.Tools, s)
	if !known {
		return l.over(react.OutcomeUnknown, toolset.Unknown(s))
	}
	if failed := l.end(ctx, s); failed != nil {
		return failed
	}
	if ctx.Err() != nil {
		return l.stopped(ctx, context.Cause(ctx))
	}
	return nil
}

// refuse records a refused call.
func (l *loop) refuse(ctx context.Context, s react.Step, why string) *react.Result {
	s.State, s.Why = react.StepRefused, cut(why)
	if !json.Valid(s.Args) {
		s.Args = nil
	}
	if _, err := l.steps.Begin(ctx, s, nil); !errors.Is(err, react.ErrRefusedStep) {
		return l.stopped(ctx, err)
	}
	return nil
}

// end stores the outcome of a step, even after the attempt has ended.
func (l *loop) end(ctx context.Context, s react.Step) *react.Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	if err := l.steps.End(ctx, s); err != nil {
		return l.over(react.OutcomeUnknown, "what became of a step could not be kept: "+err.Error())
	}
	return nil
}

// stopped returns the result of an attempt whose next step may not begin.
func (l *loop) stopped(ctx context.Context, err error) *react.Result {
	switch {
	case errors.Is(err, errTime):
		return l.over(react.OutcomeFailed, fmt.Sprintf("it took longer than %s", react.FormatDuration(l.first.Time)))
	case errors.Is(err, react.ErrStopped), ctx.Err() != nil:
		return l.over(react.OutcomeKilled, "")
	case errors.Is(err, react.ErrBudget), errors.Is(err, react.ErrRefusedStep):
		return l.over(react.OutcomeFailed, err.Error())
	}
	return l.over(react.OutcomeUnknown, fmt.Sprintf("a step could not be begun: %v", err))
}

func (l *loop) over(o react.Outcome, why string) *react.Result {
	return &react.Result{Outcome: o, Why: cut(why)}
}

func (l *loop) said(a *react.Answer, o react.Outcome, why string) *react.Result {
	return &react.Result{Outcome: o, Why: why, Answer: a.Text}
}

func (l *loop) failed(why string) react.Result {
	return react.Result{Outcome: react.OutcomeFailed, Why: cut(why), Ended: l.o.Now()}
}

// because returns the text of an error before that of its sentinel.
func because(err, sentinel error) string {
	text, tail := err.Error(), ": "+sentinel.Error()
	if n := len(text) - len(tail); n > 0 && text[n:] == tail {
		return text[:n]
	}
	return text
}

// maxWhy is the largest length of a reason, in bytes.
const maxWhy = 1000

func cut(why string) string {
	if len(why) <= maxWhy {
		return why
	}
	return string([]rune(why[:maxWhy])) + "…"
}
