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
func (subs *subscriptions) reservePlace(id event.SubID) (settled func(), err error) {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	count := len(subs.reserved)
	if count+subs.opts.Store.Info().Subs >= subs.opts.Limits.Subscriptions { // to list them takes longer the more there are
		for _, sub := range subs.opts.Store.Subscriptions() {
			if _, twice := subs.reserved[sub.ID]; !twice {
				count++
			}
		}
		if count >= subs.opts.Limits.Subscriptions {
			return nil, fmt.Errorf("%w: %s kept; end one (`eventdeck subs list`, `eventdeck subs rm ID`)",
				ErrLimit, event.Some(subs.opts.Limits.Subscriptions, "subscription is", "subscriptions are"))
		}
	}
	subs.reserved[id] = struct{}{}
	return func() {
		subs.mu.Lock()
		defer subs.mu.Unlock()
		delete(subs.reserved, id)
	}, nil
}
