package toolbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/react"
	"eventdeck/host/session"
)

// asServer makes the test binary an MCP server on standard input and output.
const asServer = "TOOLBOX_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		if err := official().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

func lookupTool() *mcp.Tool {
	return &mcp.Tool{Name: "lookup", Description: "Finds an incident.", InputSchema: json.RawMessage(
		`{"type":"object","properties":{"id":{"type":"string","x-mcp-header":"Incident"},"deep":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}},"required":["id"]}`)}
}

// official is a server of the official SDK with more tools than fit on a page.
func official() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Version: "1"}, &mcp.ServerOptions{PageSize: 2})
	s.AddTool(lookupTool(), func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "got " + string(r.Params.Arguments)},
			&mcp.ImageContent{MIMEType: "image/png", Data: []byte("123")},
			&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "mem://a", MIMEType: "text/plain", Text: "inside"}},
			&mcp.ResourceLink{URI: "mem://b", Name: "b"},
		}}, nil
	})
	object := json.RawMessage(`{"type":"object"}`)
	closed := false
	s.AddTool(&mcp.Tool{Name: "change", InputSchema: object, Annotations: &mcp.ToolAnnotations{DestructiveHint: &closed}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it is locked"}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "count", InputSchema: object, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: map[string]int{"n": 3}, Content: []mcp.Content{&mcp.TextContent{Text: `{ "n": 3 }`}}}, nil
	})
	return s
}

// dial connects to a server until the test ends.
func dial(t *testing.T, spec event.Server) *Box {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := session.Dial(ctx, spec, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return New(s, Options{})
}

func serve(t *testing.T, h http.Handler) *Box {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return dial(t, event.Server{Name: "s", URL: s.URL})
}

// The tools of the official SDK are listed over all pages and called on each transport that it
// has: in the stateless era, which demands arguments in headers too, and in those before.
func TestToolsOfTheOfficialServer(t *testing.T) {
	sdk := official()
	get := func(*http.Request) *mcp.Server { return sdk }
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(*testing.T) *Box{
		"stateless HTTP": func(t *testing.T) *Box {
			return serve(t, mcp.NewStreamableHTTPHandler(get, &mcp.StreamableHTTPOptions{Stateless: true}))
		},
		"HTTP with sessions": func(t *testing.T) *Box { return serve(t, mcp.NewStreamableHTTPHandler(get, nil)) },
		"HTTP+SSE":           func(t *testing.T) *Box { return serve(t, mcp.NewSSEHandler(get, nil)) },
		"stdio": func(t *testing.T) *Box {
			return dial(t, event.Server{Name: "s", Command: exe, Env: map[string]event.Secret{asServer: event.NewSecret("1"), "GORACE": event.NewSecret("atexit_sleep_ms=0")}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			box := open(t)
			tools, err := box.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			writes := map[string]bool{}
			for _, tool := range tools {
				writes[tool.Name] = tool.MayWrite
				if len(tool.Pin) != 64 {
					t.Errorf("the pin of %s is %q", tool.Name, tool.Pin)
				}
			}
			if len(tools) != 3 || !writes["change"] || writes["count"] || writes["lookup"] {
				t.Errorf("listed with what may write: %v", writes)
			}
			got, err := box.Call(t.Context(), "lookup", json.RawMessage(`{"id":" ü","deep":{"n":7}}`))
			want := `got {"id":" ü","deep":{"n":7}}` + "\n[image, image/png, 4 bytes of base64]\n[resource mem://a]\ninside\n[resource mem://b]"
			if err != nil || got.Content.Raw() != want || got.Failed {
				t.Errorf("lookup answers %q, failed %v, %v; want %q", got.Content.Raw(), got.Failed, err, want)
			}
			if got, err := box.Call(t.Context(), "change", json.RawMessage(`{}`)); err != nil || !got.Failed || got.Content.Raw() != "it is locked" {
				t.Errorf("change answers %q, failed %v, %v", got.Content.Raw(), got.Failed, err)
			}
			if got, err := box.Call(t.Context(), "count", json.RawMessage(`{}`)); err != nil || got.Content.Raw() != `{ "n": 3 }` {
				t.Errorf("count answers %q, %v", got.Content.Raw(), err)
			}
			if _, err := box.Call(t.Context(), "none", json.RawMessage(`{}`)); !errors.Is(err, react.ErrToolRefused) {
				t.Errorf("a tool that is not there: %v", err)
			}
		})
	}
}

// fake is a stateless server that answers tools/list and tools/call with fixed members.
func fake(t *testing.T, lists func(cursor string) string, call func(w http.ResponseWriter, c mcptest.Call)) *Box {
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, ok := mcptest.Read(w, r)
		switch {
		case !ok:
		case c.Method == "server/discover":
			c.Answer(w, mcptest.Discovered("fake"))
		case c.Method == "tools/list":
			var cursor string
			_ = json.Unmarshal(c.Params.Cursor, &cursor)
			c.Answer(w, lists(cursor))
		case c.Method == "tools/call":
			call(w, c)
		default:
			c.Answer(w, mcptest.NoMethod)
		}
	}))
}

