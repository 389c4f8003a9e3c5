package host

import (
	"cmp"
	"errors"
	"fmt"

	"eventdeck/host/event"
)

// ErrLimit: a bound of the host is reached; the text says which, and what to do.
var ErrLimit = errors.New("limit reached")

// Bounds of what the host holds for the operator.
const (
	maxServers       = 1_000
	maxSubscriptions = 10_000
)

// Limits are bounds for tests; zero is the one of the program.
type Limits struct {
	Servers       int // that are connected; a further one has the fault [ErrLimit]
	Subscriptions int // that are kept; a further one is refused with [ErrLimit], and stored ones go on
}

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.Servers, maxServers), cmp.Or(l.Subscriptions, maxSubscriptions)}
}

// reservePlace reserves a place for one more subscription. settled must be called when the
// subscription was stored, or was not; until then no other caller gets the place.
//
// Error: [ErrLimit].
func (h *Host) reservePlace(id event.SubID) (settled func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := len(h.reserved)
	if most := count + h.opts.Store.Info().Subs; most < h.opts.Limits.Subscriptions {
		return h.reserve(id), nil // to list them all takes longer the more there are
	}
	for _, sub := range h.opts.Store.Subscriptions() {
		if _, twice := h.reserved[sub.ID]; !twice {
			count++
		}
	}
	if count >= h.opts.Limits.Subscriptions {
		return nil, fmt.Errorf("%w: %s kept; end one (`eventdeck subs list`, `eventdeck subs rm ID`)",
			ErrLimit, event.Some(h.opts.Limits.Subscriptions, "subscription is", "subscriptions are"))
	}
	return h.reserve(id), nil
}

// reserve reserves a place until settled is called. The lock is held.
func (h *Host) reserve(id event.SubID) (settled func()) {
	h.reserved[id] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.reserved, id)
	}
}

// tooMany returns the fault of a server beyond the limit.
func (l Limits) tooMany() error {
	return fmt.Errorf("%w: %s connected; take one out of the configuration", ErrLimit, event.Some(l.Servers, "server is", "servers are"))
}
