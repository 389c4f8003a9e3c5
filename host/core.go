package host

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/redact"
	"eventdeck/host/session"
)

// core is what the parts of the host share.
type core struct {
	opts    Options
	secrets redact.Set // of the servers and their subscriptions; masks what servers say

	ctx      context.Context // ends when the host closes
	cancel   context.CancelCauseFunc
	wg       sync.WaitGroup
	version  atomic.Uint64 // of the snapshot
	notifies atomic.Bool   // a call of notify is due; see [core.notifySoon]

	mu     sync.Mutex
	closed bool
	flags  map[chan struct{}]struct{}
}

// spawn runs a function on a goroutine for which the host waits when it closes. It reports false,
// and runs nothing, once the host is closing.
func (c *core) spawn(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.wg.Go(run)
	}
	return !c.closed
}

// storedOf returns the stored subscriptions of a server, in order of creation.
func (c *core) storedOf(server string) []event.Subscription {
	return slices.DeleteFunc(c.opts.Store.Subscriptions(), func(sub event.Subscription) bool { return sub.Key.Server != server })
}

// locked returns what is closed once secrets can be read and stored, and why they cannot now.
func (c *core) locked() (until <-chan struct{}, why error) {
	until = c.opts.Store.Unlocked()
	select {
	case <-until:
		return until, nil
	default:
		return until, c.opts.Store.Info().Locked
	}
}

// backoff returns the pauses between attempts after failures.
func (c *core) backoff() delivery.Backoff {
	return &session.Backoff{Min: c.opts.Timing.BackoffMin, Max: c.opts.Timing.BackoffMax}
}

// logOf returns a log whose lines name the server of a subscription.
func (c *core) logOf(sub event.Subscription) *slog.Logger {
	return c.opts.Log.With("server", sub.Key.Server)
}

// notify raises every reader's flag.
func (c *core) notify() {
	c.version.Add(1)
	c.mu.Lock()
	defer c.mu.Unlock()
	for ch := range c.flags {
		signal(ch)
	}
}

// notifySoon notifies readers of the host within a second, for what nobody waits for: of a thousand
// servers that are away, one fails again every few milliseconds.
func (c *core) notifySoon() {
	if c.notifies.CompareAndSwap(false, true) {
		time.AfterFunc(time.Second, func() {
			c.notifies.Store(false)
			c.notify()
		})
	}
}

// Changed implements [API].
func (c *core) Changed() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	ch <- struct{}{}
	c.mu.Lock()
	c.flags[ch] = struct{}{}
	c.mu.Unlock()
	return ch, func() {
		c.mu.Lock()
		delete(c.flags, ch)
		c.mu.Unlock()
	}
}

// signal fills a one-slot flag.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
