package host

import (
	"context"

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
	// Check reports whether the request could be made, without sending it: the
	// type, the mode, the arguments. It returns the mode that would be used.
	// Errors: those of Types, ErrUnknownType, ErrMode, ErrArguments.
	Check(ctx context.Context, r Request) (event.Mode, error)
	// Preview tells what Subscribe would send, as far as it is known now; it does
	// not wait for the server.
	// Errors: ErrUnknownServer, ErrUnknownType, ErrMode, ErrArguments,
	// [dialect.ErrNoPreview].
	Preview(r Request) (Preview, error)
	// Remote returns what the server holds for this host as far as can be known:
	// what it lists, where its dialect can list; else the leases that it granted,
	// and those that ended here without its confirmation.
	// Errors: ErrUnknownServer, those of the server.
	Remote(ctx context.Context, server string) ([]RemoteSubscription, error)
}

// Actor does what the operator asks for, and notes it in the audit log.
type Actor interface {
	// AddServer makes a server known and begins to connect to it. Adding a name
	// again replaces its address. What the operator adds while the host runs
	// ([event.Server.ByHand]) stands in the audit log.
	AddServer(s event.Server)
	// Reconnect connects to a server again and lists its types again. It does not
	// wait. Errors: ErrUnknownServer, the fault of the server's description.
	Reconnect(server string) error
	// RemoveServer ends a server's subscriptions as Unsubscribe does, and forgets
	// the server. Error: ErrUnknownServer.
	RemoveServer(ctx context.Context, name string) error
	// TestServer connects to a server that was not added, lists its types and
	// disconnects. Nothing is kept. What was found out is returned with an error too.
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
	// EndRemote ends one of these on the server.
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
	// Marks returns the operator's marks in order of their records. The list must
	// not be changed. SetMark keeps one in place of that of its kind at the same
	// record; a zero At means now. RemoveMark removes one, if it is there.
	Marks() []event.Mark
	SetMark(ctx context.Context, m event.Mark) error
	RemoveMark(ctx context.Context, seq uint64, line bool) error
	// Printed keeps how far tail has written a subscription's records; never less
	// far. When ctx ends first it may still be kept. Error: [event.ErrNotFound].
	Printed(ctx context.Context, id event.SubID, seq uint64) error
}
