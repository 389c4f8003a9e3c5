//go:build !windows

package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"eventdeck/host/event"
)

// follower is a client with its progress: the number of events it has, and the cursor of the
// last one.
type follower struct {
	t      *testing.T
	mode   string
	last   int
	seen   int
	cursor string
}

// occurrence is an event as `eventdeck mcp` sends it.
type occurrence struct {
	Cursor string
	Data   struct{ N int }
}

// take takes the next event, which must follow the last one.
func (p *follower) take(o occurrence) {
	if p.last != 0 && o.Data.N != p.last+1 {
		p.t.Errorf("%s: after %d came %d", p.mode, p.last, o.Data.N)
	}
	p.last, p.cursor = o.Data.N, o.Cursor
	p.seen++
}

// answered reads the answer to a request.
func answered(t *testing.T, conn mcp.Connection, into any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m, err := conn.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := m.(*jsonrpc.Response)
	if !ok || r.Error != nil {
		t.Fatalf("%+v", m)
	}
	if err := json.Unmarshal(r.Result, into); err != nil {
		t.Fatal(err)
	}
}

// perLife is how many events a client takes from each process.
const perLife = 40

// `eventdeck mcp`, which has the store itself, is killed while it answers by poll, push and
// webhook. Each client goes on from its cursor and has each event once and in order.
func TestMCPServerIsKilledDuringReplay(t *testing.T) {
	w := newWorld(t)
	_, url := w.pager("--rate", "200")
	config := w.mcpConfig(url)
	common := []string{"--data", w.data(), "--config", config, "--callbacks-on-loopback", "--callback-ca", filepath.Join(w.dir, "callback.pem")}
	if _, code := w.run("tail", "pager", "load.tick", "--mode", "push", "--count", "200", "--data", w.data(), "--config", config); code != 0 {
		t.Fatalf("code %d", code)
	}
	for mode, replay := range map[string]func(*testing.T, mcp.Connection, *follower){"poll": polls, "push": streams, "webhook": newHookClient(t, w)} {
		p := &follower{t: t, mode: mode, cursor: "not of this store"}
		for life := range 2 {
			conn, _, kill := w.mcpProcess(common...)
			replay(t, conn, p)
			kill()
			if p.seen < (life+1)*perLife {
				t.Fatalf("%s: %d events after %d processes", mode, p.seen, life+1)
			}
		}
	}
}

// polls takes some events by poll, and leaves a request without an answer.
func polls(t *testing.T, conn mcp.Connection, p *follower) {
	for id, until := 0, p.seen+perLife; ; id++ {
		ask(t, conn, id, "events/poll", map[string]any{"name": "pager/load.tick", "cursor": p.cursor, "maxEvents": 7})
		if p.seen >= until {
			return
		}
		var page struct {
			Events []occurrence
			Cursor string
		}
		answered(t, conn, &page)
		for _, o := range page.Events {
			p.take(o)
		}
		p.cursor = page.Cursor
	}
}

// streams takes some events of a stream that goes on.
func streams(t *testing.T, conn mcp.Connection, p *follower) {
	ask(t, conn, 1, "events/stream", map[string]any{"name": "pager/load.tick", "cursor": p.cursor})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for until := p.seen + perLife; p.seen < until; {
		m, err := conn.Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := m.(*jsonrpc.Request); ok && r.Method == "notifications/events/event" {
			var o occurrence
			if err := json.Unmarshal(r.Params, &o); err != nil {
				t.Fatal(err)
			}
			p.take(o)
		}
	}
}

// newHookClient returns a function that takes some events by webhook, and leaves the last
// delivery unanswered until the process is gone.
func newHookClient(t *testing.T, w *world) func(*testing.T, mcp.Connection, *follower) {
	secret, err := event.NewWebhookSecret(nil)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan occurrence)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		var body struct {
			occurrence
			Type, Challenge string
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			return // the process was killed while it sent this
		}
		if body.Type == "verification" {
			fmt.Fprintf(rw, `{"challenge":%q}`, body.Challenge)
			return
		}
		select {
		case came <- body.occurrence:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(receiver.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(w.dir, "callback.pem"), authority, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, conn mcp.Connection, p *follower) {
		ask(t, conn, 1, "events/subscribe", map[string]any{"name": "pager/load.tick", "cursor": p.cursor,
			"delivery": map[string]any{"mode": "webhook", "url": receiver.URL, "secret": secret.Reveal()}})
		answered(t, conn, &struct{}{})
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		for until := p.seen + perLife; p.seen < until; {
			select {
			case o := <-came:
				p.take(o)
			case <-ctx.Done():
				t.Fatal("no delivery came")
			}
		}
	}
}
