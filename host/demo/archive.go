package demo

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// The paths of the archive: of its stream, and for messages to it.
const (
	ArchivePath  = "/sse"
	archivePosts = "/messages"
)

const (
	maxSessions      = 100
	maxRegistrations = 100
	archiveFiled     = "event://archive/filed"
	archiveTick      = "event://archive/load.tick"
	archiveShelf     = "event://archive/shelf/{shelf}"
	shelfPrefix      = "event://archive/shelf/"
)

// Archive is the demo server of SEP-1803 over HTTP+SSE. It announces filed documents as updates of
// event resources on the connection, and as webhooks signed with a secret of the server. There is
// no cursor and no replay. Make it with [NewArchive].
type Archive struct {
	origin
	opts   ServerOptions
	filed  feed
	tick   feed // nil: not offered
	sender *eventserver.Sender
	guard  eventserver.Guard

	ctx     context.Context // of registrations
	workers sync.WaitGroup

	mu            sync.Mutex
	sessions      map[string]*archiveSession
	registrations map[string]*registration
	registered    int
	over          bool
}

// NewArchive makes a server whose run starts now.
//
// Errors: [ErrOptions]; failure of the randomness.
func NewArchive(o ServerOptions) (*Archive, error) {
	o = o.withDefaults("127.0.0.1:8933")
	from, err := o.begin()
	if err != nil {
		return nil, err
	}
	a := &Archive{
		origin: from, opts: o,
		filed:    timeline{origin: from, kind: kindFiled, steps: filings(o.Seed), period: period, speed: o.Speed},
		sessions: map[string]*archiveSession{}, registrations: map[string]*registration{},
	}
	if o.Rate > 0 {
		a.tick = ticker{origin: from, seed: o.Seed, rate: float64(o.Rate)}
	}
	return a, nil
}

// RunArchive serves an archive on o.Listen until ctx ends, which is no error. The
// first line on o.Stderr is "listening on" and the complete endpoint URL.
//
// Errors: those of [NewArchive], of listening and of serving.
func RunArchive(ctx context.Context, o ServerOptions) error {
	a, err := NewArchive(o)
	if err != nil {
		return err
	}
	return listenAndServe(ctx, "archive", a.opts.Listen, "http", ArchivePath, a.opts.Stderr, a.Serve)
}

// Serve answers on ln, which it closes, until ctx ends, which is no error. It
// returns after every goroutine of the server has ended. It may be called once.
func (a *Archive) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := a.opts
	local := eventserver.OnLoopback(ln.Addr())
	a.guard = o.guard(ln)
	ca := ""
	if o.TrustCA || local {
		ca = o.CAFile
	}
	a.sender = eventserver.NewSender(o.AllowLoopback || local, ca, deliveriesEach)
	a.ctx = ctx
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+ArchivePath, a.serveStream)
	mux.HandleFunc("POST "+archivePosts, a.servePost)
	err := serveHTTP(ctx, "archive", ln, mux, o.Log)
	cancel()
	a.mu.Lock()
	a.over = true
	a.mu.Unlock()
	a.workers.Wait()
	a.sender.Close()
	return err
}

// archiveSession is one session: a stream with its subscriptions.
type archiveSession struct {
	duplex
	mu      sync.Mutex
	subs    map[string]func() // by uri; ends a subscription, and returns after its last event
	workers sync.WaitGroup
}

func (a *Archive) newSession(ctx context.Context, send func([]byte) error) (*archiveSession, string, error) {
	id := make([]byte, 12)
	if _, err := io.ReadFull(a.opts.Random, id); err != nil {
		return nil, "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sessions) >= maxSessions {
		return nil, "", fmt.Errorf("more than %d sessions", maxSessions)
	}
	s := &archiveSession{duplex: duplex{ctx: ctx, log: a.opts.Log, send: send}, subs: map[string]func(){}}
	name := hex.EncodeToString(id)
	a.sessions[name] = s
	return s, name, nil
}

