// Package host is the agent host without a frontend: it connects to MCP servers,
// subscribes to their events in every mode, stores what arrives and goes on
// where it stopped. Every frontend (screen, command line) uses this one API.
//
// The host never waits for a frontend: a frontend is told that something changed and
// reads what it wants to show.
package host

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
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
	// ErrMode: the type or the host cannot do the mode; the text names what they can.
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

	// HookConnections and HookBadRate bound what others can take from the receiver:
	// open connections, and for each source the requests a second that prove
	// nothing. 0: see [receiver.Limits].
	HookConnections int
	HookBadRate     int

	// RotateEvery is how old a webhook secret may get before a refresh brings a new
	// one. 0: secrets change on demand only.
	RotateEvery time.Duration

	Limits Limits

	// Vault keeps the tokens of sign-ins. nil: the store. One that is given is
	// asked only after a server has refused.
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

// Network is the host's way to the world. A nil member means the system's.
type Network struct {
	// Dial connects to servers that are reached over HTTP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Listen opens the receiver's listener. Its address must be a *net.TCPAddr.
	Listen func(network, address string) (net.Listener, error)
}

// API is what a frontend may ask of the host. [Host] implements it; tests of frontends
// may use a stand-in. All methods may be called from any goroutine.
type API interface {
	// AddServer makes a server known and begins to connect to it. Adding a name
	// again replaces its address. What the operator adds while the host runs
	// ([event.Server.ByHand]) stands in the audit log.
	AddServer(s event.Server)
	// Snapshot returns the present state.
	Snapshot() Snapshot
	// Changed returns a one-slot flag for one reader: it holds a value when the
	// log or the snapshot changed since it was last drained. It is a flag, not a
	// queue. The function ends it.
	Changed() (<-chan struct{}, func())
	// Log reads what is stored.
	Log() *eventlog.Log
	// Types asks a server for its event types, waiting for its connection, also one
	// that does not say that it has any: that is for the operator's own question.
	// Errors: ErrUnknownServer, ErrUnreachable, ErrNoEvents, ErrRefused.
	Types(ctx context.Context, server string) ([]event.Type, error)
	// Announced returns the event types of a server, which are known once it is
	// connected; one that does not say that it has events is not asked.
	// Errors: those of Types.
	Announced(ctx context.Context, server string) ([]event.Type, error)
	// Connected waits until the server has answered, and returns what is known of
	// it. With firstTry it returns ErrUnreachable after the first failure,
	// otherwise it waits for ever.
	Connected(ctx context.Context, server string, firstTry bool) (ServerView, error)
	// Check tells whether the request could be made, without sending it: the
	// type, the mode, the arguments. It returns the mode that would be used.
	// Errors: those of Types, ErrUnknownType, ErrMode, ErrArguments.
	Check(ctx context.Context, r Request) (event.Mode, error)
	// Subscribe begins a subscription, or returns the one with the same key after
	// applying mode and position to it. It waits until the server has confirmed
	// or refused it.
	// Errors: those of Check, ErrLimit, ErrRefused, ErrStopped, *wire.Error;
	// ErrUnconfirmed, beside the subscription, which stays.
	Subscribe(ctx context.Context, r Request) (event.Subscription, error)
	// Unsubscribe ends a subscription here and on its server; the records stay.
	Unsubscribe(ctx context.Context, id event.SubID) error
	// Pause stops delivery and keeps the position; Resume goes on.
	// Errors: [event.ErrNotFound], ErrStopped for a subscription that is over, the
	// cause of ctx.
	Pause(ctx context.Context, id event.SubID) error
	Resume(ctx context.Context, id event.SubID) error
	// SetMode goes on in another mode; position, dedup keys and records stay, and
	// the log says so. A subscription that is over begins anew. It waits until the
	// server has confirmed or refused it, at most [delivery.Timing].ConnectWithin: where
	// it refuses, or does not answer, the subscription goes on in the mode before.
	// Errors: [event.ErrNotFound], those of Check, ErrRefused, ErrStopped, ErrUnconfirmed,
	// *wire.Error.
	SetMode(ctx context.Context, id event.SubID, m event.Mode) error
	// SetFailover says whether a subscription goes on in another mode when its own
	// keeps failing (webhook, push, poll, as far as the type offers them), and comes
	// back. The mode in which it runs now is the preferred one.
	SetFailover(ctx context.Context, id event.SubID, on bool) error
	// Refresh polls, refreshes the lease or opens the stream again now, and waits
	// for the answer.
	// Errors: [event.ErrNotFound], ErrStopped if it does not run, those of the server.
	Refresh(ctx context.Context, id event.SubID) error
	// ResetCursor goes on at another position: at a cursor, or from now. Saved
	// changes nothing.
	ResetCursor(ctx context.Context, id event.SubID, from From) error
	// RotateSecret gives a webhook subscription a new secret and tells the server;
	// the old one is accepted until the new one was seen, and for a grace. When the
	// server cannot be told now, it is told at the next attempt.
	// Errors: [event.ErrNotFound], ErrMode, [delivery.ErrRotating], those of Refresh.
	RotateSecret(ctx context.Context, id event.SubID) error
	// Reconnect connects to a server anew and lists its types again. It does not
	// wait. Errors: ErrUnknownServer, the fault of the server's description.
	Reconnect(server string) error
	// RemoveServer ends a server's subscriptions as Unsubscribe does, and forgets
	// the server. Error: ErrUnknownServer.
	RemoveServer(ctx context.Context, name string) error
	// TestServer connects to a server that was not added, lists its types and
	// leaves. Nothing is kept. What was found out is returned beside an error too.
	// Errors: ErrUnreachable, ErrRefused, ErrNoEvents.
	TestServer(ctx context.Context, s event.Server) (ServerView, error)
	// Preview tells what Subscribe would send, as far as it is known now; it does
	// not wait for the server.
	// Errors: ErrUnknownServer, ErrUnknownType, ErrMode, ErrArguments,
	// [dialect.ErrNoPreview].
	Preview(r Request) (Preview, error)
	// Remote returns what the server holds for this host as far as can be known:
	// what it lists, where its dialect can list; else the leases that it granted,
	// and those that ended here without its word.
	// Errors: ErrUnknownServer, those of the server.
	Remote(ctx context.Context, server string) ([]RemoteSubscription, error)
	// EndRemote ends one of these on the server.
	// Errors: ErrUnknownServer, [event.ErrNotFound], [ErrInUse], those of the server.
	EndRemote(ctx context.Context, server string, id trust.Text) error
	// Refusals returns the refused webhook deliveries, newest first.
	Refusals() []event.Refusal
	// Printed keeps how far tail has written a subscription's records; never less
	// far. When ctx ends first it may still be kept. Error: [event.ErrNotFound].
	Printed(ctx context.Context, id event.SubID, seq uint64) error
	// Setting and SetSetting keep what frontends remember, under keys that begin with
	// [SettingPrefix].
	// Errors: [ErrSetting], [event.ErrNotFound], those of the store.
	Setting(key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
	// Marks returns the operator's marks in order of their records. The list must
	// not be changed. SetMark keeps one in place of that of its kind at the same
	// record; a zero At means now. RemoveMark removes one, if it is there.
	Marks() []event.Mark
	SetMark(ctx context.Context, m event.Mark) error
	RemoveMark(ctx context.Context, seq uint64, line bool) error
	// Audit reads the audit log.
	Audit() *eventlog.Audit
	// Wire holds the newest frames of the wire, AppLog the newest warnings of the
	// program and what servers wrote to standard error. A frame alone raises no
	// flag.
	Wire() *eventlog.Ring[WireFrame]
	AppLog() *eventlog.Ring[LogLine]
	// Stats returns the numbers of this run.
	Stats() Stats
	// SignIn begins a sign-in to a server and returns what the operator has to
	// open. SignOut revokes and forgets the tokens.
	// Errors: [ErrUnknownServer], [ErrNoSignIn], those of the authorization server.
	SignIn(ctx context.Context, server string) (SignIn, error)
	SignOut(ctx context.Context, server string) error
	// Close takes no new delivery, finishes those begun, ends every goroutine.
	// The store stays open. Subscriptions and leases stay.
	Close() error
}
