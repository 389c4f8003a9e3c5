package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/internal/sim"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// The client scenarios for events of the protocol's public conformance suite, in our words: a server
// with a type that replays and one without cursors, and what it demands of the requests that it gets.
const (
	replayType     = "conformance.ticks"
	cursorlessType = "conformance.cursorless"
)

// suite is the server of a scenario, and the host that is its client.
type suite struct {
	t    *testing.T
	mode event.Mode // of both types
	// answer answers request n, from 1, of a type. send writes one message of a stream.
	answer func(c call, n int, send func(message map[string]any)) (result map[string]any)

	mu    sync.Mutex
	calls []call
	host  *host.Host
}

// call is a request that the server got.
type call struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		Arguments json.RawMessage
		Cursor    *string
		Delivery  struct{ URL string }
	}
	at  time.Time
	ctx context.Context
}

// run subscribes to both types, in a bubble, and returns after d. Without an extension the server has
// no events.
func (s *suite) run(extension map[string]any, d time.Duration) {
	s.t.Helper()
	network := sim.NewNetwork(sim.NewRandom(1, 1))
	server, node := network.Node("server"), network.Node("host")
	listener, err := server.Listen("tcp", "127.0.0.1:8080")
	if err != nil {
		s.t.Fatal(err)
	}
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, extension) })}
	served := make(chan struct{})
	go func() {
		defer close(served)
		web.Serve(listener)
	}()
	store, err := open(s.t.TempDir(), &sim.Disk{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.host, err = host.New(host.Options{Store: store, PlainHTTP: true, Network: host.Network{Dial: node.Dial, Listen: node.Listen}})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() {
		if err := s.host.Close(); err != nil {
			s.t.Error(err)
		}
		if err := store.Close(); err != nil {
			s.t.Error(err)
		}
		web.Close()
		server.Kill()
		node.Kill()
		<-served
	}()
	s.host.AddServer(event.Server{Name: "suite", URL: "http://127.0.0.1:8080/mcp"})
	if extension != nil {
		for _, name := range []string{replayType, cursorlessType} {
			if _, err := s.host.Subscribe(s.t.Context(), host.Request{Server: "suite", Type: trust.Untrusted(name), Mode: s.mode}); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	time.Sleep(d)
}

func (s *suite) serve(w http.ResponseWriter, r *http.Request, extension map[string]any) {
	c := call{at: time.Now(), ctx: r.Context()}
	if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&c) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	var streams bool
	send := func(message map[string]any) {
		if !streams {
			w.Header().Set("Content-Type", "text/event-stream")
			streams = true
		}
		message["jsonrpc"] = "2.0"
		raw, err := json.Marshal(message)
		if err != nil {
			s.t.Error(err)
		}
		fmt.Fprintf(w, "data: %s\n\n", raw) // the client may be gone
		http.NewResponseController(w).Flush()
	}
	var result map[string]any
	switch capabilities := map[string]any{"tools": map[string]any{}}; c.Method {
	case "server/discover":
		if extension != nil {
			capabilities["extensions"] = map[string]any{wire.Extension: extension}
		}
		result = map[string]any{"supportedVersions": []string{"2026-07-28"}, "capabilities": capabilities, "serverInfo": map[string]any{"name": "suite", "version": "1"}}
	case wire.MethodList:
		var types []any
		for _, name := range []string{replayType, cursorlessType} {
			types = append(types, map[string]any{"name": name, "description": "-", "delivery": []any{s.mode}, "inputSchema": map[string]any{"type": "object", "properties": map[string]any{}}})
		}
		result = map[string]any{"events": types}
	case wire.MethodPoll, wire.MethodStream, wire.MethodSubscribe:
		result = s.answer(c, len(s.of(c.Method, c.Params.Name)), send)
	}
	if result != nil {
		send(map[string]any{"id": c.ID, "result": result})
	}
}

// of returns the requests of a method for a type, or of all types for "".
func (s *suite) of(method, name string) (out []call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c.Method == method && (name == "" || c.Params.Name == name) {
			out = append(out, c)
		}
	}
	return out
}

// cursors returns the cursors of requests; "-" for null.
func cursors(calls []call) (out []string) {
	for _, c := range calls {
		if c.Params.Cursor == nil {
			out = append(out, "-")
		} else {
			out = append(out, *c.Params.Cursor)
		}
	}
	return out
}

// wantNull checks that a null cursor is never replayed: sep-9999-client-null-cursor-not-replayed.
func (s *suite) wantNull(method string) {
	s.t.Helper()
	later := cursors(s.of(method, cursorlessType))
	if len(later) < 2 || slices.ContainsFunc(later, func(at string) bool { return at != "-" }) {
		s.t.Errorf("cursors of the type without cursors: %q", later)
	}
}

// note returns a notification of the stream that c asked for.
func (c call) note(method string, params map[string]any) map[string]any {
	params["_meta"] = map[string]any{"io.modelcontextprotocol/subscriptionId": c.ID}
	return map[string]any{"method": method, "params": params}
}

func tick(name string, cursor any) map[string]any {
	return map[string]any{"eventId": name, "name": name, "timestamp": time.Now().UTC().Format(time.RFC3339Nano), "data": map[string]any{}, "cursor": cursor}
}

// sep-9999-client-refresh-before-expiry: a lease is refreshed with the same key before refreshBefore,
// also where each answer has another cursor and nothing is delivered.
func TestSuiteWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &suite{t: t, mode: event.ModeWebhook}
		const lasts = 2500 * time.Millisecond
		s.answer = func(c call, n int, _ func(map[string]any)) map[string]any {
			r := map[string]any{"id": "sub-" + c.Params.Name, "cursor": nil, "refreshBefore": c.at.Add(lasts).UTC().Format(time.RFC3339Nano)}
			if c.Params.Name == replayType {
				r["cursor"] = fmt.Sprint("w-", n)
			}
			return r
		}
		s.run(map[string]any{}, 8*time.Second)
		all := s.of(wire.MethodSubscribe, replayType)
		if len(all) < 4 {
			t.Errorf("%d subscribes", len(all))
		}
		for i, c := range all[1:] {
			if late := c.at.Sub(all[i].at); late >= lasts {
				t.Errorf("refresh %d came after %v", i+1, late)
			}
			if c.Params.Delivery != all[0].Params.Delivery || string(c.Params.Arguments) != string(all[0].Params.Arguments) {
				t.Errorf("refresh %d has another key", i+1)
			}
		}
		s.wantNull(wire.MethodSubscribe)
	})
}

