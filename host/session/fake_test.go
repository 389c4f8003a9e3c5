package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	switch role := os.Getenv("SESSION_TEST_SERVER"); role {
	case "":
	case "host":
		os.Exit(serveAsHost())
	default:
		os.Exit(serveProcess(role))
	}
	goleak.VerifyTestMain(m)
}

const (
	sepGreeting    = `{"supportedVersions":["2026-07-28"],"serverInfo":{"name":"fake","version":"1"},"capabilities":{"extensions":{"io.modelcontextprotocol/events":{"listChanged":true}}},"instructions":"be kind"}`
	sketchGreeting = `{"protocolVersion":"2025-06-18","serverInfo":{"name":"old","version":"2"},"capabilities":{"events":{"listChanged":true}}}`
)

// ask is one request that reached a fake server.
type ask struct {
	w      http.ResponseWriter
	r      *http.Request
	id     string // JSON text
	method string
	params json.RawMessage
}

func (a ask) json(status int, body string) {
	a.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	a.w.WriteHeader(status)
	io.WriteString(a.w, body)
}

func (a ask) result(raw string) {
	a.json(200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, a.id, raw))
}

func (a ask) fail(status, code int, data string) {
	a.json(status, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no","data":%s}}`, a.id, code, data))
}

func (a ask) plain(status int, body string) {
	a.w.Header().Set("Content-Type", "text/plain")
	a.w.WriteHeader(status)
	io.WriteString(a.w, body)
}

// sse begins an event stream, or continues it.
func (a ask) sse(text string) {
	a.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	io.WriteString(a.w, text)
	a.w.(http.Flusher).Flush()
}

func (a ask) note(method string, n int) {
	a.sse(fmt.Sprintf("data: "+`{"jsonrpc":"2.0","method":%q,"params":{"n":%d,"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`+"\n\n", method, n, a.id))
}

// gone is closed when the client hangs up.
func (a ask) gone() <-chan struct{} { return a.r.Context().Done() }

// fake is an HTTP server with a handler per method. GET and DELETE are methods too. Without
// a handler a request is answered with method-not-found, a notification with 202.
type fake struct {
	*httptest.Server
	mu       sync.Mutex
	handlers map[string]func(ask)
	seen     []ask
	came     chan struct{} // one slot
}

func newFake(t *testing.T, handlers map[string]func(ask)) *fake {
	t.Helper()
	f := &fake{handlers: handlers, came: make(chan struct{}, 1)}
	f.Server = httptest.NewServer(f)
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func modernFake(t *testing.T, handlers map[string]func(ask)) *fake {
	handlers = maps.Clone(handlers) // other tests share them
	if handlers[methodDiscover] == nil {
		handlers[methodDiscover] = func(a ask) { a.result(sepGreeting) }
	}
	return newFake(t, handlers)
}

func handshakeFake(t *testing.T, handlers map[string]func(ask)) *fake {
	handlers = maps.Clone(handlers)
	if handlers[methodInitialize] == nil {
		handlers[methodInitialize] = func(a ask) {
			a.w.Header().Set("Mcp-Session-Id", "s-1")
			a.result(sketchGreeting)
		}
	}
	return newFake(t, handlers)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := ask{w: w, r: r, method: r.Method}
	if r.Method == http.MethodPost {
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		a.id, a.method, a.params = string(m.ID), m.Method, m.Params
		io.Copy(io.Discard, r.Body) // so that the server notices when the client hangs up
	}
	f.mu.Lock()
	h := f.handlers[a.method]
	f.seen = append(f.seen, a)
	f.mu.Unlock()
	select {
	case f.came <- struct{}{}:
	default:
	}
	switch {
	case h != nil:
		h(a)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case a.id == "":
		w.WriteHeader(http.StatusAccepted)
	default:
		a.fail(http.StatusNotFound, wire.CodeMethodNotFound, "null")
	}
}

// wait waits for the first request of a method and returns it.
func (f *fake) wait(t *testing.T, method string) ask {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		f.mu.Lock()
		for _, a := range f.seen {
			if a.method == method {
				f.mu.Unlock()
				return a
			}
		}
		f.mu.Unlock()
		select {
		case <-f.came:
		case <-deadline:
			t.Fatalf("the server never saw %s", method)
		}
	}
}

func (f *fake) count(method string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.seen {
		if a.method == method {
			n++
		}
	}
	return n
}

func (f *fake) server() event.Server { return event.Server{Name: "fake", URL: f.URL + "/mcp"} }

func mustDial(t *testing.T, server event.Server, opts Options) *Session {
	t.Helper()
	s, err := Dial(soon(t), server, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// within runs a trial whose limit a busy machine may exceed, with longer and longer limits.
// Over a minute it fails with the last error.
func within(t *testing.T, trial func(limit time.Duration) error) {
	t.Helper()
	for limit := 100 * time.Millisecond; ; limit *= 4 {
		err := trial(limit)
		if err == nil {
			return
		}
		if limit > time.Minute {
			t.Fatal(err)
		}
	}
}

// soon is a context that bounds a test that hangs.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func get[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// notes returns a sink and the channel of its notes.
func notes() (func(wire.Note), chan wire.Note) {
	c := make(chan wire.Note, 1000)
	return func(n wire.Note) { c <- n }, c
}

// opened opens a stream and waits for its first event.
func opened(t *testing.T, s *Session) *Stream {
	t.Helper()
	sink, c := notes()
	stream, err := s.Open(soon(t), wire.MethodStream, nil, sink)
	if err != nil {
		t.Fatal(err)
	}
	get(t, "event", c)
	return stream
}

func number(t *testing.T, n wire.Note) int {
	t.Helper()
	var p struct{ N int }
	if err := json.Unmarshal(n.Params, &p); err != nil {
		t.Fatal(err)
	}
	return p.N
}

// clock is a manual clock.
type clock struct{ nanos atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.nanos.Store(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time      { return time.Unix(0, c.nanos.Load()) }
func (c *clock) add(d time.Duration) { c.nanos.Add(int64(d)) }
