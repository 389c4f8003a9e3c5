// Serves the tools of a run to its agent, as an MCP server over standard streams
// that the agent starts. It has no rights of its own: each call goes to the process that runs
// the reaction, which judges it.

package toolset

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// Environment variables that lead the server to the tools of its run.
const (
	EnvSocket = "EVENTDECK_GATE_SOCKET" // of the process that runs the reaction
	EnvToken  = "EVENTDECK_GATE_TOKEN"
)

// Bounds.
const (
	maxLine  = 1 << 20 // bytes of a message
	maxCalls = 8       // at the same time
)

// ErrTooLong: the agent sent too long a message.
var ErrTooLong = fmt.Errorf("a message has more than %d bytes", maxLine)

// versions returns the supported versions of MCP, newest first.
func versions() []string { return []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} }

// server is one connection.
type server struct {
	gate    react.Gate
	version string // of this program

	out   io.Writer
	write sync.Mutex // held while a message is written
	wg    sync.WaitGroup

	mu    sync.Mutex
	calls map[wire.ID]context.CancelFunc // of pending calls
}

// ServeGate answers requests until in or ctx ends; then it cancels pending calls, and waits for
// them. The caller closes in, as a pending read is not interrupted.
//
// Errors: [ErrTooLong], those of in.
func ServeGate(ctx context.Context, in io.Reader, out io.Writer, gate react.Gate, version string) error {
	s := &server{gate: gate, version: version, out: out, calls: map[wire.ID]context.CancelFunc{}}
	ctx, cancel := context.WithCancel(ctx)
	defer s.wg.Wait()
	defer cancel()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for ctx.Err() == nil && lines.Scan() {
		s.take(ctx, lines.Bytes())
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return ErrTooLong
	}
	return lines.Err()
}

// take handles one line. Invalid requests get an error, if they have an id.
func (s *server) take(ctx context.Context, line []byte) {
	if _, err := strict.ParseObject(line, strict.Limits{}); err != nil {
		s.refuse(nil, wire.CodeParse, "this is no message")
		return
	}
	messages, err := wire.DecodeMessages(line)
	if err != nil || len(messages) != 1 {
		s.refuse(nil, wire.CodeInvalidRequest, "this is no request")
		return
	}
	m := messages[0]
	switch {
	case m.Method == "notifications/cancelled":
		s.cancelled(m)
	case m.IsNotification() || m.IsResponse():
	case m.Method == "initialize":
		s.initialize(m)
	case m.Method == "ping":
		s.answer(m, struct{}{})
	case m.Method == "tools/list":
		s.list(ctx, m)
	case m.Method == "tools/call":
		s.call(ctx, m)
	default:
		s.refuse(m.RawID, wire.CodeMethodNotFound, "this server has tools and nothing else")
	}
}

func (s *server) initialize(m wire.Message) {
	var p struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	speaks := versions()[0]
	if json.Unmarshal(m.Params, &p) == nil && slices.Contains(versions(), p.ProtocolVersion) {
		speaks = p.ProtocolVersion
	}
	s.answer(m, map[string]any{
		"protocolVersion": speaks, "capabilities": map[string]any{"tools": struct{}{}},
		"serverInfo": map[string]any{"name": "eventdeck", "version": s.version},
	})
}

// listed is a tool as the agent sees it.
type listed struct {
	Name        string          `json:"name"`
	Description trust.Text      `json:"description,omitzero"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func (s *server) list(ctx context.Context, m wire.Message) {
	tools, err := s.gate.Tools(ctx)
	if err != nil {
		s.refuse(m.RawID, wire.CodeInvalidRequest, err.Error())
		return
	}
	all := []listed{}
	for _, t := range tools {
		all = append(all, listed{Name(t.Server, t.Name), t.Description, t.Schema})
	}
	s.answer(m, map[string]any{"tools": all})
}

// call calls a tool in a goroutine of its own, as it may wait for the operator.
func (s *server) call(ctx context.Context, m wire.Message) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(m.Params, &p) != nil || p.Name == "" {
		s.refuse(m.RawID, wire.CodeInvalidParams, "the call names no tool")
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	_, twice := s.calls[m.ID]
	full := len(s.calls) >= maxCalls
	if !twice && !full {
		s.calls[m.ID] = cancel
	}
	s.mu.Unlock()
	if twice || full {
		cancel()
		s.refuse(m.RawID, wire.CodeInvalidRequest, fmt.Sprintf("%d calls are under way, or one with this id", maxCalls))
		return
	}
	s.wg.Go(func() {
		result, err := s.carryOut(ctx, p.Name, p.Arguments)
		cancel()
		s.mu.Lock()
		delete(s.calls, m.ID)
		s.mu.Unlock()
		if errors.Is(err, errNoTool) {
			s.refuse(m.RawID, wire.CodeInvalidParams, err.Error())
			return
		}
		if err != nil { // returned as a result, so that the model reads why
			result = react.ToolResult{Content: trust.Untrusted(err.Error()), Failed: true}
		}
		s.answer(m, map[string]any{"content": []any{map[string]any{"type": "text", "text": result.Content}}, "isError": result.Failed})
	})
}

var errNoTool = errors.New("there is no such tool")

func (s *server) carryOut(ctx context.Context, name string, args json.RawMessage) (react.ToolResult, error) {
	tools, err := s.gate.Tools(ctx)
	if err != nil {
		return react.ToolResult{}, err
	}
	tool, ok := Named(tools, name)
	if !ok {
		return react.ToolResult{}, errNoTool
	}
	return s.gate.Call(ctx, tool.Server, tool.Name, args)
}

func (s *server) cancelled(m wire.Message) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.calls[wire.CanonicalID(p.RequestID)]; cancel != nil {
		cancel()
	}
}

func (s *server) answer(m wire.Message, result any) {
	frame, err := wire.EncodeResult(m.RawID, result)
	if err != nil {
		s.refuse(m.RawID, wire.CodeInvalidRequest, "the answer cannot be written")
		return
	}
	s.send(frame)
}

func (s *server) refuse(id json.RawMessage, code int, why string) {
	if frame, err := wire.EncodeError(id, code, why, nil); err == nil {
		s.send(frame)
	}
}

func (s *server) send(frame []byte) {
	s.write.Lock()
	defer s.write.Unlock()
	_, _ = s.out.Write(append(frame, '\n')) // an agent that is gone needs no answer
}
