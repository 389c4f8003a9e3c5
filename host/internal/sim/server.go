package sim

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"eventdeck/host/wire"
)

// Behaviour has the probabilities, from 0 to 1, with which the server misbehaves now. A
// permanent fault is a [Deviation].
type Behaviour struct {
	Refuse      float64 // 429, 503, 500 or an internal error in place of a response
	Garbage     float64 // garbage in place of a response, or as a frame of a stream
	Hang        float64 // a response that is seconds late
	Repeat      float64 // events that are repeated
	Shuffle     float64 // events out of order, with correct positions
	Deny        float64 // a position is refused
	SignWrongly float64 // a delivery is signed with a secret that no receiver has
	// Forget: a webhook subscription is forgotten right after its grant, and challenged
	// again on the next subscribe.
	Forget    float64
	Challenge float64 // the response to a challenge is not accepted
}

const (
	serverAddress = "127.0.0.1:8080"
	heartbeat     = 2 * time.Second // default heartbeat
	shortestLease = 6 * time.Second
	longestLease  = 25 * time.Second
)

// Server is a model of a server of MCP Events: it offers its feeds by poll, push and
// webhook.
type Server struct {
	// Challenges says that a callback must answer a challenge before its first delivery. Set
	// it before Start.
	Challenges bool
	// Heartbeat is the interval between heartbeats of a stream; 2 s unless it is changed
	// before Start.
	Heartbeat time.Duration
	// Lease is how long a webhook grant lasts; 0: random.
	Lease time.Duration

	net   *Network
	rand  *Random
	feeds map[string]*Feed
	acked func(f *Feed, n int) // called for each acknowledged delivery

	mu        sync.Mutex
	behaviour Behaviour
	process   *serverProcess
	hooks     map[string]*hook // by type and address
	requests  map[string]int   // by type and method
	refused   map[*Feed]*refusing
}

// serverProcess is one run of the server.
type serverProcess struct {
	node   *Node
	http   *http.Server
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	client *http.Client
}

// NewServer returns a server that is not started.
func NewServer(n *Network, r *Random, feeds []*Feed, acked func(*Feed, int)) *Server {
	s := &Server{Heartbeat: heartbeat, net: n, rand: r, feeds: map[string]*Feed{}, acked: acked, hooks: map[string]*hook{}, requests: map[string]int{}, refused: map[*Feed]*refusing{}}
	for _, f := range feeds {
		s.feeds[f.Name] = f
	}
	return s
}

// Start starts serving on the server's address.
func (s *Server) Start() error {
	l := &serverProcess{node: s.net.Node("server")}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	listener, err := l.node.Listen("tcp", serverAddress)
	if err != nil {
		return err
	}
	l.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: l.node.Dial, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second}}
	l.http = &http.Server{Handler: s}
	l.wg.Go(func() { _ = l.http.Serve(listener) }) // ends with the process
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = l
	for _, name := range sortedKeys(s.hooks) {
		s.work(s.hooks[name])
	}
	return nil
}

// Stop kills the process. With forget the server loses its leases.
func (s *Server) Stop(forget bool) {
	s.mu.Lock()
	l := s.process
	s.process = nil
	if forget {
		clear(s.hooks)
	}
	s.mu.Unlock()
	if l == nil {
		return
	}
	l.node.Kill()
	l.cancel()
	_ = l.http.Close() // the node's connections are gone
	l.client.CloseIdleConnections()
	l.wg.Wait()
}

// Behave changes how the server misbehaves.
func (s *Server) Behave(b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaviour = b
}

func (s *Server) behaves() Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behaviour
}

