//go:build !windows

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"eventdeck/host/event"
)

// restoresEnv sets how often TestRestoreBehindClients puts a copy back in each way.
const restoresEnv = "EVENTDECK_RESTORES"

// `eventdeck mcp` is stopped or killed under load, an older copy of its store is put back (by
// restore, by restore from the same copy once more, by cp over the file), and it starts again. What
// its clients by poll, push and webhook miss is behind a truncation that they were told of, no event
// comes to them twice, and no id has two meanings.
func TestRestoreBehindClients(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv(restoresEnv))
	if err != nil {
		rounds = 1
	}
	w := newWorld(t)
	x := newRestoreWorld(t, w)
	defer x.stopClients()
	copied := filepath.Join(w.dir, "copy.db")
	for round := range rounds {
		for _, how := range []string{"restore", "restore again", "cp"} {
			x.begin()
			if how != "restore again" {
				x.more(150)
				if _, code := w.run("store", "backup", copied, "--data", w.data()); code != 0 {
					t.Fatalf("backup: code %d", code)
				}
			}
			x.more(150)
			x.end(round%2 == 1)
			x.putBack(how, copied)
			if t.Failed() {
				t.Fatalf("in round %d, %s", round, how)
			}
			if how != "restore" {
				mustDo(t, os.Remove(copied))
			}
		}
	}
	x.begin()
	x.more(300)
	x.end(false)
	x.stopClients()
	for _, c := range x.clients {
		c.check(t)
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// restoreWorld is `eventdeck mcp` on a store with the events of two servers, and its clients.
type restoreWorld struct {
	t       *testing.T
	w       *world
	args    []string
	url     string
	process *process
	clients []*toldClient
	stop    context.CancelFunc
	ctx     context.Context
	running sync.WaitGroup
	lives   atomic.Int64 // of the program
}

const restoreToken = "token-of-the-clients-7f3k"

func newRestoreWorld(t *testing.T, w *world) *restoreWorld {
	servers := map[string]any{}
	for name, rate := range map[string]string{"one": "97", "two": "41", "three": "13"} {
		_, url := w.pager("--rate", rate)
		servers[name] = map[string]any{"url": url}
	}
	config := filepath.Join(w.dir, "servers.json")
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	mustDo(t, err)
	mustDo(t, os.WriteFile(config, raw, 0o600))
	for name, mode := range map[string]string{"one": "push", "two": "poll", "three": "push"} {
		if _, code := w.run("tail", name, "load.tick", "--mode", mode, "--count", "3", "--data", w.data(), "--config", config); code != 0 {
			t.Fatalf("%s: code %d", name, code)
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") // the program gets the same port each time
	mustDo(t, err)
	address := ln.Addr().String()
	mustDo(t, ln.Close())
	w.vars = append(w.vars, "EVENTDECK_MCP_TOKEN="+restoreToken)
	x := &restoreWorld{t: t, w: w, url: "http://" + address + "/mcp",
		args: []string{"mcp", "--listen", address, "--data", w.data(), "--config", config, "--callbacks-on-loopback", "--callback-ca", filepath.Join(w.dir, "callback.pem")}}
	x.ctx, x.stop = context.WithCancel(context.Background())
	for mode, follow := range map[string]func(*toldClient){"poll": x.polls, "push": x.streams, "webhook": x.hooks(t)} {
		c := &toldClient{mode: mode, changed: make(chan struct{})}
		x.clients = append(x.clients, c)
		x.running.Go(func() { follow(c) })
	}
	return x
}

func (x *restoreWorld) stopClients() {
	x.stop()
	x.running.Wait()
}

// begin starts the program.
func (x *restoreWorld) begin() {
	x.t.Helper()
	for range 20 {
		x.process = x.w.start(nil, x.args...)
		if _, ok := x.process.stderr.await(1, contains("listening on "), x.process.exited); ok {
			x.lives.Add(1)
			return
		}
		if !strings.Contains(x.process.stderr.text(), "address already in use") {
			break
		}
	}
	x.t.Fatalf("it does not start: %s", x.process.stderr.text())
}

// end ends the program.
func (x *restoreWorld) end(kill bool) {
	x.t.Helper()
	if kill {
		x.process.kill()
		return
	}
	x.process.signal(syscall.SIGTERM)
	x.process.wait()
}

// more waits until each client has some more events.
func (x *restoreWorld) more(n int) {
	x.t.Helper()
	for _, c := range x.clients {
		if !c.await(n) {
			x.t.Fatalf("%s: no %d events came; %s", c.mode, n, x.process.stderr.text())
		}
	}
}

// putBack puts the copy into the place of the store.
func (x *restoreWorld) putBack(how, copied string) {
	x.t.Helper()
	if how != "cp" {
		if _, code := x.w.run("store", "restore", copied, "--data", x.w.data()); code != 0 {
			x.t.Fatalf("restore: code %d", code)
		}
		return
	}
	content, err := os.ReadFile(copied)
	mustDo(x.t, err)
	mustDo(x.t, os.WriteFile(filepath.Join(x.w.data(), "state.db"), content, 0o600))
}

// toldClient keeps what it receives, in order.
type toldClient struct {
	mode string

	mu      sync.Mutex
	told    []toldEvent
	events  int
	cursor  string
	changed chan struct{}
}

// toldEvent is an event, or without an id a truncation.
type toldEvent struct {
	id, server string
	n          int
}

// restoredEvent is an event as it is delivered.
type restoredEvent struct {
	EventID, Cursor string
	Data            struct{ N int }
	Meta            struct {
		Record struct{ Server string } `json:"eventdeck/record"`
	} `json:"_meta"`
}

func (c *toldClient) event(e restoredEvent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, toldEvent{e.EventID, e.Meta.Record.Server, e.Data.N})
	if c.events++; e.Cursor != "" {
		c.cursor = e.Cursor
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *toldClient) position(cursor string, truncated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cursor = cursor; truncated {
		c.told = append(c.told, toldEvent{})
	}
}

func (c *toldClient) at() any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cursor == "" {
		return nil
	}
	return c.cursor
}

// await waits for n more events.
func (c *toldClient) await(n int) bool {
	late := time.After(patience)
	c.mu.Lock()
	until := c.events + n
	for c.events < until {
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-late:
			return false
		}
		c.mu.Lock()
	}
	c.mu.Unlock()
	return true
}

// check looks for what was missed in silence, and for what came twice.
func (c *toldClient) check(t *testing.T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	type place struct{ at, n int }
	last, truncated, ids := map[string]place{}, 0, map[string]toldEvent{}
	silent, doubled, behind, truncations := 0, 0, 0, 0
	for i, e := range c.told {
		if e.id == "" {
			truncated = i
			truncations++
			continue
		}
		if before, ok := ids[e.id]; ok {
			t.Errorf("%s: the id %s is %v and %v", c.mode, e.id, before, e)
		}
		ids[e.id] = e
		was, ok := last[e.server]
		switch missed := e.n - was.n - 1; {
		case !ok || missed == 0:
		case missed < 0:
			doubled++
			t.Logf("%s: %s: event %d came after %d", c.mode, e.server, e.n, was.n)
		case truncated > was.at:
			behind += missed
		default:
			silent += missed
			t.Logf("%s: %s: event %d came after %d", c.mode, e.server, e.n, was.n)
		}
		last[e.server] = place{i, max(was.n, e.n)}
	}
	t.Logf("%s: %d events, %d truncations, %d missed behind them", c.mode, c.events, truncations, behind)
	if silent > 0 || doubled > 0 || len(last) != 3 {
		t.Errorf("%s: %d events are missing in silence, %d came twice, from %d servers", c.mode, silent, doubled, len(last))
	}
}

// call sends a request. A program that is not there is an error like any other.
func (x *restoreWorld) call(ctx context.Context, method string, params map[string]any) (*http.Response, error) {
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
	params["name"] = "eventdeck.event"
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": "eventdeck.event", "Authorization": "Bearer " + restoreToken} {
		req.Header.Set(name, value)
	}
	return http.DefaultClient.Do(req)
}

