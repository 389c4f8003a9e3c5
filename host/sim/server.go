package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// Manners says how likely the server misbehaves, each from 0 to 1.
type Manners struct {
	Refuse  float64 // 429, 503, 500 or an internal error in place of an answer
	Garbage float64 // no JSON-RPC in place of an answer, or a frame of it in a stream
	Hang    float64 // an answer that comes after seconds
	Repeat  float64 // events that come again
	Shuffle float64 // events out of order, with positions that are right all the same
	Deny    float64 // a position is refused
}

const (
	serverAddress = "127.0.0.1:8080"
	heartbeat     = 2 * time.Second
	shortestLease = 6 * time.Second
	longestLease  = 25 * time.Second
)

// Server is a model of a server of MCP Events: it speaks poll, push and webhook
// about its feeds.
type Server struct {
	net   *Network
	rand  *Random
	feeds map[string]*Feed
	acked func(f *Feed, n int) // a delivery was answered with success

	mu      sync.Mutex
	manners Manners
	life    *serverLife
	hooks   map[string]*hook
}

// serverLife is one run of the server's process.
type serverLife struct {
	node   *Node
	http   *http.Server
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	client *http.Client
}

// NewServer returns a server that does not run yet.
func NewServer(n *Network, r *Random, feeds []*Feed, acked func(*Feed, int)) *Server {
	s := &Server{net: n, rand: r, feeds: map[string]*Feed{}, acked: acked, hooks: map[string]*hook{}}
	for _, f := range feeds {
		s.feeds[f.Name] = f
	}
	return s
}

// Start begins to serve on the server's address.
func (s *Server) Start() error {
	l := &serverLife{node: s.net.Node("server")}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	listener, err := l.node.Listen("tcp", serverAddress)
	if err != nil {
		return err
	}
	l.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: l.node.Dial, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second}}
	l.http = &http.Server{Handler: s}
	l.wg.Go(func() { _ = l.http.Serve(listener) }) // ends with the life
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life = l
	for _, name := range sortedKeys(s.hooks) {
		s.work(s.hooks[name])
	}
	return nil
}

// Stop ends the process without a word. A server that forgets has lost its leases.
func (s *Server) Stop(forget bool) {
	s.mu.Lock()
	l := s.life
	s.life = nil
	if forget {
		clear(s.hooks)
	}
	s.mu.Unlock()
	if l == nil {
		return
	}
	l.node.Kill()
	l.cancel()
	_ = l.http.Close() // its connections are gone
	l.client.CloseIdleConnections()
	l.wg.Wait()
}

// Behave changes the server's manners.
func (s *Server) Behave(m Manners) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manners = m
}

func (s *Server) behaviour() Manners {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.manners
}

// request is the params that requests share.
type request struct {
	Name     string
	Cursor   *string
	Delivery struct{ URL, Secret string }
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	life := s.life
	s.mu.Unlock()
	var call struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if life == nil || r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&call) != nil {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	var p request
	_ = json.Unmarshal(call.Params, &p) // what is missing is refused below
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
		a.result(map[string]any{})
		return
	}
	f := s.feeds[p.Name]
	if f == nil {
		a.fail(-32601, "no such method or type", nil)
		return
	}
	if p.Cursor != nil && s.chance(s.behaviour().Deny, "position refused") {
		_, at := f.read(*p.Cursor)
		f.refuse(at)
		a.fail(-32602, "the cursor is not known", map[string]any{"field": "cursor"})
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

// chance draws, and counts the fault by name.
func (s *Server) chance(p float64, fault string) bool {
	if !s.rand.Chance(p) {
		return false
	}
	s.net.Count(fault)
	return true
}

// misbehaves answers in place of the server.
func (s *Server) misbehaves(w http.ResponseWriter, r *http.Request) bool {
	m := s.behaviour()
	switch {
	case s.chance(m.Refuse, "answer refused (429, 503, 500)"):
		status := []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusInternalServerError}[s.rand.N(3)]
		if s.rand.Chance(0.5) {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(status)
		return true
	case s.chance(m.Garbage, "answer is garbage"):
		kind := []string{"application/json", "text/event-stream", "text/html"}[s.rand.N(3)]
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte([]string{`{"jsonrpc":"2.0","id":1,"res`, "data: \x00\xff\xfe\n\ndata", "<html><h1>It works", "", `[]`, `null`}[s.rand.N(6)])) // the peer may be gone
		return true
	case s.chance(m.Hang, "answer late"):
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
			"name": f.Name, "delivery": []string{string(f.Mode)}, "cursorless": f.Cursorless,
			"inputSchema": map[string]any{"type": "object"},
		})
	}
	return types
}

