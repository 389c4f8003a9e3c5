package mcpserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
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
	if hello["protocolVersion"] != "2025-06-18" || hello["capabilities"].(map[string]any)["events"].(map[string]any)["listChanged"] != true {
		t.Errorf("initialize: %v", hello)
	}
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

	// Over HTTP such a client names its version in the header from then on.
	r.serve("")
	req, err := http.NewRequest(http.MethodPost, r.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	res, err := httpClient(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, _ := io.ReadAll(res.Body); res.StatusCode != 200 || !strings.Contains(string(body), "search_events") {
		t.Errorf("tools/list: %d %s", res.StatusCode, body)
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
