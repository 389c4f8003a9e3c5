// Package host is the agent host without a frontend: it connects to MCP servers,
// subscribes to their events in every mode, stores what arrives and goes on
// where it stopped. Every frontend (screen, command line) uses this one API.
//
// The host never waits for a frontend: it raises a flag when something changed, and the
// frontend reads what it shows.
package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/hooks"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
)

// Errors of the host that a frontend tells apart. Errors of servers are
// *wire.Error in the chain.
var (
	// ErrUnknownServer: no server of that name was added.
	ErrUnknownServer = errors.New("unknown server")
	// ErrUnknownType: the server does not list the event type.
	ErrUnknownType = errors.New("unknown event type")
	// ErrMode: the type or the host does not support the mode; the text names the modes
	// that they do.
	ErrMode = errors.New("mode not possible")
	// ErrArguments: the arguments fail the type's schema; the text names the field.
	ErrArguments = schema.ErrArguments
	// ErrNoEvents: the server has no events (it answered method-not-found).
	ErrNoEvents = errors.New("server has no events")
	// ErrRefused: the server refused for lack of rights.
	ErrRefused = errors.New("refused by the server")
	// ErrUnreachable: the server could not be reached.
	ErrUnreachable = errors.New("cannot connect")
	// ErrUnconfirmed: the stream of a subscription is open, and the server has not
	// confirmed it; it goes on waiting for that.
	ErrUnconfirmed = delivery.ErrUnconfirmed
	// ErrServerKeys: a server must sign with keys of its own, and these cannot be read.
	ErrServerKeys = hooks.ErrServerKeys
	// ErrStopped: another call ended or paused the subscription meanwhile.
	ErrStopped = delivery.ErrStopped
)

// Options configure a [Host]. The zero value of every member but Store works.
type Options struct {
	Store  event.Store
	Log    *slog.Logger
	Now    func() time.Time
	Random io.Reader
	Timing delivery.Timing
	// ClientVersion is told to servers.
	ClientVersion string

	// CallbackURL is the public https address under which the receiver is
	// reached, e.g. through a tunnel. Empty: https on loopback.
	CallbackURL string
	// ListenAddr is where the receiver listens. Empty: the address of the last
	// run, else a free port on 127.0.0.1.
	ListenAddr string
	// PlainHTTP lets the receiver take plain HTTP, on loopback only.
	PlainHTTP bool
	// CADir is the directory of the local certificate authority. Empty: the
	// user's state directory.
	CADir string

	// HookConnections and HookBadRate bound the receiver's open connections, and the
	// refused requests a second of each source. 0: see [receiver.Limits].
	HookConnections int
	HookBadRate     int
	// HookProxies are proxies whose X-Forwarded-For names the sender of a delivery.
	HookProxies []netip.Prefix

	// RotateEvery is how old a webhook secret may get before a refresh brings a new
	// one. 0: secrets change on demand only.
	RotateEvery time.Duration

	Limits Limits

	// Vault keeps the tokens of sign-ins. nil: the store, which is read at once; a
	// given one is read only after a server has refused.
	Vault Vault

	// Network is how servers are reached and deliveries come in.
	Network Network

	// Trace gets every frame of the wire with secrets masked.
	Trace func(server, direction string, frame trust.Text)
	// OnStderr gets the lines that servers on stdio write to stderr.
	OnStderr func(server string, line trust.Text)
	// Failpoint is called at named points; tests end the process there.
	Failpoint func(name string)
}

// Network is how the host dials and listens. A nil member means the system's network.
type Network struct {
	// Dial connects to servers that are reached over HTTP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Listen opens the receiver's listener. Its address must be a *net.TCPAddr.
	Listen func(network, address string) (net.Listener, error)
}

// Host is the agent host. It implements [API] by the methods of its parts. Each part has its own
// subject, and one lock, mu, for its own members:
//
//   - reader (reader.go): snapshots, statistics, settings and marks, and the journal
//     (journal.go) of the newest frames and log lines
//   - subscriptions (subscriptions.go): runners, modes, leases, webhook deliveries, orphans
//   - servers (servers.go): connections (server.go), event types, sign-ins, tools
//   - core (core.go): options, commits, the audit log, the flags of readers, the end of the host
//
// A part calls those below it; a server wakes its subscriptions through [wakes]. Locks are taken
// in the same order, from above to below. One server has a lock of its own, which is taken alone.
type Host struct {
	*core
	*servers
	*subscriptions
	*reader

	stopWatch func() // of commits
}

var _ API = (*Host)(nil)

// New returns a host on an open store, which stays the caller's to close, after
// the host. Nothing is connected yet: see [Host.AddServer].
func New(o Options) (*Host, error) {
	if o.Store == nil {
		return nil, errors.New("a host needs a store")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Timing, o.Limits = o.Timing.WithDefaults(), o.Limits.withDefaults()
	c := &core{opts: o, flags: map[chan struct{}]struct{}{}}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	j := newJournal(c)
	subs := newSubscriptions(c, j)
	r := &reader{core: c, journal: j, subs: subs, log: eventlog.New(o.Store), marks: o.Store.Marks()}
	h := &Host{core: c, servers: subs.servers, subscriptions: subs, reader: r}
	h.wg.Go(h.hooks.Run)
	h.stopWatch = o.Store.Watch(h.stored)
	h.wg.Go(h.watchClock)
	h.wg.Go(h.awaitKey)
	return h, nil
}

// AddServer implements [API].
func (h *Host) AddServer(spec event.Server) {
	unlock, err := h.servers.lock(h.ctx, spec.Name)
	if err != nil {
		return // the host is closing
	}
	defer unlock()
	s, old := h.servers.add(spec)
	if s == nil {
		return
	}
	if old != nil {
		for _, sub := range h.storedOf(spec.Name) {
			h.stopRunning(sub.ID)
		}
		old.cancel()
		<-old.done
	}
	for _, sub := range h.storedOf(spec.Name) {
		h.start(sub)
	}
	if s.spec.ByHand {
		h.auditAdded(s.spec, old != nil)
	}
	h.notify()
}

// RemoveServer implements [API].
func (h *Host) RemoveServer(ctx context.Context, name string) error {
	unlock, err := h.servers.lock(ctx, name)
	if err != nil {
		return err
	}
	defer unlock()
	s, err := h.server(name)
	if err != nil {
		return err
	}
	for _, sub := range h.storedOf(name) {
		if err := h.endSub(ctx, sub.ID); err != nil {
			return fmt.Errorf("server %s stays: subscription %s could not be ended: %w", name, sub.ID, err)
		}
	}
	h.servers.remove(s)
	s.cancel()
	<-s.done
	h.meter.forgetServer(name)
	h.audit(ctx, h.serverEntry("remove server", name))
	return nil
}

// Close implements [API].
func (h *Host) Close() error {
	h.core.mu.Lock()
	closed := h.closed
	h.closed = true
	h.core.mu.Unlock()
	if closed {
		return nil
	}
	err := h.hooks.Close()
	h.cancel(errors.New("the host is closing"))
	h.wg.Wait()
	h.stopWatch()
	return err
}