// sep-9999-client-stream-reconnect-with-cursor: a silent stream is taken for dead after two
// heartbeats, and opened again at the last cursor.
func TestSuitePush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &suite{t: t, mode: event.ModePush}
		s.answer = func(c call, n int, send func(map[string]any)) map[string]any {
			beats := 0
			at := func() any {
				if c.Params.Name == cursorlessType {
					return nil
				}
				return fmt.Sprint("p-", beats)
			}
			send(c.note(wire.NoteActive, map[string]any{"cursor": at(), "truncated": false}))
			send(c.note(wire.NoteEvent, tick(c.Params.Name, at())))
			for c.ctx.Err() == nil {
				select {
				case <-time.After(500 * time.Millisecond):
				case <-c.ctx.Done():
					return nil
				}
				if n > 1 || beats < 4 {
					beats++
					send(c.note(wire.NoteHeartbeat, map[string]any{"cursor": at()}))
				}
			}
			return nil
		}
		s.run(map[string]any{}, 9*time.Second)
		if got := cursors(s.of(wire.MethodStream, replayType)); len(got) < 2 || got[1] != "p-4" {
			t.Errorf("streams from %q", got)
		}
		s.wantNull(wire.MethodStream)
	})
}

// Pages are drained at once, nextPollMs and the floor are kept, a fresh cursor is taken after
// truncated, a missing cursor is none, and types are listed again after list_changed.
func TestSuitePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &suite{t: t, mode: event.ModePoll}
		page := func(cursor string, more bool, next int, events ...any) map[string]any {
			return map[string]any{"events": append([]any{}, events...), "cursor": cursor, "hasMore": more, "nextPollMs": next}
		}
		var told time.Time
		s.answer = func(c call, n int, send func(map[string]any)) map[string]any {
			if c.Params.Name == cursorlessType {
				r := map[string]any{"events": []any{}, "hasMore": false, "nextPollMs": 1000}
				if n == 1 {
					r["cursor"], r["events"] = nil, []any{tick("cursorless-1", nil)}
				}
				return r
			}
			switch n {
			case 1:
				return page("tick-1", true, 3000, tick("tick-1", "tick-1"))
			case 2:
				return page("tick-2", false, 2000, tick("tick-2", "tick-2"))
			case 4:
				r := page("tick-fresh", false, 0)
				r["truncated"] = true
				return r
			case 5:
				told = time.Now()
				send(map[string]any{"method": "notifications/events/list_changed"})
				return page("tick-5", false, 1000)
			}
			return page(fmt.Sprint("tick-", n), false, 0)
		}
		s.run(map[string]any{"listChanged": true}, 40*time.Second) // the pauses between lists grow
		ticks := s.of(wire.MethodPoll, replayType)
		if len(ticks) < 6 {
			t.Fatalf("%d polls", len(ticks))
		}
		pause := func(n int) time.Duration { return ticks[n].at.Sub(ticks[n-1].at) }
		if pause(1) >= time.Second || pause(2) < 2*time.Second || pause(3) < time.Second {
			t.Errorf("pauses %v, %v, %v", pause(1), pause(2), pause(3))
		}
		if got := cursors(ticks)[4]; got != "tick-fresh" {
			t.Errorf("after truncated: %s", got)
		}
		if !slices.ContainsFunc(s.of(wire.MethodList, ""), func(c call) bool { return !c.at.Before(told) }) {
			t.Error("the types were not listed again")
		}
		s.wantNull(wire.MethodPoll)
	})
}

// sep-9999-client-no-events-without-extension: a server that does not declare events gets no
// request for any, unless the operator asks (contracts, command line).
func TestSuiteWithoutTheExtension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &suite{t: t, mode: event.ModePoll}
		s.run(nil, 2*time.Second)
		if len(s.of("server/discover", "")) == 0 {
			t.Error("the server was not asked what it is")
		}
		for _, c := range s.calls {
			if strings.HasPrefix(c.Method, "events/") {
				t.Errorf("%s was sent", c.Method)
			}
		}
	})
}
