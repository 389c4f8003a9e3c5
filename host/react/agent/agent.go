// Package agent carries out reactions that prompt an agent: a program that speaks the Agent
// Client Protocol (package acp). For the system an agent is a command, with the supervisor, the
// confinement and the limits of one (package act). Its requests for permission go to the
// operator, and it calls the tools of its rule through a [react.Gate], where the engine judges
// each call.
//
// Whether an agent asks for permission is up to the agent. Only its confinement is enforced.
package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
	"eventdeck/host/react/toolset"
)

// Options of [New]. Commands, Dir and Executable are needed.
type Options struct {
	Commands   *act.Runner
	Dir        string // the data directory
	Executable string // of this program, whose command gate serves tools
	Version    string
	Tools      react.Toolbox // nil: rules with tools cannot act
	// Socket returns the path of the socket of this process, for the command gate; nil or "":
	// there is none, and rules with tools cannot act.
	Socket func() string
	Now    func() time.Time // nil: time.Now
}

// Runner is a [react.Runner] for agents. All methods may be called from any goroutine.
type Runner struct {
	o Options

	mu    sync.Mutex
	gates map[react.RunID]*toolGate
	busy  map[string]chan struct{} // conversations in use; closed when free
}

var _ react.Runner = (*Runner)(nil)

// New returns a runner. It keeps conversations in a subdirectory of the data directory.
func New(o Options) (*Runner, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Socket == nil {
		o.Socket = func() string { return "" }
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	r := &Runner{o: o, gates: map[react.RunID]*toolGate{}, busy: map[string]chan struct{}{}}
	if err := os.MkdirAll(r.place(), 0o700); err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	return r, nil
}

// Errors of [Runner.Prepare].
var (
	errNoTools = errors.New("the rule has tools, and there is nothing here to serve them")
	errNet     = errors.New(`the rule has tools, which an agent reaches through a socket, and "confine" allows none; write "net": true, or leave the tools out`)
	errKeepDir = errors.New(`the agent keeps its conversation, which belongs to a directory; name one with "cwd"`)
)

// Prepare implements [react.Runner].
func (r *Runner) Prepare(rule react.Rule, run react.Run, members []event.Record) (react.Request, error) {
	a := rule.Do.Agent
	if a == nil {
		return react.Request{}, fmt.Errorf("rule %s: it has no agent", rule.Name)
	}
	fail := func(err error) (react.Request, error) {
		return react.Request{}, fmt.Errorf("rule %s: %w", rule.Name, err)
	}
	switch {
	case a.Keep && a.Dir == "":
		return fail(errKeepDir)
	case len(a.Tools) > 0 && len(members) > 0 && (r.o.Tools == nil || r.o.Socket() == ""):
		return fail(errNoTools)
	case len(a.Tools) > 0 && a.Confine != nil && !a.Confine.Net:
		return fail(errNet)
	}
	command := a.Command
	command.Stdin, command.RepeatSafe = react.StdinEnvelope, false
	rule.Do = react.Do{Command: &command}
	req, err := r.o.Commands.Prepare(rule, run, members)
	if err != nil {
		return react.Request{}, err
	}
	req.Kind, req.Task, req.Keep, req.Flows = react.RequestAgent, a.Task, a.Keep, a.Flows
	if a.Keep {
		req.Origin = rule.On.Server
	}
	if len(a.Fields) > 0 {
		if req.Input, err = act.Envelope(run, members, a.Fields); err != nil {
			return fail(err)
		}
	}
	if len(members) == 0 {
		return req, nil // the hash of a rule does not cover tools
	}
	ctx, cancel := context.WithTimeout(context.Background(), toolsWithin)
	defer cancel()
	if req.Tools, err = toolset.Pin(ctx, r.o.Tools, a.Tools); err != nil {
		return fail(err)
	}
	return req, nil
}

// Ready implements [react.Runner].
func (r *Runner) Ready(ctx context.Context, req react.Request, n int) (react.Attempt, error) {
	if req.Kind != react.RequestAgent {
		return nil, fmt.Errorf("run %s: %q is no request for an agent", req.Run, req.Kind)
	}
	var sockets []string
	if len(req.Tools) > 0 {
		socket := r.o.Socket()
		if socket == "" {
			return nil, fmt.Errorf("run %s: %w", req.Run, errNoTools)
		}
		sockets = []string{socket}
	}
	talk, err := r.o.Commands.ReadyTalk(ctx, req, n, sockets...)
	if err != nil {
		return nil, err
	}
	a := &attempt{Talk: talk, r: r, req: req, sockets: sockets, asking: make(chan struct{}, 1), done: make(chan struct{})}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a, nil
}

// Adopt implements [react.Runner]. An agent does not outlive its host: either its conversation
// can be loaded and continued, or its outcome is unknown.
func (r *Runner) Adopt(ctx context.Context, req react.Request, h react.Handle) (react.Attempt, error) {
	command := req
	command.Kind = react.RequestCommand
	left, err := r.o.Commands.Adopt(ctx, command, h)
	if err != nil {
		return nil, err
	}
	return &adopted{Attempt: left, r: r, req: req}, nil
}

// Forget implements [react.Runner].
func (r *Runner) Forget(h react.Handle) error { return r.o.Commands.Forget(h) }

// adopted is an attempt of an earlier process, which ends by itself.
type adopted struct {
	react.Attempt
	r   *Runner
	req react.Request
}

// Wait implements [react.Attempt].
func (a *adopted) Wait(ctx context.Context) (react.Result, error) {
	res, err := a.Attempt.Wait(ctx)
	if err != nil || res.Outcome == react.OutcomeNever || res.Outcome == react.OutcomeScarce || res.Outcome == react.OutcomeKilled {
		return res, err
	}
	res.Output.Stdout = react.Stream{}
	res.Outcome, res.Why, res.Exit = react.OutcomeUnknown, "eventdeck ended while the agent worked; what it did is not known", 0
	if m, ok := a.r.recall(a.req); ok && m.cutOff(a.req) && m.Loads {
		res.Outcome, res.Why = react.OutcomeRetry, "eventdeck ended while the agent worked; its conversation is loaded again"
	}
	return res, nil
}
