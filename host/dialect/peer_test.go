package dialect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// patience bounds every wait.
const patience = time.Minute

// peer is a server over Streamable HTTP whose responses a test writes. It speaks the
// handshake revisions, or the stateless one if stateless is set.
type peer struct {
	*httptest.Server
	t            *testing.T
	capabilities string
	stateless    bool
	mute         chan struct{} // if set, the general stream is refused once mute is closed
	// answer returns the members of a response, as JSON text; "" closes without one.
	answer func(c call) string

	mu    sync.Mutex
	calls []call
	out   chan string // frames for the general stream
	heard chan struct{}
}

// call is one request that reached a peer.
type call struct {
	id     json.RawMessage
	method string
	params json.RawMessage
	w      http.ResponseWriter
	r      *http.Request
}

// param returns a member of the params, as JSON text.
func (c call) param(path ...string) string {
	raw := c.params
	for _, key := range path {
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil {
			return ""
		}
		raw = m[key]
	}
	return string(raw)
}

// tool is the name of the tool that is called.
func (c call) tool() string { return strings.Trim(c.param("name"), `"`) }

// frame sends one frame of an event stream.
func (c call) frame(text string) {
	c.w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(c.w, "data: %s\n\n", text)
	c.w.(http.Flusher).Flush()
}

// cut breaks the connection.
func (c call) cut() { panic(http.ErrAbortHandler) }

func newPeer(t *testing.T, capabilities string, answer func(c call) string) *peer {
	t.Helper()
	p := &peer{t: t, capabilities: capabilities, answer: answer, out: make(chan string, 100), heard: make(chan struct{})}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	p.Config.ErrorLog = nil
	return p
}

func (p *peer) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		p.general(w, r)
		return
	}
	if r.Method != http.MethodPost {
		return
	}
	c := call{w: w, r: r}
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		p.t.Error(err)
	}
	c.id, c.method, c.params = m.ID, m.Method, m.Params
	p.mu.Lock()
	p.calls = append(p.calls, c)
	close(p.heard)
	p.heard = make(chan struct{})
	p.mu.Unlock()
	body := ""
	switch {
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	case m.Method == "server/discover" && p.stateless:
		body = `"result":{"supportedVersions":["2026-07-28"],"capabilities":` + p.capabilities + `}`
	case m.Method == "initialize" && !p.stateless:
		w.Header().Set("Mcp-Session-Id", "s")
		body = `"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"peer"},"capabilities":` + p.capabilities + `}`
	case m.Method == "ping":
		body = `"result":{}`
	default:
		body = p.answer(c)
	}
	if body == "" {
		return
	}
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, m.ID, body)
	if w.Header().Get("Content-Type") == "text/event-stream" {
		c.frame(text)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, text)
}

func (p *peer) general(w http.ResponseWriter, r *http.Request) {
	if p.mute != nil {
		select {
		case <-p.mute:
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	for {
		select {
		case text := <-p.out:
			if text == "" {
				return
			}
			fmt.Fprintf(w, "data: %s\n\n", text)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// say sends a notification on the general stream.
func (p *peer) say(method, params string) {
	p.out <- fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
}

// hangUp closes the general stream.
func (p *peer) hangUp() { p.out <- "" }

// await waits for the nth request that matches.
func (p *peer) await(what string, n int, match func(call) bool) call {
	p.t.Helper()
	late := time.After(patience)
	for {
		p.mu.Lock()
		found := 0
		for _, c := range p.calls {
			if match(c) {
				if found++; found == n {
					p.mu.Unlock()
					return c
				}
			}
		}
		heard := p.heard
		p.mu.Unlock()
		select {
		case <-heard:
		case <-late:
			p.t.Fatalf("the server never saw %s", what)
		}
	}
}

func isMethod(method string) func(call) bool {
	return func(c call) bool { return c.method == method }
}

func isTool(tool string) func(call) bool {
	return func(c call) bool { return c.method == "tools/call" && c.tool() == tool }
}

// count returns how many requests matched so far.
func (p *peer) count(match func(call) bool) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.calls {
		if match(c) {
			n++
		}
	}
	return n
}

// connect dials the peer and returns its dialects, and the session.
func (p *peer) connect(o Options) (Dialect, *session.Session) {
	p.t.Helper()
	var mu sync.Mutex
	var d Dialect
	note := func(n wire.Note) {
		mu.Lock()
		to := d
		mu.Unlock()
		if to != nil {
			to.Note(n)
		}
	}
	s, err := session.Dial(p.t.Context(), event.Server{Name: "peer", URL: p.URL}, session.Options{
		OnNote: note, OnMissed: func() { note(wire.Note{Method: wire.NoteInterrupt}) }, Reopen: session.Backoff{Min: time.Millisecond, Max: time.Millisecond},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	made := For(s, o)
	mu.Lock()
	d = made
	mu.Unlock()
	p.t.Cleanup(func() {
		s.Close()
		p.CloseClientConnections()
		p.Close()
	})
	return made, s
}

// recorder is a sink that keeps its notes.
type recorder struct {
	t     *testing.T
	notes chan wire.Note
}

func newRecorder(t *testing.T) *recorder { return &recorder{t, make(chan wire.Note, 1000)} }

func (r *recorder) sink(n wire.Note) { r.notes <- n }

// next returns the next note, which must have the method; heartbeats are skipped.
func (r *recorder) next(method string) wire.Note {
	r.t.Helper()
	for {
		select {
		case n := <-r.notes:
			if n.Method == wire.NoteHeartbeat && method != wire.NoteHeartbeat {
				continue
			}
			if n.Method != method {
				r.t.Fatalf("note %s %s, want %s", n.Method, n.Params, method)
			}
			return n
		case <-time.After(patience):
			r.t.Fatalf("%s did not come", method)
		}
	}
}

// event returns the next note, which must be a decoded event.
func (r *recorder) event() wire.Occurrence {
	r.t.Helper()
	n := r.next(wire.NoteEvent)
	if n.Event == nil {
		r.t.Fatalf("the event was not read: %v", n.Refused)
	}
	return *n.Event
}

func done(t *testing.T, s Stream) error {
	t.Helper()
	select {
	case <-s.Done():
		return s.Err()
	case <-time.After(patience):
		t.Fatal("the stream does not end")
		return nil
	}
}

func typeNames(types []event.Type) (names []string) {
	for _, t := range types {
		names = append(names, t.Name.Raw())
	}
	slices.Sort(names)
	return names
}

func mustBe(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func background(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

const notFound = `"error":{"code":-32601,"message":"no such method"}`
