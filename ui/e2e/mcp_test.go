//go:build !windows

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mcpConfig writes a configuration with one server, named pager, and returns its path.
func (w *world) mcpConfig(url string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, "mcp-servers.json")
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"mcpServers":{"pager":{"url":%q}}}`, url), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// mcpStdio connects the official client to `eventdeck mcp` as a process.
func (w *world) mcpStdio(args ...string) (mcp.Connection, *lines) {
	w.t.Helper()
	conn, said, _ := w.mcpProcess(args...)
	return conn, said
}

// mcpProcess is mcpStdio with a function that kills the process.
func (w *world) mcpProcess(args ...string) (_ mcp.Connection, _ *lines, kill func()) {
	w.t.Helper()
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"mcp"}, args...)...)
	cmd.Env = w.env()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	conn, err := (&mcp.CommandTransport{Command: cmd}).Connect(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	said := newLines()
	done := make(chan struct{})
	go func() { defer close(done); said.read(stderr) }()
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-done
		conn.Close()
	})
	return conn, said, func() {
		if err := cmd.Process.Kill(); err != nil {
			w.t.Error(err)
		}
		<-done
		conn.Close()
	}
}

// ask sends a request of the stateless version.
func ask(t *testing.T, conn mcp.Connection, id int, method string, params map[string]any) {
	t.Helper()
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
	raw, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	jid, err := jsonrpc.MakeID(float64(id))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Write(t.Context(), &jsonrpc.Request{ID: jid, Method: method, Params: raw}); err != nil {
		t.Fatal(err)
	}
}

// tick is the number of the next event of a stream.
func tick(t *testing.T, conn mcp.Connection) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		m, err := conn.Read(ctx)
		if err != nil {
			t.Fatalf("the stream is over: %v", err)
		}
		switch m := m.(type) {
		case *jsonrpc.Request:
			if m.Method == "notifications/events/event" {
				var p struct{ Data struct{ N int } }
				if err := json.Unmarshal(m.Params, &p); err != nil {
					t.Fatal(err)
				}
				return p.Data.N
			}
		case *jsonrpc.Response:
			t.Fatalf("the stream was answered: %v %s", m.Error, m.Result)
		}
	}
}

// askMCP keeps the answers of `eventdeck mcp`, as tools and as events.
func (w *world) askMCP(left *evidence, args ...string) {
	w.t.Helper()
	conn, said := w.mcpStdio(args...)
	asked := []struct {
		method string
		params map[string]any
	}{
		{"events/list", map[string]any{}},
		{"events/poll", map[string]any{"name": "eventdeck.event", "cursor": "not of this store"}},
		{"events/poll", map[string]any{"name": "eventdeck.state", "cursor": "not of this store"}},
		{"tools/call", map[string]any{"name": "read_event", "arguments": map[string]any{"seq": 2}}},
	}
	for _, name := range []string{"list_servers", "list_event_types", "list_subscriptions", "search_events", "list_gaps", "list_runs", "whats_new"} {
		asked = append(asked, struct {
			method string
			params map[string]any
		}{"tools/call", map[string]any{"name": name}})
	}
	var all strings.Builder
	for i, a := range asked {
		ask(w.t, conn, i, a.method, a.params)
		m, err := conn.Read(w.t.Context())
		if err != nil {
			w.t.Fatalf("%s %v: %v", a.method, a.params, err)
		}
		raw, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			w.t.Fatal(err)
		}
		all.Write(raw)
		all.WriteByte('\n')
	}
	if err := conn.Close(); err != nil { // standard input ends, and it lets the store go
		w.t.Error(err)
	}
	left.keep("mcp", planted, all.String()+said.text())
}

// A client of an attached `eventdeck mcp` gets every event once and in order, also when the
// process that has the store ends: this one takes it over and continues its subscriptions.
func TestMCPServerOutlivesTheOwnerOfTheStore(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "200")
	config := w.mcpConfig(url)
	common := []string{"--data", w.data(), "--config", config}
	owner := w.start(nil, append([]string{"tail", "pager", "load.tick", "--mode", "push", "--json"}, common...)...)
	owner.await(owner.stdout, 5, func(s string) bool { return strings.Contains(s, `"load.tick"`) })
	conn, said := w.mcpStdio(common...)
	if line, ok := said.await(1, func(s string) bool { return strings.Contains(s, "mcp: ") }, nil); !ok || !strings.Contains(line, fmt.Sprintf("attached to process %d", owner.cmd.Process.Pid)) {
		t.Errorf("it says %q", said.text())
	}
	ask(t, conn, 1, "events/stream", map[string]any{"name": "pager/load.tick", "cursor": "not of this store"})
	last := tick(t, conn)
	for seen := 1; seen < 600; seen++ {
		if seen == 200 {
			owner.kill()
		}
		n := tick(t, conn)
		if n != last+1 {
			t.Fatalf("after %d came %d", last, n)
		}
		last = n
	}
}

// The host subscribes to `eventdeck mcp` as to any other server, in each mode, and misses
// nothing. Alone on a store, `eventdeck mcp` says so.
func TestHostTailsTheMCPServer(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "100")
	config := w.mcpConfig(url)
	if _, code := w.run("tail", "pager", "load.tick", "--mode", "push", "--count", "5", "--data", w.data(), "--config", config); code != 0 {
		t.Fatalf("code %d", code)
	}
	ca, code := w.run("ca")
	if code != 0 {
		t.Fatalf("ca: code %d", code)
	}
	authority, _, _ := strings.Cut(ca, "\n")
	p := w.start(nil, "mcp", "--listen", "127.0.0.1:0", "--data", w.data(), "--config", config, "--callbacks-on-loopback", "--callback-ca", authority)
	p.await(p.stderr, 1, func(s string) bool { return strings.Contains(s, "mcp: runs the host on "+w.data()+" itself") })
	printed := p.await(p.stderr, 1, func(s string) bool { return strings.HasPrefix(s, `{"mcpServers"`) })
	line := p.await(p.stderr, 1, func(s string) bool { return strings.Contains(s, "listening on ") })
	_, address, _ := strings.Cut(line, "listening on ")
	if _, code := w.run("types", address); code != 4 {
		t.Errorf("without the token: code %d, want 4", code)
	}
	client := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(client, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"poll", "push", "webhook"} {
		tail := w.start(nil, "tail", "eventdeck", "pager/load.tick", "--config", client, "--mode", mode, "--count", "150", "--for", awaited, "--json")
		if code := tail.wait(); code != 0 {
			t.Fatalf("%s: code %d: %s", mode, code, tail.stderr.text())
		}
		last := 0
		for _, text := range strings.Split(strings.TrimSpace(tail.stdout.text()), "\n") {
			var r struct {
				Kind string
				Data struct{ N int }
			}
			if err := json.Unmarshal([]byte(text), &r); err != nil {
				t.Fatal(err)
			}
			if r.Kind == "gap" {
				t.Errorf("%s: %s", mode, text)
			}
			if r.Kind != "event" {
				continue
			}
			if last != 0 && r.Data.N != last+1 {
				t.Fatalf("%s: after %d came %d", mode, last, r.Data.N)
			}
			last = r.Data.N
		}
	}
	p.signal(os.Interrupt)
	if code := p.wait(); code != 0 {
		t.Errorf("code %d", code)
	}
}

// On an address that others can reach it requires a token, and a flag that confirms it.
func TestMCPServerBeyondLoopback(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{
		{"--listen", "0.0.0.0:0"},
		{"--listen", "0.0.0.0:0", "--beyond-loopback"},
		{"--beyond-loopback"},
	} {
		if _, code := w.run(append([]string{"mcp", "--data", w.data()}, args...)...); code != 2 {
			t.Errorf("%v: code %d", args, code)
		}
	}
	w.vars = []string{"EVENTDECK_MCP_TOKEN=short"}
	if _, code := w.run("mcp", "--listen", "127.0.0.1:0", "--data", w.data()); code != 2 {
		t.Errorf("a short token: code %d, want 2", code)
	}
	w.vars = []string{"EVENTDECK_MCP_TOKEN=lookatthis-9f2k-4mmq"}
	p := w.start(nil, "mcp", "--listen", "0.0.0.0:0", "--beyond-loopback", "--data", w.data())
	line := p.await(p.stderr, 1, func(s string) bool { return strings.Contains(s, "listening on ") })
	port := line[strings.LastIndexByte(strings.TrimSuffix(line, "/mcp"), ':')+1 : len(line)-len("/mcp")]
	for token, want := range map[string]int{"": 401, "Bearer wrong": 401, "Bearer lookatthis-9f2k-4mmq": 200} {
		req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:"+port+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", token)
		client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%q: %d, want %d", token, res.StatusCode, want)
		}
	}
	if strings.Contains(p.stderr.text(), "lookatthis") {
		t.Errorf("the token is in what it says: %s", p.stderr.text())
	}
}
