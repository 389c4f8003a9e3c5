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
	"io"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
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
