package react

import (
	"context"
	"encoding/json"
	"errors"

	"eventdeck/host/trust"
)

// Errors of Steps.
var (
	// ErrAsks: the step needs the operator's approval. The attempt ends with OutcomeAsks.
	ErrAsks = errors.New("the step waits for an approval")
	// ErrRefusedStep: the policy refuses the step; the text says why. The attempt may go on
	// without it.
	ErrRefusedStep = errors.New("the step is refused")
	// ErrBudget: the step might cost more than is left, or is one too many. It was not begun.
	ErrBudget = errors.New("no budget is left")
	// ErrStopped: reactions were stopped.
	ErrStopped = errors.New("reactions are stopped")
)

// ErrToolRefused: a call of a tool was refused, or never reached its server. The text says
// why.
var ErrToolRefused = errors.New("the call of the tool was refused")

// Steps is where an attempt that takes several steps has each of them judged and recorded:
// it does nothing past it. The engine implements it, and hands it to [Attempt.Go]. It is of one run. Its methods may be called from any goroutine.
type Steps interface {
	// First returns the request with which the run began: the instruction, the model and
	// the tools, frozen.
	First() Request
	// All returns what the run did so far, in order, also in earlier attempts.
	All() []Step
	// Begin judges a step and commits it before it is begun: it may be done once Begin
	// returned its number. s.Usage and s.Cost are what it may use and cost at most; that is
	// reserved. Request is the exact act of a call of a tool, with the tool's class and pin
	// as they are now, else nil. A step that is begun again, as its outcome is not known,
	// keeps its number: s.N is then not 0. A step that is refused is kept as such, and
	// counts; one that the attempt itself refuses comes with StepRefused and Why.
	// Errors: ErrAsks, ErrRefusedStep, ErrBudget, ErrStopped, the cause of ctx, those of the
	// store. Their text says why, in our words.
	Begin(ctx context.Context, s Step, request *Request) (n int, err error)
	// End commits what became of a step that was begun: by s.N its State (StepDone or
	// StepFailed), Why, Answer or Result, Again, and what it really used and cost, as it was
	// reported. A negative Cost says that this is not known: what was reserved stays.
	// Errors: the cause of ctx, those of the store; a step that was not begun.
	End(ctx context.Context, s Step) error
	// Ask has the operator decide about a request while the attempt goes on, and waits for
	// the verdict.
	// Errors: ErrStopped; ErrBudget once too many questions were given up, with which the
	// attempt is to end; the cause of ctx.
	Ask(ctx context.Context, request Request, why string) (Answered, error)
	// Progress shows the next piece of what a model says while it says it. It is not stored.
	Progress(text trust.Text)
}

// Answered is what the operator says of a request that an attempt waits for.
type Answered struct {
	Approved bool
	Reason   string // of a denial
}

// Toolbox is the tools of the servers, which the host has. Its methods may be called from
// any goroutine.
type Toolbox interface {
	// ToolsOf lists the tools of a server as it describes them now. A tool of which it makes
	// no sense, or more than one, is left out.
	ToolsOf(ctx context.Context, server string) ([]ToolDef, error)
	// CallTool calls one; args is an object. A tool that says itself that it failed is no
	// error.
	// Errors: ErrToolRefused. After any other it is not known whether the call was carried
	// out.
	CallTool(ctx context.Context, server, tool string, args json.RawMessage) (ToolResult, error)
}

// ErrNoGate: there is no run with that token, or it is over.
var ErrNoGate = errors.New("no run that is under way has this token")

// Gate is the tools of one run, for its agent. Each call passes through the [Steps] of the
// run; after the end of the run nothing does. Its methods may be called from any goroutine.
type Gate interface {
	// Tools returns the tools that the run has, as they are pinned.
	// Errors: ErrNoGate; the cause of ctx.
	Tools(ctx context.Context) ([]Pinned, error)
	// Call calls one of them, after the operator's approval where it needs that, and waits.
	// The result is in an envelope (package handoff).
	// Errors: ErrRefusedStep, ErrBudget, ErrStopped, ErrNoGate; the cause of ctx. Their text
	// may be told to the agent.
	Call(ctx context.Context, server, tool string, args json.RawMessage) (ToolResult, error)
}
