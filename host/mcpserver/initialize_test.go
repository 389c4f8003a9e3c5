package mcpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"eventdeck/host/mcpserver"
	"eventdeck/host/wire"
)

// Clients that begin with initialize get the capability, codes and members of the design sketch,
// and notifications of new types on the connection itself.
func TestClientsThatInitialize(t *testing.T) {
	r := newRig(t, nil)
	r.fill(1, 3)
	out, in := r.stdio()
	stuck := time.AfterFunc(patience, func() { in.Close() })
	defer stuck.Stop()
	lines := bufio.NewScanner(out)
	id := 0
	ask := func(method, params string) map[string]any {
		t.Helper()
		id++
		if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			t.Fatal(err)
		}
		return next(t, lines)
	}
	hello := ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}`)["result"].(map[string]any)
	if hello["protocolVersion"] != "2025-06-18" {
		t.Errorf("initialize: %v", hello)
	}
	checkCapabilities(t, hello)
	if e := ask("events/poll", `{"name":"gone"}`)["error"].(map[string]any); e["code"] != -32011.0 {
		t.Errorf("no such type: %v", e)
	}
	active := ask("events/stream", `{"name":"pager/tick","cursor":"another.1"}`)
	for _, m := range []map[string]any{active, next(t, lines)} {
		if p := m["params"].(map[string]any); p["requestId"] != 3.0 {
			t.Errorf("%v", m)
		}
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","id":"p","method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	for m := next(t, lines); m["id"] != "p"; m = next(t, lines) { // frames from before the cancellation come first
		if m["method"] == nil {
			t.Errorf("a stream that was cancelled was answered: %v", m)
		}
	}
}

// postOld sends a message as a client that began with initialize: it names its version in the
// header only.
func (r *rig) postOld(ctx context.Context, session, message string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, strings.NewReader(message))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	res, err := httpClient(r.t).Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { res.Body.Close() })
	return res
}

// Clients that begin with initialize take 404 for the end of their session, and 400 for a request
// that is no request: they get errors with 200.
func TestErrorsOfTheHandshakeEraAreOK(t *testing.T) {
	r := newRig(t, nil).serve("")
	for name, c := range map[string]struct {
		method, params string
		code           float64 // 0: no error
	}{
		"a known method": {"tools/list", `{}`, 0},
		"unknown method": {"resources/list", `{}`, -32601},
		"unknown tool":   {"tools/call", `{"name":"gone"}`, -32602},
		"unknown type":   {"events/poll", `{"name":"gone"}`, -32011},
		"a bad stream":   {"events/stream", `{}`, -32602},
		"a bad page":     {"events/list", `{"cursor":1}`, -32602},
	} {
		res := r.postOld(t.Context(), "", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, c.method, c.params))
		var a struct{ Error struct{ Code float64 } }
		if err := json.NewDecoder(res.Body).Decode(&a); err != nil || res.StatusCode != 200 || a.Error.Code != c.code {
			t.Errorf("%s: HTTP %d, code %v, %v", name, res.StatusCode, a.Error.Code, err)
		}
	}
}

// Over HTTP too, such clients end a stream by a notification, each only its own.
func TestStreamsOfTheHandshakeEraAreCancelled(t *testing.T) {
	r := newRig(t, func(o *mcpserver.Options) { o.Heartbeat = 10 * time.Millisecond })
	r.fill(1, 3)
	r.serve("")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	greet := func() string {
		return r.postOld(ctx, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`).Header.Get("Mcp-Session-Id")
	}
	ours, theirs := greet(), greet()
	if ours == "" || ours == theirs {
		t.Fatalf("sessions %q and %q", ours, theirs)
	}
	open := func(session string) *bufio.Scanner {
		lines := bufio.NewScanner(r.postOld(ctx, session, `{"jsonrpc":"2.0","id":7,"method":"events/stream","params":{"name":"pager/tick"}}`).Body)
		if !lines.Scan() || !strings.Contains(lines.Text(), wire.NoteActive) {
			t.Fatalf("%q, %v", lines.Text(), lines.Err())
		}
		return lines
	}
	stream, other := open(ours), open(theirs)
	for _, session := range []string{"", ours} {
		if res := r.postOld(ctx, session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`); res.StatusCode != http.StatusAccepted {
			t.Errorf("HTTP %d", res.StatusCode)
		}
	}
	for stream.Scan() {
		if strings.Contains(stream.Text(), `"result"`) {
			t.Errorf("a stream that was cancelled was answered: %s", stream.Text())
		}
	}
	if stream.Err() != nil {
		t.Error(stream.Err())
	}
	for range 10 {
		if !other.Scan() {
			t.Fatalf("the stream of another session ended: %v", other.Err())
		}
	}
}

func next(t *testing.T, lines *bufio.Scanner) map[string]any {
	t.Helper()
	if !lines.Scan() {
		t.Fatalf("no line: %v", lines.Err())
	}
	var m map[string]any
	if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
		t.Fatalf("%v: %s", err, lines.Bytes())
	}
	return m
}
