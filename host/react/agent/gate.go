package agent

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/acp"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
	"eventdeck/host/react/toolset"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
)

// Bounds of calls.
const (
	toolsWithin = 30 * time.Second // for the lists of the servers' tools
	maxCalls    = 4                // of one run at the same time
)

// toolGate is the [react.Gate] of one conversation.
type toolGate struct {
	a     *attempt
	steps react.Steps
	token string
	calls chan struct{} // a slot for each pending call
}

var _ react.Gate = (*toolGate)(nil)

// serve opens the gate of the conversation, and returns the MCP server for the agent to start.
// After shut no call passes.
func (a *attempt) serve(steps react.Steps) (servers []acp.Server, shut func()) {
	if len(a.req.Tools) == 0 {
		return nil, func() {}
	}
	g := &toolGate{a: a, steps: steps, token: rand.Text(), calls: make(chan struct{}, maxCalls)}
	a.r.mu.Lock()
	a.r.gates[a.req.Run] = g
	a.r.mu.Unlock()
	return []acp.Server{{
			Name: "eventdeck", Command: a.r.o.Executable, Args: []string{"gate", string(a.req.Run)},
			Env: [][2]string{{toolset.EnvSocket, a.sockets[0]}, {toolset.EnvToken, g.token}},
		}}, func() {
			a.r.mu.Lock()
			delete(a.r.gates, a.req.Run)
			a.r.mu.Unlock()
			a.cancel()
		}
}

// Gate returns the gate of a run that is under way, for the holder of its token.
//
// Error: [react.ErrNoGate].
func (r *Runner) Gate(run react.RunID, token string) (react.Gate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.gates[run]
	if g == nil || subtle.ConstantTimeCompare([]byte(g.token), []byte(token)) != 1 {
		return nil, react.ErrNoGate
	}
	return g, nil
}

// Tools implements [react.Gate].
func (g *toolGate) Tools(context.Context) ([]react.Pinned, error) {
	if g.a.ctx.Err() != nil {
		return nil, react.ErrNoGate
	}
	return slices.Clone(g.steps.First().Tools), nil
}

// errManyCalls: too many calls at the same time.
var errManyCalls = fmt.Errorf("%w: %d calls are under way", react.ErrRefusedStep, maxCalls)

// Call implements [react.Gate].
func (g *toolGate) Call(ctx context.Context, server, tool string, args json.RawMessage) (react.ToolResult, error) {
	select {
	case g.calls <- struct{}{}:
		defer func() { <-g.calls }()
	default:
		return react.ToolResult{}, errManyCalls
	}
	// The call ends when the agent gives it up, or with the conversation.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(g.a.ctx, func() { cancel(react.ErrNoGate) })()
	step, err := g.begin(ctx, server, tool, args)
	if err != nil {
		return react.ToolResult{}, err
	}
	return g.carryOut(step)
}

// begin begins the step of a call, after the operator's approval where the policy demands it.
func (g *toolGate) begin(ctx context.Context, server, tool string, args json.RawMessage) (react.Step, error) {
	step := react.Step{Kind: react.StepTool, Server: server, Tool: tool}
	pinned := react.FindTool(g.steps.First().Tools, server, tool)
	if pinned == nil {
		return step, g.refuse(ctx, step, "there is no such tool")
	}
	step.Class = pinned.Class
	req, changed, err := toolset.Request(ctx, g.a.r.o.Tools, g.a.req, *pinned, args)
	if err != nil {
		return step, g.refuse(ctx, step, toolset.Refusal(err))
	}
	step.Class, step.Args, step.Why = req.Class, json.RawMessage(req.Input), changed
	step.N, err = g.steps.Begin(ctx, step, &req)
	if errors.Is(err, react.ErrAsks) {
		step.N, err = g.ask(ctx, step, req, err.Error())
	}
	return step, err
}

// refuse records a refused call, and returns the error for the agent.
func (g *toolGate) refuse(ctx context.Context, step react.Step, why string) error {
	step.State, step.Why = react.StepRefused, why
	_, err := g.steps.Begin(ctx, step, nil)
	if err == nil {
		err = fmt.Errorf("%w: %s", react.ErrRefusedStep, why)
	}
	return err
}

// ask asks the operator to decide about a call, and begins its step if approved.
func (g *toolGate) ask(ctx context.Context, step react.Step, req react.Request, why string) (n int, err error) {
	asked, err := g.a.ask(ctx)
	if err != nil {
		return 0, err
	}
	defer asked()
	answered, err := g.a.put(ctx, g.steps, req, why)
	if err != nil {
		return 0, err
	}
	if !answered.Approved {
		return 0, fmt.Errorf("%w: the operator denies it: %s", react.ErrRefusedStep, answered.Reason)
	}
	return g.steps.Begin(ctx, step, &req)
}

// carryOut calls the tool of a begun step. It goes on even if the agent gives up, so that the
// outcome of the call becomes known.
func (g *toolGate) carryOut(step react.Step) (react.ToolResult, error) {
	ctx := context.WithoutCancel(g.a.ctx)
	step, known := toolset.Call(ctx, g.a.r.o.Tools, step)
	if !known {
		why := toolset.Unknown(step)
		g.a.unknown.Store(&why)
		return react.ToolResult{}, errors.New(why) // the step stays begun
	}
	if err := g.steps.End(ctx, step); err != nil {
		return react.ToolResult{}, err
	}
	return sealed(g.a.req.Run, step)
}

// sealed returns the result of a step in an envelope.
func sealed(run react.RunID, step react.Step) (react.ToolResult, error) {
	result := *step.Result
	origin := "mcp-tool-result"
	if result.Cut > 0 {
		origin += fmt.Sprintf(", its last %d bytes left out", result.Cut)
	}
	text, err := act.Seal(run, scan.Envelope{Origin: origin, Server: trust.Untrusted(step.Server), Payload: []byte(result.Content.Raw())})
	result.Content = trust.Untrusted(string(text))
	return result, err
}