func (s *Server) poll(a answerer, f *Feed, cursor *string) {
	m := s.behaviour()
	at, truncated := f.start(cursor)
	to := min(f.Last(), at+1+s.rand.N(200))
	from := at
	if s.chance(m.Repeat, "events repeated") {
		from = max(0, at-1-s.rand.N(20))
	}
	events := []map[string]any{}
	for n := from + 1; n <= to; n++ {
		events = append(events, f.occurrence(n, n))
	}
	if len(events) > 1 && s.chance(m.Shuffle, "events out of order") {
		for i := range events {
			delete(events[i], "cursor") // the page has one
			j := s.rand.N(len(events))
			events[i], events[j] = events[j], events[i]
		}
	}
	a.result(map[string]any{
		"events": events, "cursor": f.cursor(to), "truncated": truncated, "hasMore": to < f.Last(),
		"nextPollMs": 100 + s.rand.N(900),
	})
}

// stream is a push stream.
func (s *Server) stream(a answerer, ctx context.Context, f *Feed, cursor *string) {
	at, truncated := f.start(cursor)
	if truncated && f.isQuiet() {
		truncated = false
		s.net.Count("loss of history not told")
	}
	a.open()
	if a.note(wire.NoteActive, map[string]any{"cursor": f.cursor(at), "truncated": truncated}) != nil {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for ctx.Err() == nil {
		changed := f.wait()
		next, err := s.push(a, f, at)
		if err != nil {
			return
		}
		at = next
		select {
		case <-changed:
		case <-beat.C:
			if a.note(wire.NoteHeartbeat, map[string]any{"cursor": f.cursor(at)}) != nil {
				return
			}
		case <-ctx.Done():
		}
	}
}

// push sends what happened behind a position.
func (s *Server) push(a answerer, f *Feed, at int) (int, error) {
	for at < f.Last() {
		m := s.behaviour()
		if now, moved := f.held(at); moved && !f.Cursorless {
			at = now
			if err := a.note(wire.NoteActive, map[string]any{"cursor": f.cursor(at), "truncated": true}); err != nil {
				return at, err
			}
			continue
		}
		order := []int{at + 1}
		if at+2 <= f.Last() && s.chance(m.Shuffle, "events out of order") {
			order = []int{at + 2, at + 1}
		}
		if at > 0 && s.chance(m.Repeat, "events repeated") {
			order = append(order, at)
		}
		for i, n := range order {
			position := at // true until all of them were sent
			if i == len(order)-1 || len(order) == 1 {
				position = max(order[0], order[len(order)-1])
			}
			if s.chance(m.Garbage, "frame is garbage") {
				if err := a.frame([]byte("\x00{not json")); err != nil {
					return at, err
				}
			}
			if err := a.note(wire.NoteEvent, f.occurrence(n, position)); err != nil {
				return at, err
			}
		}
		at = max(at, order[0], order[len(order)-1])
	}
	return at, nil
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

func (s *Server) subscribe(a answerer, f *Feed, p request) {
	at, truncated := f.start(p.Cursor)
	lease := s.rand.Between(shortestLease, longestLease)
	s.mu.Lock()
	k := s.hooks[f.Name]
	fresh := k == nil
	if fresh {
		k = &hook{feed: f, mark: at, acked: map[int]bool{}, busy: map[int]bool{}, due: map[int]time.Time{}, kick: make(chan struct{}, 1)}
		s.hooks[f.Name] = k
	}
	s.mu.Unlock()
	mark := k.grant(p.Delivery.URL, event.NewSecret(p.Delivery.Secret), time.Now().Add(lease), at, p.Cursor != nil)
	if fresh {
		s.mu.Lock()
		if s.hooks[f.Name] == k {
			s.work(k)
		}
		s.mu.Unlock()
	}
	a.result(map[string]any{
		"id": "sub-" + f.Name, "cursor": f.cursor(mark), "truncated": truncated,
		"refreshBefore": time.Now().Add(lease).UTC().Format(time.RFC3339Nano),
	})
}

// answerer answers one request.
type answerer struct {
	w  http.ResponseWriter
	id json.RawMessage
}

func (a answerer) send(message map[string]any) {
	message["jsonrpc"], message["id"] = "2.0", a.id
	raw, err := json.Marshal(message)
	if err != nil {
		panic(fmt.Sprint("an answer of the model: ", err))
	}
	a.w.Header().Set("Content-Type", "application/json")
	_, _ = a.w.Write(raw) // the peer may be gone
}

func (a answerer) result(r map[string]any) { a.send(map[string]any{"result": r}) }

func (a answerer) fail(code int, message string, data any) {
	a.send(map[string]any{"error": map[string]any{"code": code, "message": message, "data": data}})
}

func (a answerer) open() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.w.WriteHeader(http.StatusOK)
}

func (a answerer) note(method string, params map[string]any) error {
	params["_meta"] = map[string]any{wire.MetaSubscription: a.id}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	if err != nil {
		panic(fmt.Sprint("a notification of the model: ", err))
	}
	return a.frame(raw)
}

func (a answerer) frame(raw []byte) error {
	return a.write(append(append([]byte("data: "), raw...), "\n\n"...))
}

func (a answerer) write(raw []byte) error {
	if _, err := a.w.Write(raw); err != nil {
		return err
	}
	return http.NewResponseController(a.w).Flush()
}
