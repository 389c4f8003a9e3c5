package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// planned is a step that the test runner takes in a run.
type planned struct {
	kind  react.StepKind
	tool  string // of a tool, SERVER/NAME
	ask   bool   // a live attempt asks by itself
	gives int    // how often it gives its question up after a second, and asks again
	args  string
	bound int64
	cost  int64 // -1: it is not known
	next  *react.Request
	end   *react.Result
}

// prepareSteps makes the request of a rule that takes steps.
func prepareSteps(req *react.Request, rule react.Rule) {
	var tools []react.Tool
	switch do := rule.Do; {
	case do.Task != nil:
		req.Kind, req.Model, req.Task, tools, req.Flows = react.RequestModel, &do.Task.Model, do.Task.Task, do.Task.Tools, do.Task.Flows
	case do.Choice != nil:
		req.Kind, req.Model, req.Choices = react.RequestChoice, &do.Choice.Model, do.Choice.Acts
	default:
		req.Kind, req.Argv, req.Task, tools = react.RequestAgent, do.Agent.Argv, do.Agent.Task, do.Agent.Tools
	}
	for _, t := range tools {
		req.Tools = append(req.Tools, react.Pinned{Tool: t, Pin: "pin of " + t.Name})
	}
	req.Spend, req.Tokens = rule.Limits.Spend, rule.Limits.Tokens
}

// follow takes the planned steps of a run, until the world is killed.
func (a *attempt) follow(steps react.Steps) {
	w := a.l.w
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	w.begun[a.name()]++
	end := make(chan struct{})
	w.ends[a.name()] = end
	plan := w.plan(steps.First())
	w.mu.Unlock()
	go func() {
		<-a.killed
		cancel()
	}()
	go func() {
		defer close(end)
		defer a.Kill()
		result := a.steps(ctx, steps, plan)
		if ctx.Err() != nil {
			result = react.Result{Outcome: react.OutcomeKilled}
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.results[a.name()] = result
	}()
}

func (a *attempt) steps(ctx context.Context, steps react.Steps, plan []planned) react.Result {
	failed := func(err error) react.Result {
		return react.Result{Outcome: react.OutcomeFailed, Why: err.Error()}
	}
	for i, p := range plan {
		if p.end != nil {
			return *p.end
		}
		if p.next != nil {
			return react.Result{Outcome: react.OutcomeAsks, Next: p.next, Why: "a model chose it"}
		}
		all := steps.All()
		if i < len(all) && all[i].State != react.StepBegun {
			continue
		}
		st, req := p.step(steps.First())
		if i < len(all) {
			st.N = all[i].N
		}
		n, err := a.begin(ctx, steps, st, req, p)
		switch {
		case errors.Is(err, react.ErrAsks):
			return react.Result{Outcome: react.OutcomeAsks, Next: req, Why: err.Error()}
		case errors.Is(err, react.ErrRefusedStep):
			continue
		case err != nil:
			return failed(err)
		}
		st.N, st.State, st.Cost = n, react.StepDone, p.cost
		if err := a.carryOut(ctx, steps, &st, p); err != nil {
			return failed(err)
		}
		if err := steps.End(ctx, st); err != nil {
			return failed(err)
		}
	}
	return react.Result{Outcome: react.OutcomeDone, Answer: trust.Untrusted("it is done")}
}

// begin begins a step, for which a live attempt asks first.
func (a *attempt) begin(ctx context.Context, steps react.Steps, st react.Step, req *react.Request, p planned) (int, error) {
	n, err := steps.Begin(ctx, st, req)
	if !errors.Is(err, react.ErrAsks) || !p.ask {
		return n, err
	}
	for range p.gives {
		soon, cancel := context.WithTimeout(ctx, time.Second)
		_, err := steps.Ask(soon, *req, "the agent wants to call it")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			return 0, err
		}
	}
	answer, err := steps.Ask(ctx, *req, "the agent wants to call it")
	a.l.w.mu.Lock()
	a.l.w.answers[a.req.Run] = append(a.l.w.answers[a.req.Run], answer)
	a.l.w.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if !answer.Approved {
		return 0, fmt.Errorf("denied: %w", react.ErrRefusedStep)
	}
	return steps.Begin(ctx, st, req)
}

// carryOut carries out a step, unless the world was killed.
func (a *attempt) carryOut(ctx context.Context, steps react.Steps, st *react.Step, p planned) error {
	a.l.failpoint("calling")
	steps.Progress(trust.Untrusted(a.l.w.words))
	if a.l.isDead() {
		return errors.New("the host is gone")
	}
	w := a.l.w
	w.mu.Lock()
	if st.Kind == react.StepTool {
		name := fmt.Sprintf("%s/%d", a.req.Run, st.N)
		if w.called[name]++; st.Class == react.ToolWrite {
			w.wrote[name]++
		}
		st.Result = &react.ToolResult{Content: trust.Untrusted("told")}
	} else {
		w.paid[a.req.Run] += p.cost
		if p.cost < 0 {
			w.paid[a.req.Run] += p.bound + 1
		}
		st.Answer = &react.Answer{Text: trust.Untrusted("said" + w.said), Calls: w.calls}
	}
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.after():
	}
	a.l.failpoint("called")
	return nil
}

// step returns the planned step, with its exact request.
func (p planned) step(first react.Request) (react.Step, *react.Request) {
	st := react.Step{Kind: p.kind, Cost: p.bound, Usage: react.Usage{In: 100, Out: 10}, Sent: "hash"}
	if p.kind != react.StepTool {
		return st, nil
	}
	i := slices.IndexFunc(first.Tools, func(t react.Pinned) bool { return t.Server+"/"+t.Name == p.tool })
	st.Usage, st.Args = react.Usage{}, json.RawMessage(`{"id":1}`)
	if p.args != "" {
		st.Args = json.RawMessage(p.args)
	}
	if i < 0 {
		st.Server, st.Tool = "made", p.tool
		return st, &react.Request{Kind: react.RequestTool, Run: first.Run, Rule: first.Rule, Server: "made", Tool: p.tool, Class: react.ToolRead}
	}
	t := first.Tools[i]
	st.Server, st.Tool, st.Class = t.Server, t.Name, t.Class
	return st, &react.Request{Kind: react.RequestTool, Run: first.Run, Rule: first.Rule, Server: t.Server, Tool: t.Name, Class: t.Class, Pin: t.Pin, Input: st.Args}
}

var (
	asksModel = planned{kind: react.StepModel, bound: 1000, cost: 400}
	reads     = planned{kind: react.StepTool, tool: "pager/look"}
	writes    = planned{kind: react.StepTool, tool: "pager/undo"}
)

func does(plan ...planned) func(react.Request) []planned {
	return func(react.Request) []planned { return plan }
}
