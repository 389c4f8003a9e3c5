package toolset

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// run is a run with two tools.
type run struct {
	called []string
	over   bool
	waits  chan struct{}
}

func (r *run) Tools(context.Context) ([]react.Pinned, error) {
	if r.over {
		return nil, react.ErrNoGate
	}
	return []react.Pinned{
		{Tool: react.Tool{Server: "pager", Name: "get", Class: react.ToolRead}, Description: trust.Untrusted("Gets."), Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}}}`)},
		{Tool: react.Tool{Server: "git", Name: "log", Class: react.ToolWrite}, Schema: json.RawMessage(`{"type":"object"}`)},
	}, nil
}

func (r *run) Call(ctx context.Context, server, tool string, args json.RawMessage) (react.ToolResult, error) {
	if tool == "log" {
		close(r.waits)
		<-ctx.Done()
		return react.ToolResult{}, fmt.Errorf("%w: it was given up", react.ErrRefusedStep)
	}
	r.called = append(r.called, fmt.Sprintf("%s/%s %s", server, tool, args))
	return react.ToolResult{Content: trust.Untrusted("the answer")}, nil
}

// A client of the library that most agents use.
func TestAForeignClient(t *testing.T) {
	r := &run{waits: make(chan struct{})}
	in, theirOut := io.Pipe()
	theirIn, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- ServeGate(t.Context(), in, out, r, "1") }()
	c, err := mcp.NewClient(&mcp.Implementation{Name: "agent"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: theirIn, Writer: theirOut}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := c.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 || tools.Tools[0].Name != "pager__get" || tools.Tools[0].Description != "Gets." || tools.Tools[1].Name != "git__log" {
		t.Errorf("%+v, %v", tools, err)
	}
	got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "pager__get", Arguments: map[string]any{"id": "a"}})
	if err != nil || got.IsError || got.Content[0].(*mcp.TextContent).Text != "the answer" {
		t.Errorf("%+v, %v", got, err)
	}
	if want := []string{`pager/get {"id":"a"}`}; len(r.called) != 1 || r.called[0] != want[0] {
		t.Errorf("called %q", r.called)
	}
	for _, name := range []string{"pager/get", "get", "pager__drop", ""} {
		if got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name}); err == nil {
			t.Errorf("%q: %+v", name, got)
		}
	}
	// The agent gives up a call that waits for the operator.
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-r.waits; cancel() }()
	if got, err := c.CallTool(ctx, &mcp.CallToolParams{Name: "git__log"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", got, err)
	}
	r.over = true
	if got, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "pager__get"}); err != nil || !got.IsError || len(r.called) != 1 {
		t.Errorf("after the end: %+v, %v", got, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	_ = theirOut.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestInvalidRequestsAreRefused(t *testing.T) {
	for line, want := range map[string]string{
		`nonsense`: `"code":-32700`,
		`{"jsonrpc":"2.0","method":"a","method":"b","id":1}`: `"code":-32700`,
		`[]`:                                    `"code":-32700`,
		`{"jsonrpc":"2.0"}`:                     `"code":-32600`,
		`{"jsonrpc":"2.0","id":1,"method":"x"}`: `"code":-32601`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                           `"code":-32602`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`:                     `"code":-32602`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}`: versions()[0],
	} {
		out := &strings.Builder{}
		if err := ServeGate(t.Context(), strings.NewReader(line+"\n"), out, &run{}, "1"); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %s, %v", line, out, err)
		}
	}
	if err := ServeGate(t.Context(), strings.NewReader(strings.Repeat("x", 20<<20)), io.Discard, &run{}, "1"); !errors.Is(err, ErrTooLong) {
		t.Error(err)
	}
}

func TestCallsAreBounded(t *testing.T) {
	in, to := io.Pipe()
	from, out := io.Pipe()
	go func() { _ = ServeGate(t.Context(), in, out, &waiting{}, "1") }()
	lines := bufio.NewReader(from)
	for i := range maxCalls {
		fmt.Fprintf(to, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"pager__get"}}`+"\n", i)
	}
	fmt.Fprintln(to, `{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"pager__get"}}`)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"id":99`) || !strings.Contains(line, "8 calls are under way") {
		t.Errorf("%s, %v", line, err)
	}
	_ = to.Close()
	for range maxCalls {
		if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, `"isError":true`) {
			t.Errorf("%s, %v", line, err)
		}
	}
}

// waiting is a run whose calls last.
type waiting struct{ run }

func (w *waiting) Call(ctx context.Context, _, _ string, _ json.RawMessage) (react.ToolResult, error) {
	<-ctx.Done()
	return react.ToolResult{}, context.Cause(ctx)
}
