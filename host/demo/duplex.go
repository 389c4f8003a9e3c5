package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// duplex is the server's side of a connection of the handshake revisions: it sends responses and
// notifications, one at a time.
type duplex struct {
	ctx context.Context // of the connection
	log *slog.Logger

	mu   sync.Mutex // one message at a time
	send func(frame []byte) error
}

// say sends one message. It blocks while the peer does not read.
func (t *duplex) say(frame []byte, err error) error {
	if err != nil {
		t.log.Error("a message cannot be encoded", "error", err)
		return nil
	}
	return t.alone(func() error { return t.send(frame) })
}

// alone runs fn while no message is being sent.
func (t *duplex) alone(fn func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fn()
}

func (t *duplex) notify(method string, params any) error {
	return t.say(wire.EncodeNotification(method, params))
}

// answer answers a request with its result, or with a refusal.
func (t *duplex) answer(id json.RawMessage, result any, f *eventserver.Refusal) {
	if f == nil {
		_ = t.say(wire.EncodeResult(id, result)) // a peer that is gone needs no answer
		return
	}
	_ = t.say(f.Frame(id, wire.ProfileSketch))
}

// greeting returns the result of initialize.
func greeting(params json.RawMessage, name, title, instructions string, capabilities map[string]any) map[string]any {
	return eventserver.Greeting(params, map[string]any{"name": name, "title": title, "version": "1.0.0"}, instructions, capabilities)
}

// listenAndServe listens, says so in the first line on stderr, and serves until
// ctx ends, which is no error.
func listenAndServe(ctx context.Context, name, address, scheme, path string, stderr io.Writer, serve func(context.Context, net.Listener) error) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, event.Network(address), address)
	if err != nil {
		return fmt.Errorf("%s cannot listen on %s: %w", name, address, err)
	}
	if _, err := fmt.Fprintf(stderr, "listening on %s://%s%s\n", scheme, ln.Addr(), path); err != nil {
		ln.Close()
		return fmt.Errorf("%s cannot say where it listens: %w", name, err)
	}
	return serve(ctx, ln)
}

// serveHTTP answers on ln, which it closes, until ctx ends, which is no error. Goroutines that
// outlive a request of the handler must end with the context of the request.
func serveHTTP(ctx context.Context, name string, ln net.Listener, handler http.Handler, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	srv := eventserver.NewHTTP(ctx, handler, false, log)
	return eventserver.ServeUntil(ctx, cancel, srv, ln, name, func() {})
}
