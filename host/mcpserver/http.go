package mcpserver

import (
	"context"
	"net"
	"net/http"
	"slices"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// Path is the path of the endpoint.
const Path = "/mcp"

// ServeHTTP answers Streamable HTTP on ln, which it closes, until ctx ends, which is no
// error. It returns after every goroutine of the server has ended. It may be called once.
// On loopback it answers only to names of loopback; elsewhere [Options.Token] must be set.
func (s *Server) ServeHTTP(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.hooks.Begin(ctx)
	s.work.Go(func() { s.follow(ctx) })
	mux := http.NewServeMux()
	mux.Handle(Path, &endpoint{Server: s, guard: eventserver.Guard{Realm: "eventdeck", Token: s.opts.Token, Loopback: eventserver.OnLoopback(ln.Addr())}})
	srv := eventserver.NewHTTP(ctx, mux, true, s.opts.Log)
	return eventserver.ServeUntil(ctx, cancel, srv, ln, "the MCP server", func() {
		s.work.Wait()
		s.hooks.Wait()
	})
}

// endpoint answers requests over HTTP.
type endpoint struct {
	*Server
	guard    eventserver.Guard
	sessions eventserver.Sessions
}

// Callers over HTTP: each has webhook subscriptions of its own.
const (
	callerLocal = "loopback"
	callerToken = "token"
)

// ServeHTTP implements [http.Handler].
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !e.guard.Admit(w, r) {
		return
	}
	caller := callerLocal
	if !e.opts.Token.IsZero() {
		caller = callerToken
	}
	m, ok := eventserver.ReadRequest(w, r)
	if !ok {
		e.sessions.Notified(r, m)
		return
	}
	q := newRequest(m, caller)
	asked := r.Header.Get("Mcp-Protocol-Version")
	if greets := !q.modern && (asked == "" && m.Method != "server/discover" || slices.Contains(eventserver.Handshakes(), asked)); !greets && !eventserver.HeadersFit(w, r.Header, m) {
		return
	}
	ctx := r.Context()
	if !q.modern {
		var end func()
		ctx, end = e.sessions.Begin(r, m)
		defer end()
		if m.Method == "initialize" {
			e.sessions.Greet(w)
		}
	}
	if q.opens() {
		e.open(ctx, w, r, q)
		return
	}
	result, f := e.answer(ctx, q)
	if f != nil {
		eventserver.AnswerRefusal(w, q.id, f, q.profile())
		return
	}
	eventserver.AnswerResult(w, q.id, result)
}

// open answers a request that stays open, until ctx ends.
func (e *endpoint) open(ctx context.Context, w http.ResponseWriter, r *http.Request, q request) {
	var wants wanted
	if q.method == wire.MethodStream {
		var f *eventserver.Refusal
		if wants, f = e.resolve(q.params); f != nil {
			eventserver.AnswerRefusal(w, q.id, f, q.profile())
			return
		}
	}
	select {
	case e.streams <- struct{}{}:
		defer func() { <-e.streams }()
	default:
		eventserver.AnswerRefusal(w, q.id, e.tooMany(), q.profile())
		return
	}
	stream := eventserver.StartSSE(w)
	var err error
	if q.method == wire.MethodStream {
		err = e.stream(ctx, q, wants, stream.Sink())
	} else {
		err = e.listen(ctx, q, stream.Sink(), ": alive\n\n")
	}
	if r.Context().Err() != nil { // this server ends, or the client is gone and misses nothing
		stream.Finish(q.id, e.info())
	} else if err != nil && ctx.Err() == nil {
		e.opts.Log.Debug("a stream ended", "err", err)
	}
}
