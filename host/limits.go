package host

import (
	"errors"
	"fmt"

	"eventdeck/host/event"
	"eventdeck/host/trust/strict"
)

// ErrLimit: a bound of the host is reached; the text says which, and what to do.
var ErrLimit = errors.New("limit reached")

// The bounds of [Limits] that are not set.
const (
	defaultServers       = 1_000
	defaultSubscriptions = 10_000
	defaultPayload       = 1 << 20
	defaultDepth         = 1_000
)

// Limits bound what the host takes from servers and holds for the operator. A
// member that is zero takes its default.
type Limits struct {
	// Servers is how many servers are connected; a further one has the fault [ErrLimit].
	// Default 1,000.
	Servers int
	// Subscriptions is how many subscriptions are kept; a further one is refused with
	// [ErrLimit]. Those that are stored go on whatever the limit. Default 10,000.
	Subscriptions int
	// Types, TypePages and TypeBytes bound the list of types that is read from one server;
	// its view says if there are more. Default: those of [dialect.Options].
	Types, TypePages, TypeBytes int
	// Payload is the size of one event, in bytes, and of the frame that carries it on
	// a stream; an answer may have sixteen times that. An event beyond it is kept as
	// rejected. Default 1 MiB. Webhook deliveries have a bound of their own.
	Payload int
	// Depth is how deep the JSON of an event may be nested. Default 1,000.
	Depth int
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		have  *int
		value int
	}{
		{&l.Servers, defaultServers}, {&l.Subscriptions, defaultSubscriptions},
		{&l.Payload, defaultPayload}, {&l.Depth, defaultDepth},
	} {
		if *d.have <= 0 {
			*d.have = d.value
		}
	}
	return l
}

// events returns the bounds of one event.
func (l Limits) events() strict.Limits { return strict.Limits{Bytes: l.Payload, Depth: l.Depth} }

// raise says how to change a limit.
const raise = `raise %q under "limits" in settings.json and start again`

// reservePlace reserves a place for one more subscription. settled must be called when the
// subscription was stored, or was not; until then no other caller gets the place.
//
// Error: [ErrLimit].
func (h *Host) reservePlace(id event.SubID) (settled func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := len(h.reserved)
	for _, sub := range h.opts.Store.Subscriptions() {
		if _, twice := h.reserved[sub.ID]; !twice {
			count++
		}
	}
	if count >= h.opts.Limits.Subscriptions {
		return nil, fmt.Errorf("%w: %s kept; end one (`eventdeck subs list`, `eventdeck subs rm ID`), or "+raise,
			ErrLimit, event.Some(h.opts.Limits.Subscriptions, "subscription is", "subscriptions are"), "subscriptions")
	}
	h.reserved[id] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.reserved, id)
	}, nil
}

// tooMany returns the fault of a server beyond the limit.
func (l Limits) tooMany() error {
	return fmt.Errorf("%w: %s connected; take one out of the configuration, or "+raise, ErrLimit, event.Some(l.Servers, "server is", "servers are"), "servers")
}