func list(tools ...string) string {
	return `"result":{"resultType":"complete","tools":[` + strings.Join(tools, ",") + `]}`
}

func tool(name, more string) string {
	return fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}%s}`, name, more)
}

func names(tools []react.ToolDef) string {
	var all []string
	for _, tool := range tools {
		all = append(all, tool.Name)
	}
	return strings.Join(all, " ")
}

// Tools that make no sense, are too large or share a name are left out; the others are there.
func TestInvalidToolsAreLeftOut(t *testing.T) {
	box := fake(t, func(string) string {
		return list(
			tool("good", ""), tool("twice", ""), tool("twice", `,"description":"the other"`),
			`7`, `{"inputSchema":{}}`, `{"name":"no-schema"}`, `{"name":"bool-schema","inputSchema":true}`,
			`{"name":"two","name":"names","inputSchema":{}}`, tool("a b", ""), `{"name":"esc\u001b","inputSchema":{}}`, `{"name":"bidi\u202e","inputSchema":{}}`, tool(strings.Repeat("n", maxName+1), ""),
			tool("long", `,"description":"`+strings.Repeat("d", maxDescription+1)+`"`), tool("odd", `,"description":{}`),
			`{"name":"huge","inputSchema":{"title":"`+strings.Repeat("s", maxSchema)+`"}}`,
			`{"name":"deep","inputSchema":`+strings.Repeat(`{"a":`, maxDepth)+`1`+strings.Repeat("}", maxDepth)+`}`,
			`{"name":"header","inputSchema":{"properties":{"a":{"type":"array","x-mcp-header":"A"}}}}`,
			`{"name":"folded","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}}`,
			`{"name":"injects","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A\r\nB"}}}}`,
			tool("also-good", `,"description":null`),
		)
	}, nil)
	tools, err := box.List(t.Context())
	if err != nil || names(tools) != "good also-good" {
		t.Errorf("listed are %q, %v", names(tools), err)
	}
}

// Whatever a server changes of a tool changes its pin; hints only raise what a tool counts for.
func TestPinsAndHints(t *testing.T) {
	more := ""
	box := fake(t, func(string) string { return list(tool("t", more)) }, nil)
	seen := map[string]string{}
	for _, c := range []struct {
		more  string
		write bool
	}{
		{"", false}, {`,"description":"a"`, false}, {`,"description":"b"`, false},
		{`,"annotations":{"readOnlyHint":true}`, false}, {`,"annotations":{"readOnlyHint":false}`, true},
		{`,"annotations":{"destructiveHint":true,"readOnlyHint":true}`, true}, {`,"annotations":{"destructiveHint":false}`, false},
		{`,"annotations":{"readOnlyHint":"yes"}`, true}, {`,"annotations":{"title":"x"}`, false},
	} {
		more = c.more
		tools, err := box.List(t.Context())
		if err != nil || len(tools) != 1 {
			t.Fatalf("%s: %v, %v", c.more, tools, err)
		}
		if tools[0].MayWrite != c.write {
			t.Errorf("%s: may write is %v", c.more, tools[0].MayWrite)
		}
		if other, ok := seen[tools[0].Pin]; ok {
			t.Errorf("%q and %q have one pin", c.more, other)
		}
		seen[tools[0].Pin] = c.more
	}
}

// A list without an end, or of too much, is refused, and ends.
func TestListsOfToolsAreBounded(t *testing.T) {
	many := make([]string, maxTools+1)
	for i := range many {
		many[i] = tool(fmt.Sprint("t", i), "")
	}
	big := tool("big", `,"x":"`+strings.Repeat("x", 900<<10)+`"`)
	n := 0
	for name, lists := range map[string]func(string) string{
		"a cursor that comes back": func(string) string { return `"result":{"tools":[],"nextCursor":"again"}` },
		"pages without an end": func(string) string {
			n++
			return fmt.Sprintf(`"result":{"tools":[],"nextCursor":"%d"}`, n)
		},
		"too many tools": func(string) string { return list(many...) },
		"too many bytes": func(string) string {
			n++
			return fmt.Sprintf(`"result":{"tools":[%s],"nextCursor":"%d"}`, big, n)
		},
		"no list": func(string) string { return `"result":{"tools":{}}` },
		"nothing": func(string) string { return `"result":{}` },
	} {
		box := fake(t, lists, nil)
		if tools, err := box.List(t.Context()); !errors.Is(err, ErrList) {
			t.Errorf("%s: %d tools, %v", name, len(tools), err)
		}
	}
}

