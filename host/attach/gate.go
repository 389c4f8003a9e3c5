package attach

import (
	"context"
	"encoding/json"
	"slices"

	"eventdeck/host/react"
)

// maxGates is how many sessions one run may have for its tools.
const maxGates = 4

// headerRun opens a session for the tools of a run. Its token is that of the run, and it has no
// verbs but those of the tools.
const headerRun = "Eventdeck-Run"

// Gates finds the tools of a run for the holder of its token. Error: [react.ErrNoGate].
type Gates func(run react.RunID, token string) (react.Gate, error)

// The verbs of a session for the tools of a run. No other session has them.
const (
	verbTools verb[nothing, []react.Pinned]    = "tools"
	verbCall  verb[toolCall, react.ToolResult] = "call"
)

type toolCall struct {
	Server, Tool string
	Args         []byte
}

// gateVerbs returns their handlers. Each looks the run up, so that none answers after its end.
func gateVerbs() map[string]handler {
	all := map[string]handler{}
	add := func(name string, h handler) { all[name] = h }
	add(answer(verbTools, func(ctx context.Context, e *session, _ nothing) ([]react.Pinned, error) {
		gate, err := e.gate()
		if err != nil {
			return nil, err
		}
		tools, err := gate.Tools(ctx)
		tools = slices.Clone(tools)
		for i := range tools {
			tools[i].Fix, tools[i].Drop = nil, nil
		}
		return tools, err
	}))
	add(answer(verbCall, func(ctx context.Context, e *session, c toolCall) (react.ToolResult, error) {
		gate, err := e.gate()
		if err != nil {
			return react.ToolResult{}, err
		}
		return gate.Call(ctx, c.Server, c.Tool, json.RawMessage(c.Args))
	}))
	return all
}

// gate returns the tools that the session is for. Error: [react.ErrNoGate].
func (e *session) gate() (react.Gate, error) {
	if e.server.opts.Gates == nil {
		return nil, react.ErrNoGate
	}
	return e.server.opts.Gates(e.run, e.token)
}

// admit checks the token of a new session, of an operator or for the tools of a run. Error:
// [react.ErrToken].
func (s *Server) admit(e *session) error {
	if e.run == "" {
		if !s.isToken(e.token) {
			return react.ErrToken
		}
		return nil
	}
	if _, err := e.gate(); err != nil {
		return react.ErrToken
	}
	return nil
}

// Gate is the tools of a run in another process. All methods may be called from any
// goroutine.
type Gate struct{ c *Client }

var _ react.Gate = (*Gate)(nil)

// AttachGate connects to the tools of a run, at the socket and with the token that its agent
// was given.
//
// Errors: [ErrNotListening], [event.ErrSilent], [ErrVersion], [ErrPeer], [ErrBusy];
// [react.ErrToken] for a wrong token, and after the end of the run; the cause of ctx.
func AttachGate(ctx context.Context, socket string, run react.RunID, token string) (*Gate, error) {
	c := newClient("", dialPath(func() string { return socket }))
	c.run, c.token = run, token
	if err := c.open(ctx); err != nil {
		_ = c.Close() // err says more
		return nil, err
	}
	return &Gate{c}, nil
}

// Done is closed when the connection has ended.
func (g *Gate) Done() <-chan struct{} { return g.c.Done() }

// Close ends the connection.
func (g *Gate) Close() error { return g.c.Close() }

// Tools implements [react.Gate]. What the operator fixed or dropped stays in the process that
// runs the reaction.
func (g *Gate) Tools(ctx context.Context) ([]react.Pinned, error) {
	return ask(ctx, g.c, verbTools, nothing(false))
}

// Call implements [react.Gate].
func (g *Gate) Call(ctx context.Context, server, tool string, args json.RawMessage) (react.ToolResult, error) {
	return ask(ctx, g.c, verbCall, toolCall{server, tool, args})
}
