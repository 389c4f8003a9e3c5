package demo

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// dialogue is one connection on which both sides say what they like: the answers and
// notifications of a server of the handshake revisions.
type dialogue struct {
	ctx context.Context // of the connection
	log *slog.Logger

	mu   sync.Mutex // one message at a time
	send func(frame []byte) error
}

// say sends one message. It blocks as long as the peer does.
func (t *dialogue) say(frame []byte, err error) error {
	if err != nil {
		t.log.Error("a message cannot be encoded", "error", err)
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.send(frame)
}

func (t *dialogue) notify(method string, params any) error {
	return t.say(wire.EncodeNotification(method, params))
}

// answer answers a request with its result, or with why there is none.
func (t *dialogue) answer(id json.RawMessage, result any, f *refusal) {
	if f == nil {
		_ = t.say(wire.EncodeResult(id, result)) // a peer that is gone needs no answer
		return
	}
	var data any
	if f.data != nil {
		data = f.data
	}
	_ = t.say(wire.EncodeError(id, f.code(wire.ProfileSketch), f.message, data))
}

// greeting is the result of initialize.
func greeting(params json.RawMessage, name, title, instructions string, capabilities map[string]any) map[string]any {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &p) // an unreadable request gets the newest version
	if !slices.Contains(handshakes, p.Version) {
		p.Version = handshakes[0]
	}
	return map[string]any{
		"protocolVersion": p.Version, "capabilities": capabilities, "instructions": instructions,
		"serverInfo": map[string]any{"name": name, "title": title, "version": "1.0.0"},
	}
}

func noMethod(method string) *refusal {
	return &refusal{wire.MethodNotFound, "no such method", map[string]any{"method": method}}
}

// guard decides which callers may talk to a server: callers on loopback, or the holder of the
// token if one is set.
type guard struct {
	token    event.Secret
	loopback bool // the server listens on loopback alone
	open     bool // callers on loopback need no token, wherever the server listens
}

// admit answers callers that may not talk, and reports whether the caller may.
func (g guard) admit(w http.ResponseWriter, r *http.Request) bool {
	if g.loopback && !localRequest(r) {
		http.Error(w, "this server answers to loopback names only", http.StatusForbidden)
		return false
	}
	if g.token.IsZero() {
		peer, err := netip.ParseAddrPort(r.RemoteAddr)
		if (g.loopback || g.open) && err == nil && peer.Addr().Unmap().IsLoopback() {
			return true
		}
	} else {
		given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if subtle.ConstantTimeCompare([]byte(given), []byte(g.token.Reveal())) == 1 {
			return true
		}
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="demo"`)
	http.Error(w, "a bearer token is needed", http.StatusUnauthorized)
	return false
}

// listenAndServe listens, says so in the first line on stderr, and serves until
// ctx ends, which is no error.
func listenAndServe(ctx context.Context, name, address, scheme, path string, o ServerOptions, serve func(context.Context, net.Listener) error) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("%s cannot listen on %s: %w", name, address, err)
	}
	if _, err := fmt.Fprintf(o.Stderr, "listening on %s://%s%s\n", scheme, ln.Addr(), path); err != nil {
		ln.Close()
		return fmt.Errorf("%s cannot say where it listens: %w", name, err)
	}
	return serve(ctx, ln)
}

// serveHTTP answers on ln, which it closes, until ctx ends, which is no error. What
// the handler runs beyond its requests must end with the context of the requests.
func serveHTTP(ctx context.Context, name string, ln net.Listener, handler http.Handler, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return serveUntil(ctx, cancel, srv, ln, name, func() {})
}

// serveUntil serves until ctx is done, and then ends what is open: it calls cancel, and
// settle when no request runs any more. name is that of the server in the error.
func serveUntil(ctx context.Context, cancel context.CancelFunc, srv *http.Server, ln net.Listener, name string, settle func()) error {
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		failed <- nil
	}
	cancel()
	grace, done := context.WithTimeout(context.Background(), time.Second)
	defer done()
	if srv.Shutdown(grace) != nil {
		srv.Close()
	}
	<-failed
	settle()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("%s stopped serving: %w", name, err)
	}
	return nil
}
