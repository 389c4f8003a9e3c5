package host_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const modernVersion = "2026-07-28"

// bridge is a server of any transport and era in front of a pager. It forwards each message to the
// pager as a request of the stateless era.
type bridge struct {
	pager     string
	handshake bool // knows initialize, and not the stateless era
}

// talk is one client of a bridge, or one request where the transport has no
// connections.
type talk struct {
	bridge
	out func(frame []byte)

	mu   sync.Mutex
	open map[string]context.CancelFunc
}

func (b bridge) talk(out func([]byte)) *talk {
	return &talk{bridge: b, out: out, open: map[string]context.CancelFunc{}}
}

// handle answers one message. It returns when the answer is complete.
func (t *talk) handle(ctx context.Context, frame []byte) {
	var m struct {
		ID     json.RawMessage            `json:"id"`
		Method string                     `json:"method"`
		Params map[string]json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(frame, &m); err != nil {
		return
	}
	switch {
	case m.Method == "notifications/cancelled":
		t.mu.Lock()
		if cancel := t.open[string(m.Params["requestId"])]; cancel != nil {
			cancel()
		}
		t.mu.Unlock()
		return
	case len(m.ID) == 0:
		return
	case t.handshake && m.Method == "server/discover":
		t.out(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID))
		return
	case m.Method == "initialize":
		t.out(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%s,"serverInfo":{"name":"bridge","version":"1"},"capabilities":{"events":{}}}}`, m.ID, m.Params["protocolVersion"]))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.mu.Lock()
	t.open[string(m.ID)] = cancel
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		delete(t.open, string(m.ID))
		t.mu.Unlock()
	}()
	if m.Params == nil {
		m.Params = map[string]json.RawMessage{}
	}
	m.Params["_meta"] = json.RawMessage(`{"io.modelcontextprotocol/protocolVersion":"` + modernVersion + `","io.modelcontextprotocol/clientInfo":{"name":"bridge","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "method": m.Method, "params": m.Params})
	if err == nil {
		err = t.forward(ctx, m.Method, body)
	}
	if err != nil && ctx.Err() == nil {
		t.out(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`, m.ID, err.Error()))
	}
}

func (t *talk) forward(ctx context.Context, method string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.pager, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "MCP-Protocol-Version": modernVersion, "Mcp-Method": method} {
		req.Header.Set(name, value)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(resp.Body)
		if err == nil {
			t.out(raw)
		}
		return err
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			t.out(bytes.Clone(data))
		}
	}
	return lines.Err()
}

// socket serves WebSockets.
func (b bridge) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(r.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	t := b.talk(func(frame []byte) { _ = conn.Write(ctx, websocket.MessageText, frame) }) // a reader that is gone ends the loop below
	for {
		_, frame, err := conn.Read(ctx)
		if err != nil {
			return
		}
		all.Go(func() { t.handle(ctx, frame) })
	}
}

// streamable serves handshake Streamable HTTP with a session.
func (b bridge) streamable(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	frame, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Mcp-Session-Id", "s-1")
	if !bytes.Contains(frame, []byte(`"id"`)) {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	b.talk(func(frame []byte) {
		fmt.Fprintf(w, "data: %s\n\n", frame)
		w.(http.Flusher).Flush()
	}).handle(r.Context(), frame)
}

// sse serves HTTP+SSE of 2024-11-05.
type sse struct {
	bridge
	mu    sync.Mutex
	next  int
	talks map[string]func(frame []byte)
}

func (s *sse) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/messages" && r.Method == http.MethodPost:
		frame, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		take := s.talks[r.URL.RawQuery]
		s.mu.Unlock()
		if take == nil {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		take(frame)
	case r.Method == http.MethodGet:
		s.stream(w, r)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (s *sse) stream(w http.ResponseWriter, r *http.Request) {
	var writing sync.Mutex
	say := func(name string, data []byte) {
		writing.Lock()
		defer writing.Unlock()
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
		w.(http.Flusher).Flush()
	}
	t := s.talk(func(frame []byte) { say("message", frame) })
	var all sync.WaitGroup
	defer all.Wait()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s.mu.Lock()
	s.next++
	id := fmt.Sprintf("id=%d", s.next)
	s.talks[id] = func(frame []byte) {
		if ctx.Err() == nil {
			all.Go(func() { t.handle(ctx, frame) })
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.talks, id)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	say("endpoint", []byte("/messages?"+id))
	<-ctx.Done()
}

// The environment of a process that is a bridge on standard input and output.
const (
	bridgePager = "HOST_TEST_BRIDGE_PAGER"
	bridgeLife  = "HOST_TEST_BRIDGE_LIFE" // an address to connect to: the process dies with that connection
)

// serveBridge is the main function of that process.
func serveBridge() int {
	life, err := net.Dial("tcp", os.Getenv(bridgeLife))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		_, _ = io.ReadAll(life) // its end is all that counts
		os.Exit(3)
	}()
	var writing sync.Mutex
	t := bridge{pager: os.Getenv(bridgePager), handshake: true}.talk(func(frame []byte) {
		writing.Lock()
		defer writing.Unlock()
		os.Stdout.Write(append(frame, '\n'))
	})
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		frame := bytes.Clone(lines.Bytes())
		go t.handle(context.Background(), frame)
	}
	return 0
}

// cutter is a listener whose connections can be cut all at once.
type cutter struct {
	net.Listener
	mu    sync.Mutex
	conns map[net.Conn]bool
	came  chan struct{} // one slot: a connection was accepted
}

func newCutter() (*cutter, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	return &cutter{Listener: ln, conns: map[net.Conn]bool{}, came: make(chan struct{}, 1)}, err
}

func (c *cutter) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.conns[conn] = true
	c.mu.Unlock()
	return conn, nil
}

// cut ends every connection and returns how many there were.
func (c *cutter) cut() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.conns)
	for conn := range c.conns {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a reset, as a broken line makes it
		}
		conn.Close()
	}
	clear(c.conns)
	return n
}

// serve answers on the cutter until stop is called.
func (c *cutter) serve(h http.Handler, tune func(*http.Server)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	srv := &http.Server{
		Handler: h, ReadHeaderTimeout: time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, 0),
	}
	tune(srv)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if srv.TLSConfig != nil {
			_ = srv.ServeTLS(c, "", "") // ends with ErrServerClosed
		} else {
			_ = srv.Serve(c)
		}
	}()
	return func() {
		cancel()
		c.cut()
		srv.Close()
		<-done
	}
}