// ask is call with the result of the request.
func (x *restoreWorld) ask(method string, params map[string]any, into any) error {
	ctx, cancel := context.WithTimeout(x.ctx, patience)
	defer cancel()
	res, err := x.call(ctx, method, params)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var a struct {
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	raw, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(raw, &a)
	}
	if err == nil && a.Error != nil {
		err = errors.New(a.Error.Message)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(a.Result, into)
}

// rest pauses between two tries.
func (x *restoreWorld) rest() {
	select {
	case <-time.After(20 * time.Millisecond):
	case <-x.ctx.Done():
	}
}

func (x *restoreWorld) polls(c *toldClient) {
	for ; x.ctx.Err() == nil; x.rest() {
		var page struct {
			Events    []restoredEvent
			Cursor    string
			Truncated bool
		}
		if x.ask("events/poll", map[string]any{"cursor": c.at(), "maxEvents": 40}, &page) != nil {
			continue
		}
		c.position(page.Cursor, page.Truncated)
		for _, e := range page.Events {
			c.event(e)
		}
	}
}

func (x *restoreWorld) streams(c *toldClient) {
	for ; x.ctx.Err() == nil; x.rest() {
		res, err := x.call(x.ctx, "events/stream", map[string]any{"cursor": c.at()})
		if err != nil {
			continue
		}
		for in := bufio.NewReader(res.Body); ; {
			line, err := in.ReadString('\n')
			if err != nil {
				break
			}
			data, ok := strings.CutPrefix(line, "data: ")
			var m struct {
				Method string
				Params struct {
					restoredEvent
					Truncated bool
				}
			}
			if !ok || json.Unmarshal([]byte(data), &m) != nil {
				continue
			}
			switch m.Method {
			case "notifications/events/active":
				c.position(m.Params.Cursor, m.Params.Truncated)
			case "notifications/events/event":
				c.event(m.Params.restoredEvent)
			}
		}
		res.Body.Close()
	}
}

// hooks returns a client by webhook that subscribes in each life of the program.
func (x *restoreWorld) hooks(t *testing.T) func(*toldClient) {
	secret, err := event.NewWebhookSecret(nil)
	mustDo(t, err)
	came := make(chan []byte)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in struct{ Type, Challenge string }
		if err != nil || json.Unmarshal(body, &in) != nil {
			return // the process was killed while it sent this
		}
		if in.Type == "verification" {
			fmt.Fprintf(rw, `{"challenge":%q}`, in.Challenge)
			return
		}
		select {
		case came <- body:
		case <-x.ctx.Done():
		}
	}))
	t.Cleanup(receiver.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})
	mustDo(t, os.WriteFile(filepath.Join(x.w.dir, "callback.pem"), authority, 0o600))
	subscribed := func(c *toldClient) bool {
		var granted struct {
			Cursor    string
			Truncated bool
		}
		err := x.ask("events/subscribe", map[string]any{"cursor": c.at(),
			"delivery": map[string]any{"mode": "webhook", "url": receiver.URL, "secret": secret.Reveal()}}, &granted)
		if err == nil {
			c.position(granted.Cursor, granted.Truncated)
		}
		return err == nil
	}
	return func(c *toldClient) {
		for ; x.ctx.Err() == nil; x.rest() {
			life := x.lives.Load()
			if !subscribed(c) {
				continue
			}
			for life == x.lives.Load() && x.ctx.Err() == nil {
				select {
				case body := <-came:
					var e struct {
						restoredEvent
						Type string
					}
					if json.Unmarshal(body, &e) != nil {
						continue
					}
					if e.Type == "gap" {
						c.position(e.Cursor, true)
					} else {
						c.event(e.restoredEvent)
					}
				case <-time.After(100 * time.Millisecond):
				case <-x.ctx.Done():
				}
			}
		}
	}
}