// request has the common params of requests.
type request struct {
	Name     string
	Cursor   *string
	Delivery struct{ URL, Secret string }
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	process := s.process
	s.mu.Unlock()
	var call struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if process == nil || r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&call) != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	var p request
	_ = json.Unmarshal(call.Params, &p) // missing members are refused below
	if call.Method != "server/discover" && s.misbehaves(w, r) {
		return
	}
	a := answerer{w, call.ID}
	switch call.Method {
	case "server/discover":
		a.result(map[string]any{
			"supportedVersions": []string{"2026-07-28"},
			"capabilities":      map[string]any{"extensions": map[string]any{wire.Extension: map[string]any{"listChanged": true}}},
			"serverInfo":        map[string]any{"name": "model", "version": "1"}, "resultType": "complete",
		})
		return
	case wire.MethodList:
		a.result(map[string]any{"events": s.list()})
		return
	case "subscriptions/listen":
		s.listen(a, r.Context())
		return
	case wire.MethodUnsubscribe:
		s.unsubscribe(p)
		a.result(map[string]any{})
		return
	}
	f := s.feeds[p.Name]
	if f == nil {
		a.fail(-32601, "no such method or type", nil)
		return
	}
	s.countRequest(f, call.Method)
	if p.Cursor != nil && s.chance(s.behaves().Deny, "position refused") {
		if call.Method == wire.MethodPoll {
			f.deny(true)
		}
		s.refusePosition(a, f, *p.Cursor)
		return
	}
	if p.Cursor != nil && strings.HasPrefix(*p.Cursor, foreign) && call.Method != wire.MethodPoll {
		s.refusePosition(a, f, strings.TrimPrefix(*p.Cursor, foreign))
		return
	}
	switch call.Method {
	case wire.MethodPoll:
		s.poll(a, f, p.Cursor)
	case wire.MethodStream:
		s.stream(a, r.Context(), f, p.Cursor)
	case wire.MethodSubscribe:
		s.subscribe(a, f, p)
	}
}

// refusePosition answers that a cursor is unknown. The host can no longer get the events
// that it skipped, since it continues from now.
func (s *Server) refusePosition(a answerer, f *Feed, cursor string) {
	_, at := f.parseCursor(strings.TrimPrefix(cursor, foreign))
	f.refuse(at)
	f.loseSkipped()
	a.fail(-32602, "the cursor is not known", map[string]any{"field": "cursor"})
}

// countRequest counts a request for a type.
func (s *Server) countRequest(f *Feed, method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[f.Name+" "+method]++
}

// Requests returns the number of requests of a method for a type.
func (s *Server) Requests(f *Feed, method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[f.Name+" "+method]
}

// chance draws whether a fault occurs, and counts it.
func (s *Server) chance(p float64, fault string) bool {
	if !s.rand.Chance(p) {
		return false
	}
	s.net.Count(fault)
	return true
}

// misbehaves may answer in place of the server, and reports whether it has.
func (s *Server) misbehaves(w http.ResponseWriter, r *http.Request) bool {
	b := s.behaves()
	switch {
	case s.chance(b.Refuse, "answer refused (429, 503, 500)"):
		status := []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInternalServerError}[s.rand.N(3)]
		if s.rand.Chance(0.5) {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(status)
		return true
	case s.chance(b.Garbage, "answer is garbage"):
		kind := []string{"application/json", "text/event-stream", "text/html"}[s.rand.N(3)]
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte([]string{`{"jsonrpc":"2.0","id":1,"res`, "data: \x00\xff\xfe\n\ndata", "<html><h1>It works", "", `[]`, `null`}[s.rand.N(6)])) // the peer may be gone
		return true
	case s.chance(b.Hang, "answer late"):
		select {
		case <-time.After(s.rand.Between(time.Second, 40*time.Second)):
		case <-r.Context().Done():
			return true
		}
	}
	return false
}

func (s *Server) list() (types []map[string]any) {
	for _, name := range sortedKeys(s.feeds) {
		f := s.feeds[name]
		types = append(types, map[string]any{
			"name": f.Name, "delivery": f.modes, "cursorless": f.Cursorless,
			"inputSchema": map[string]any{"type": "object"},
		})
	}
	return types
}

func (s *Server) listen(a answerer, ctx context.Context) {
	a.open()
	if a.note("notifications/subscriptions/acknowledged", map[string]any{"notifications": map[string]any{"eventsListChanged": true}}) != nil {
		return
	}
	beat := time.NewTicker(3 * time.Second)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if a.write([]byte(": alive\n\n")) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
