//go:build !windows

package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wish is the answer of a tool that asks the operator.
type wish struct {
	ID, State, Subscription, Mode, Why, Reason string
}

// calls calls a tool of `eventdeck mcp`, which must not fail.
func calls(t *testing.T, conn mcp.Connection, tool string, args map[string]any) (got wish) {
	t.Helper()
	ask(t, conn, rand.IntN(1<<30), "tools/call", map[string]any{"name": tool, "arguments": args}) // no id twice in a session
	m, err := conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var result struct {
		IsError           bool
		StructuredContent wish
	}
	if r, ok := m.(*jsonrpc.Response); !ok || r.Error != nil || json.Unmarshal(r.Result, &result) != nil || result.IsError {
		raw, _ := jsonrpc.EncodeMessage(m) // it was decoded
		t.Fatalf("%s %v: %s", tool, args, raw)
	}
	return result.StructuredContent
}

// becomes repeats a call until its request is in a state.
func (r *reacting) becomes(conn mcp.Connection, state, tool string, args map[string]any) (got wish) {
	r.t.Helper()
	r.until(fmt.Sprintf("%s %v that is %s", tool, args, state), func() bool {
		got = calls(r.t, conn, tool, args)
		return got.State == state
	})
	return got
}

// hashOf is the hash to which an approval of a run is bound.
func (r *reacting) hashOf(id string) string {
	r.t.Helper()
	var shown struct{ Hash string }
	if err := json.Unmarshal([]byte(r.does("runs", "show", id, "--json")), &shown); err != nil || shown.Hash == "" {
		r.t.Fatalf("run %s has no hash: %v", id, err)
	}
	return shown.Hash
}

// subs returns the lines of subs list.
func (r *reacting) subs() string {
	r.t.Helper()
	return r.does("subs", "list", "--json")
}

// An agent asks for subscriptions and for the end of one. Each happens once the operator has
// approved exactly that, and not before. Requests survive a kill.
func TestAgentsAskForSubscriptions(t *testing.T) {
	r := newReacting(t, `{"rules":{}}`)
	host := r.host()
	conn, _ := r.mcpStdio(r.args()...)
	first := map[string]any{"server": "pager", "type": "incident.created"}
	is := calls(t, conn, "subscribe", first)
	if is.State != "done" || is.ID != "" || !strings.Contains(r.subs(), is.Subscription) {
		t.Fatalf("what is subscribed already: %+v", is)
	}

	end := map[string]any{"subscription": is.Subscription}
	asks := calls(t, conn, "unsubscribe", end)
	if asks.State != "asking" || !strings.Contains(r.subs(), is.Subscription) {
		t.Fatalf("%+v; subscriptions:\n%s", asks, r.subs())
	}
	asks = r.becomes(conn, "asking", "unsubscribe", end)
	if said := r.refuses("approve", asks.ID, strings.Repeat("0", 64)); !strings.Contains(said, "changed") {
		t.Error(said)
	}
	r.in("asking", 1)
	shown := r.does("runs", "show", asks.ID)
	for _, want := range []string{`"stdio", by its own word`, is.Subscription, `"incident.created"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is missing in\n%s", want, shown)
		}
	}
	r.does("approve", asks.ID, r.hashOf(asks.ID))
	r.becomes(conn, "done", "unsubscribe", end)
	if left := r.subs(); strings.Contains(left, is.Subscription) {
		t.Errorf("it did not end:\n%s", left)
	}

	checkout := map[string]any{"server": "pager", "type": "incident.created", "arguments": map[string]any{"team": "checkout"}, "mode": "poll"}
	asks = calls(t, conn, "subscribe", checkout)
	denied := calls(t, conn, "subscribe", first)
	r.in("asking", 2)
	r.does("deny", denied.ID, "--reason", "once is enough")
	if got := r.becomes(conn, "denied", "subscribe", first); got.Reason != "once is enough" {
		t.Errorf("%+v", got)
	}
	conn.Close()
	host.kill()
	r.host()
	conn, _ = r.mcpStdio(r.args()...)
	if again := calls(t, conn, "subscribe", checkout); again.State != "asking" || again.ID != asks.ID || again.Mode != "poll" {
		t.Errorf("after a kill: %+v, was %+v", again, asks)
	}
	if left := r.subs(); left != "" {
		t.Errorf("nothing was approved, and there is\n%s", left)
	}
	r.does("approve", asks.ID, r.hashOf(asks.ID))
	var begun wish
	r.until("the subscription", func() bool { begun = calls(t, conn, "subscribe", checkout); return begun.Subscription != "" })
	if have := r.subs(); begun.State != "done" || !strings.Contains(have, begun.Subscription) {
		t.Errorf("%+v; subscriptions:\n%s", begun, have)
	}
	log := r.does("audit", "--json")
	for _, want := range []string{`"actor":"client:stdio"`, `"subscription wished"`, `"end wished"`, `"approval denied"`} {
		if !strings.Contains(log, want) {
			t.Errorf("%s is missing in the audit log\n%s", want, log)
		}
	}
}

// If no process runs reactions, a client can request nothing, and is told why.
func TestWithoutReactionsNothingIsAsked(t *testing.T) {
	r := newReacting(t, `{"rules":{}}`)
	conn, _ := r.mcpStdio(r.args()...)
	ask(t, conn, 1, "tools/call", map[string]any{"name": "unsubscribe", "arguments": map[string]any{"subscription": "abcdefgh"}})
	m, err := conn.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if raw, _ := jsonrpc.EncodeMessage(m); !strings.Contains(string(raw), "no process runs reactions on this store") {
		t.Errorf("%s", raw)
	}
}
