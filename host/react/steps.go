package react

import (
	"context"
	"encoding/json"
	"errors"

	"eventdeck/host/trust"
)

// Errors of [Steps].
var (
	// ErrAsks: the step needs the operator's approval. The attempt ends with OutcomeAsks.
	ErrAsks = errors.New("the step waits for an approval")
	// ErrRefusedStep: the policy refuses the step; the text says why. The attempt may go on
	// without it.
	ErrRefusedStep = errors.New("the step is refused")
	// ErrBudget: the step might cost more than is left, or the run took as many steps as it
	// may. The step was not begun.
	ErrBudget = errors.New("no budget is left")
	// ErrStopped: reactions were stopped.
	ErrStopped = errors.New("reactions are stopped")
)

// ErrToolRefused: a tool call was refused, or never reached its server. The text says why.
var ErrToolRefused = errors.New("the call of the tool was refused")

// Steps judges and records the steps of one run. An attempt that takes several steps passes each
// of them through it and does nothing else. The engine implements it and hands it to
// [Attempt.Go]. Its methods may be called from any goroutine.
type Steps interface {
	// First returns the request with which the run began: the instruction, the model and
	// the tools, frozen.
	First() Request
	// All returns the steps of the run so far, in order, those of earlier attempts included.
	All() []Step
	// Begin judges a step and commits it before it is carried out, which may happen once
	// Begin returned the number of the step. s.Usage and s.Cost are upper bounds, and are
	// reserved. Request is the exact act of a tool call, with the present class and pin of the
	// tool, otherwise nil. A step of unknown outcome that is begun again keeps its number:
	// s.N is then not 0. A refused step is stored too, and counts; a step that the attempt
	// itself refuses has StepRefused and Why.
	// Errors: ErrAsks, ErrRefusedStep, ErrBudget, ErrStopped, the cause of ctx, those of the
	// store. Their text says why, in our own words.
	Begin(ctx context.Context, s Step, request *Request) (n int, err error)
	// End commits the outcome of the begun step s.N: State (StepDone or StepFailed), Why,
	// Answer or Result, Again, and the reported usage and cost. A negative Cost means that
	// these are not known: the reservation stays.
	// Errors: the cause of ctx, those of the store, a step that was not begun.
	End(ctx context.Context, s Step) error
	// Ask asks the operator to decide about a request while the attempt goes on, and waits
	// for the answer.
	// Errors: ErrStopped; ErrBudget after too many abandoned questions: the attempt must end;
	// the cause of ctx.
	Ask(ctx context.Context, request Request, why string) (Answered, error)
	// Progress shows the next piece of a model's output while it streams. It is not stored.
	Progress(text trust.Text)
}

// Answered is the operator's answer to [Steps.Ask].
type Answered struct {
	Approved bool
	Reason   string // of a denial
}

// Toolbox gives access to the tools of the host's servers. Its methods may be called from any
// goroutine.
type Toolbox interface {
	// ToolsOf lists the tools of a server as it describes them now. Tools with an invalid
	// description, or with a name that occurs twice, are left out.
	ToolsOf(ctx context.Context, server string) ([]ToolDef, error)
	// CallTool calls a tool; args is a JSON object. A result that reports failure is not an
	// error.
	// Errors: ErrToolRefused. After any other error it is unknown whether the call was carried
	// out.
	CallTool(ctx context.Context, server, tool string, args json.RawMessage) (ToolResult, error)
}

// ErrNoGate: no run has that token, or the run is over.
var ErrNoGate = errors.New("no run that is under way has this token")

// Gate gives the agent of one run access to the tools of that run. Each call passes through the
// [Steps] of the run; after its end no call is let through. Its methods may be called from any
// goroutine.
type Gate interface {
	// Tools returns the pinned tools of the run.
	// Errors: ErrNoGate; the cause of ctx.
	Tools(ctx context.Context) ([]Pinned, error)
	// Call calls a tool, if needed after the operator's approval, and waits for the result,
	// which is in an envelope (package handoff).
	// Errors: ErrRefusedStep, ErrBudget, ErrStopped, ErrNoGate; the cause of ctx. The agent
	// may see their text.
	Call(ctx context.Context, server, tool string, args json.RawMessage) (ToolResult, error)
}
