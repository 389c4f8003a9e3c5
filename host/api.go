package host

import (
	"context"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

// API is what a frontend may ask of the host: [Host] implements it, and so does the
// client of an attached process. A function asks for the smallest of its parts that it
// needs. All methods may be called from any goroutine.
type API interface {
	Reader
	Actor
	Settings
	// Close takes no new delivery, finishes those begun, ends every goroutine.
	// The store stays open. Subscriptions and leases stay.
	Close() error
}

// Reader reads the state of the host. None of its methods changes a subscription, here or at a
// server.
type Reader interface {
	// Snapshot returns the present state.
	Snapshot() Snapshot
	// SnapshotOf returns the present state of one subscription: a snapshot whose Subs has only it,
	// nothing if it is gone, and which has no servers and no Resume. Its cost does not grow with
	// the number of subscriptions.
	SnapshotOf(id event.SubID) Snapshot
	// Changed returns a one-slot flag for one reader: it holds a value when the
	// log or the snapshot changed since it was last drained. It is a flag, not a
	// queue. The function ends it.
	Changed() (<-chan struct{}, func())
	// Log reads what is stored.
	Log() *eventlog.Log
	// Audit reads the audit log.
	Audit() *eventlog.Audit
	// Wire holds the newest frames of the wire, AppLog the newest warnings of the
	// program and what servers wrote to standard error. A frame alone raises no
	// flag.
	Wire() *eventlog.Ring[WireFrame]
	AppLog() *eventlog.Ring[LogLine]
	// Stats returns the numbers of this run.
	Stats() Stats
	// Refusals returns the refused webhook deliveries, newest first.
	Refusals() []event.Refusal
	// Types waits for the connection of a server and asks it for its event types, even if
	// it does not advertise any: it is for requests of the operator.
	// Errors: ErrUnknownServer, ErrUnreachable, ErrNoEvents, ErrRefused.
	Types(ctx context.Context, server string) ([]event.Type, error)
	// Announced waits until the event types of a server are known, and returns them. A
	// server that does not advertise events is not asked.
	// Errors: those of Types.
	Announced(ctx context.Context, server string) ([]event.Type, error)
	// Connected waits until the server has answered, and returns what is known of
	// it. With firstTry it returns ErrUnreachable after the first failure,
	// otherwise it waits for ever.
	Connected(ctx context.Context, server string, firstTry bool) (ServerView, error)
	// Check reports whether the request could be made, without sending it: the
	// type, the mode, the arguments. It returns the mode that would be used.
	// Errors: those of Types, ErrUnknownType, ErrMode, ErrArguments.
	Check(ctx context.Context, r Request) (event.Mode, error)
	// Preview tells what Subscribe would send, as far as it is known now; it does
	// not wait for the server.
	// Errors: ErrUnknownServer, ErrUnknownType, ErrMode, ErrArguments,
	// [dialect.ErrNoPreview].
	Preview(r Request) (Preview, error)
	// Remote returns the subscriptions that the server holds for this host, as far as they
	// are known: its own list, if the dialect has one, the leases that it granted, and
	// orphans.
	// Errors: ErrUnknownServer, those of the server.
	Remote(ctx context.Context, server string) ([]RemoteSubscription, error)
}

// Actor does what the operator asks for, and notes it in the audit log.
type Actor interface {
	// AddServer adds a server and begins to connect to it. Adding a name again replaces the
	// server. A server that the operator adds while the host runs ([event.Server.ByHand]) is
	// noted in the audit log.
	AddServer(s event.Server)
	// Reconnect connects to a server again and lists its types again. It does not
	// wait. Errors: ErrUnknownServer, the fault of the server's description.
	Reconnect(server string) error
	// RemoveServer ends a server's subscriptions as Unsubscribe does, and forgets
	// the server. Error: ErrUnknownServer.
	RemoveServer(ctx context.Context, name string) error
	// TestServer connects to a server that was not added, lists its types and
	// disconnects. Nothing is kept. The view holds what was found out, even with an error.
	// Errors: ErrUnreachable, ErrRefused, ErrNoEvents.
	TestServer(ctx context.Context, s event.Server) (ServerView, error)
	// SignIn begins a sign-in to a server and returns what the operator has to
	// open. SignOut revokes and forgets the tokens.
	// Errors: [ErrUnknownServer], [ErrNoSignIn], those of the authorization server.
	SignIn(ctx context.Context, server string) (SignIn, error)
	SignOut(ctx context.Context, server string) error
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
	// the log says so. A subscription that is over begins again. It waits until the
	// server has confirmed or refused it, at most [delivery.Timing].ConnectWithin. If the
	// server refuses or does not answer, the subscription goes on in the previous mode.
	// Errors: [event.ErrNotFound], those of Check, ErrRefused, ErrStopped, ErrUnconfirmed,
	// *wire.Error.
	SetMode(ctx context.Context, id event.SubID, m event.Mode) error
	// SetFailover turns failover on or off: whether a subscription goes on in another mode
	// (webhook, push, poll, as far as the type offers them) when its own keeps failing, and
	// comes back later. The present mode becomes the preferred one.
	SetFailover(ctx context.Context, id event.SubID, on bool) error
	// SetEnd sets when a subscription ends here and on its server; the zero time: never. The
	// records stay. Errors: [event.ErrNotFound], ErrStopped for one that is over.
	SetEnd(ctx context.Context, id event.SubID, at time.Time) error
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
	// EndRemote ends a subscription of [Reader.Remote] on the server.
	// Errors: ErrUnknownServer, [event.ErrNotFound], [ErrInUse], those of the server.
	EndRemote(ctx context.Context, server string, id trust.Text) error
}

// Settings keep what frontends remember.
type Settings interface {
	// Setting and SetSetting keep what frontends remember, under keys that begin with
	// [SettingPrefix].
	// Errors: [ErrSetting], [event.ErrNotFound], those of the store.
	Setting(key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
	// Marks returns the operator's marks in order of their records. The list must not be
	// changed. SetMark stores a mark and replaces one of its kind at the same record; a zero
	// At means now. RemoveMark removes a mark if it exists.
	Marks() []event.Mark
	SetMark(ctx context.Context, m event.Mark) error
	RemoveMark(ctx context.Context, seq uint64, line bool) error
	// Printed stores the sequence number up to which tail has written a subscription's
	// records; it never moves back. When ctx ends first, it may still be stored. Error:
	// [event.ErrNotFound].
	Printed(ctx context.Context, id event.SubID, seq uint64) error
}
