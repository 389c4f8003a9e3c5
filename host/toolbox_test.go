package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/react"
)

// toolServer serves a tool by the official SDK until the test ends.
func toolServer(t *testing.T) string {
	sdk := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	sdk.AddTool(&mcp.Tool{Name: "echo", Description: "Says it again.", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return sdk }, &mcp.StreamableHTTPOptions{Stateless: true})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "tools/call" && r.Header.Get("Mcp-Name") == "" {
			r.Header.Set("Mcp-Name", "echo") // the bridges of these tests do not say it
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// Tools are listed and called over every transport and in both eras; a server that is not
// there refuses.
func TestToolsOverEveryTransport(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			r := newRig(t)
			c, err := newCutter()
			if err != nil {
				t.Fatal(err)
			}
			s := w.server(t, toolServer(t), c)
			s.Name = "tools"
			r.host.AddServer(s)
			tools, err := r.host.ToolsOf(r.ctx(), "tools")
			if err != nil || len(tools) != 1 || tools[0].Name != "echo" || tools[0].Description.Raw() != "Says it again." {
				t.Fatalf("tools are %+v, %v", tools, err)
			}
			if got, err := r.host.CallTool(r.ctx(), "tools", "echo", json.RawMessage(`{"a":1}`)); err != nil || got.Content.Raw() != `{"a":1}` {
				t.Errorf("echo says %q, %v", got.Content.Raw(), err)
			}
			if _, err := r.host.CallTool(r.ctx(), "nobody", "echo", json.RawMessage(`{}`)); !errors.Is(err, react.ErrToolRefused) || !errors.Is(err, host.ErrUnknownServer) {
				t.Errorf("a server that is not there: %v", err)
			}
		})
	}
}

// An identical tool has another pin when its server has another address.
func TestPinsCoverTheAddress(t *testing.T) {
	r := newRig(t)
	address := toolServer(t)
	pins := map[string]string{}
	for name, url := range map[string]string{"one": address, "same": address, "other": toolServer(t)} {
		r.host.AddServer(event.Server{Name: name, URL: url})
		tools, err := r.host.ToolsOf(r.ctx(), name)
		if err != nil || len(tools) != 1 {
			t.Fatalf("tools of %s are %+v, %v", name, tools, err)
		}
		pins[name] = tools[0].Pin
	}
	if pins["one"] != pins["same"] || pins["one"] == pins["other"] {
		t.Errorf("pins are %v", pins)
	}
}