// What tools answer is read in every shape, and cut with a count.
func TestResultsAreBoundedAndNamed(t *testing.T) {
	answer := ""
	box := fake(t, func(string) string { return list(tool("t", "")) }, func(w http.ResponseWriter, c mcptest.Call) { c.Answer(w, answer) })
	long := strings.Repeat("ä", react.MaxToolResult)
	for _, c := range []struct {
		answer, content string
		cut             int
	}{
		{`"result":{"content":[]}`, "", 0},
		{`"result":{"structuredContent":{"a":1}}`, `{"a":1}`, 0},
		{`"result":{"content":[{"type":"text","text":"other"}],"structuredContent":{"a":1}}`, "other\n" + `{"a":1}`, 0},
		{`"result":{"content":[{"type":"video","data":"x"},7,{"type":"audio","mimeType":"audio/wav","data":"YQ=="},{"type":"resource","resource":{"uri":"u","mimeType":"m","blob":"YQ=="}}]}`,
			"[content of the type \"video\"]\n[invalid content]\n[audio, audio/wav, 4 bytes of base64]\n[resource u, m, 4 bytes of base64]", 0},
		{`"result":{"content":[{"type":"text","text":"a` + long + `"}]}`, "a" + long[:react.MaxToolResult-2], react.MaxToolResult + 2},
		{`"result":{"content":[{"type":"text","text":"key sk-ant-REDACTED"}]}`, "key …", 0},
	} {
		answer = c.answer
		got, err := box.Call(t.Context(), "t", json.RawMessage(`{}`))
		if err != nil || got.Content.Raw() != c.content || got.Cut != c.cut {
			t.Errorf("%.80s: %.80q, %d cut, %v", c.answer, got.Content.Raw(), got.Cut, err)
		}
	}
}

// Only an answer that says no, and a server that was never reached, tell that a call did
// nothing more.
func TestErrorsTellWhetherTheOutcomeIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		call    func(w http.ResponseWriter, c mcptest.Call)
		refused bool
	}{
		"an error":         {func(w http.ResponseWriter, c mcptest.Call) { c.Answer(w, `"error":{"code":-32602,"message":"no"}`) }, true},
		"asks for input":   {func(w http.ResponseWriter, c mcptest.Call) { c.Answer(w, `"result":{"resultType":"input_required"}`) }, true},
		"no rights":        {func(w http.ResponseWriter, _ mcptest.Call) { w.WriteHeader(http.StatusForbidden) }, true},
		"too many":         {func(w http.ResponseWriter, _ mcptest.Call) { w.WriteHeader(http.StatusTooManyRequests) }, true},
		"a gateway":        {func(w http.ResponseWriter, _ mcptest.Call) { w.WriteHeader(http.StatusBadGateway) }, false},
		"timed out before": {func(w http.ResponseWriter, _ mcptest.Call) { w.WriteHeader(http.StatusRequestTimeout) }, false},
		"cut":              {func(http.ResponseWriter, mcptest.Call) { panic(http.ErrAbortHandler) }, false},
		"no sense":         {func(w http.ResponseWriter, c mcptest.Call) { c.Answer(w, `"result":[]`) }, false},
	} {
		box := fake(t, func(string) string { return list(tool("t", "")) }, c.call)
		_, err := box.Call(t.Context(), "t", json.RawMessage(`{}`))
		if err == nil || errors.Is(err, react.ErrToolRefused) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	box := fake(t, func(string) string { return list(tool("t", "")) }, func(http.ResponseWriter, mcptest.Call) { t.Error("called with arguments that are no object") })
	for _, args := range []string{``, `[]`, `{"a":1,"a":2}`, `{} {}`, `null`} {
		if _, err := box.Call(t.Context(), "t", json.RawMessage(args)); !errors.Is(err, react.ErrToolRefused) {
			t.Errorf("arguments %q: %v", args, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	hung := fake(t, func(string) string { return list(tool("t", "")) }, func(http.ResponseWriter, mcptest.Call) { cancel(); <-release })
	t.Cleanup(func() { close(release) }) // before the server is closed
	if _, err := hung.Call(ctx, "t", json.RawMessage(`{}`)); err == nil || errors.Is(err, react.ErrToolRefused) {
		t.Errorf("given up: %v", err)
	}
}