// serveStream holds the stream of a session open.
func (a *Archive) serveStream(w http.ResponseWriter, r *http.Request) {
	if !a.guard.Admit(w, r) {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	out := eventserver.StartSSE(w)
	s, name, err := a.newSession(ctx, func(frame []byte) error {
		err := out.Write([]byte("event: message\ndata: " + string(frame) + "\n\n"))
		if err != nil {
			cancel()
		}
		return err
	})
	if err != nil {
		return // the headers are sent: the stream stays empty
	}
	defer func() {
		cancel()
		a.end(s, name)
	}()
	write := func(lines string) error {
		return s.alone(func() error { return out.Write([]byte(lines)) })
	}
	err = write(fmt.Sprintf("event: endpoint\ndata: %s?session=%s\n\n", archivePosts, name))
	beat := time.NewTicker(10 * time.Second)
	defer beat.Stop()
	for err == nil {
		select {
		case <-beat.C:
			err = write(": here\n\n")
		case <-ctx.Done():
			return
		}
	}
}

// end ends a session whose context is over. Its stream is not written to afterwards.
func (a *Archive) end(s *archiveSession, name string) {
	a.mu.Lock()
	delete(a.sessions, name)
	a.mu.Unlock()
	s.mu.Lock() // after this no request adds a worker
	s.subs = nil
	s.mu.Unlock()
	s.workers.Wait()
	_ = s.alone(func() error { // a message may be answered at the same time
		s.send = func([]byte) error { return context.Cause(s.ctx) }
		return nil
	})
}

// servePost takes a message; the response comes on the stream.
func (a *Archive) servePost(w http.ResponseWriter, r *http.Request) {
	if !a.guard.Admit(w, r) {
		return
	}
	a.mu.Lock()
	s := a.sessions[r.URL.Query().Get("session")]
	a.mu.Unlock()
	if s == nil {
		http.Error(w, "no such session", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, eventserver.MaxRequest))
	if err != nil {
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	messages, err := wire.DecodeMessages(body)
	if err != nil {
		http.Error(w, "one JSON-RPC message expected", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, "Accepted") // nothing depends on it
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	for _, m := range messages {
		if m.HasID && m.Method != "" {
			result, f := a.dispatch(s, m)
			s.answer(m.RawID, result, f)
		}
	}
}

func (a *Archive) dispatch(s *archiveSession, m wire.Message) (map[string]any, *eventserver.Refusal) {
	switch m.Method {
	case "initialize":
		return greeting(m.Params, "archive", "Archive (demo)", "Documents that are filed. Subscribe to "+archiveFiled+".", map[string]any{
			"resources": map[string]any{"events": true, "subscribe": true, "subscription": []string{"notification", "webhook"}},
		}), nil
	case "ping":
		return map[string]any{}, nil
	case "resources/list":
		return map[string]any{"resources": a.resources()}, nil
	case "resources/templates/list":
		return map[string]any{"resourceTemplates": a.templates()}, nil
	case "resources/subscribe", "resources/unsubscribe":
		return a.inBand(s, m)
	case "resources/subscriptions/register":
		return a.register(m.Params)
	case "resources/subscriptions/deregister":
		return a.deregister(m.Params)
	}
	return nil, eventserver.NoMethod(m.Method)
}

func documentSchema() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{"type": "object", "required": []string{"shelf", "document"}, "properties": map[string]any{
		"shelf": text, "document": text, "title": text, "author": text, "pages": map[string]any{"type": "integer"},
	}}
}

func (a *Archive) resources() []any {
	all := []any{map[string]any{
		"uri": archiveFiled, "name": "filed", "title": "Filed documents", "description": "Every document that is filed, on any shelf.",
		"_meta": map[string]any{"eventSchema": documentSchema()},
	}}
	if a.tick != nil {
		all = append(all, map[string]any{
			"uri": archiveTick, "name": "load.tick", "description": event.Some(a.opts.Rate, "event", "events") + " a second; payload.n counts 1, 2, 3.",
		})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for uri, r := range a.registrations {
		all = append(all, map[string]any{"uri": uri, "name": "subscription", "_meta": map[string]any{"eventUris": r.uris, "targetUri": r.target}})
	}
	return all
}

func (a *Archive) templates() []any {
	return []any{map[string]any{
		"uriTemplate": archiveShelf, "name": "shelf", "title": "One shelf", "description": "The documents of one shelf.",
		"_meta": map[string]any{
			"eventSchema": documentSchema(), "webhookType": kindFiled,
			"paramsSchema": map[string]any{"type": "object", "required": []string{"shelf"}, "additionalProperties": false,
				"properties": map[string]any{"shelf": map[string]any{"enum": shelves(), "description": "Which shelf"}}},
		},
	}}
}

// resource returns the feed of an address, and the arguments that select its events.
func (a *Archive) resource(uri string) (f feed, args map[string]any, ok bool) {
	switch {
	case uri == archiveFiled:
		return a.filed, nil, true
	case uri == archiveTick && a.tick != nil:
		return a.tick, nil, true
	}
	shelf, found := strings.CutPrefix(uri, shelfPrefix)
	for _, known := range shelves() {
		if found && shelf == known {
			return a.filed, map[string]any{"shelf": shelf}, true
		}
	}
	return nil, nil, false
}

// inBand subscribes a session to an address, or ends that.
func (a *Archive) inBand(s *archiveSession, m wire.Message) (map[string]any, *eventserver.Refusal) {
	uri, refused := decodeURI(m.Params)
	if refused != nil {
		return nil, refused
	}
	f, args, ok := a.resource(uri)
	if !ok {
		return nil, eventserver.BadParam("uri", "no such event resource")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.subs == nil {
		return nil, eventserver.BadParam("uri", "the session is over")
	}
	if end := s.subs[uri]; end != nil {
		end()
		delete(s.subs, uri)
	}
	if m.Method == "resources/unsubscribe" {
		return map[string]any{}, nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	ended := make(chan struct{})
	s.subs[uri] = func() { cancel(); <-ended }
	from := f.count(time.Now())
	s.workers.Go(func() {
		defer close(ended)
		defer cancel()
		follow(ctx, f, from, args, func(n uint64) bool {
			h := eventAt(f, n)
			update := map[string]any{"uri": uri + "/" + h.EventID, "payload": h.Data}
			return s.notify("notifications/resources/updated", update) == nil
		})
	})
	return map[string]any{}, nil
}

// follow calls fn for the events after from as they fall due, until fn returns false or ctx ends. A
// slow fn falls behind, and nothing is skipped.
func follow(ctx context.Context, f feed, from uint64, args map[string]any, fn func(n uint64) bool) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		for count := f.count(time.Now()); from < count; {
			from++
			if ctx.Err() != nil || f.matches(from, args) && !fn(from) {
				return
			}
		}
		timer.Reset(max(gather, time.Until(f.when(from+1))))
	}
}

// decodeURI reads the uri of params.
func decodeURI(params json.RawMessage) (string, *eventserver.Refusal) {
	var p struct{ URI string }
	f := eventserver.Decode(params, &p)
	return p.URI, f
}
