// Package dialect translates the ways in which servers offer events. Its one interface has
// the terms of MCP Events; each other dialect is translated to it in files of its own.
// Nothing above this package branches on the dialect of a server.
//
// # How to add a dialect
//
// A dialect is one protocol by which servers offer events. host/dialect has one interface,
// Dialect, in the terms of MCP Events; each other dialect translates to and from them, so that
// no code above the package branches on the dialect. To add one:
//
//  1. Write host/dialect/NAME.go with a function that returns its Kind: its name; Speaks,
//     which looks at the server's capabilities; On, which returns the Dialect on a session.
//     Add the function to kinds.
//  2. List returns event.Types with the dialect's name and, if there is no cursor,
//     Cursorless. Owns recognizes the dialect's types by name alone: after a restart a
//     subscription runs before the types are listed. If two dialects of a server have the same
//     name, it is hidden in the one that does not own it, and counted as bad.
//  3. Stream passes wire.Notes to its sink: active once the server accepts, event with
//     Note.Event (parsed strictly, with the exact bytes) or Note.Refused, terminated at the
//     end. Events sent as notifications on the connection arrive through Note; noteStream is a
//     stream for them, whose heartbeat is the server's answer to a ping. After an
//     interruption, Note passes on interrupt.
//  4. In Kind.Check, before anything is sent, refuse what the schema cannot: templates, cron
//     expressions. Kind.Firings returns the times at which a schedule delivers.
//  5. For webhooks in its own format: Kind.Read, and ServerSecret if the server makes the
//     secret. For push subscriptions that outlive the connection: Lasting, and Note.ServerID
//     with active. List orphans as a Lister, show requests as a Previewer.
//  6. Add tests beside it (peer_test.go is a scriptable server), a case in
//     ui/e2e/dialect_test.go with its guarantee (replayed, or gap recorded), and rows in
//     protocols.md.
//
// If a dialect has no cursor, the subscription says so (Subscription.NoReplay) and the package
// delivery records a gap (no-replay) for each period in which the host did not listen. A
// resumable stream (resumable) is resumed before the host falls back to the cursor. After a
// crash the host uses only the cursor, if there is one: the server may count events as sent
// that this host never stored.
package dialect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/redact"
	"eventdeck/host/session"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Errors of the package.
var (
	// ErrNoEvents: the server does not know the methods of any dialect.
	ErrNoEvents = errors.New("the server does not know events/list")
	// ErrUnadvertised: the server does not advertise events, and was not asked for them. It
	// is an [ErrNoEvents] too.
	ErrUnadvertised error = unadvertised{}
	// ErrPartial: the list is incomplete; the types that were read are returned with it.
	ErrPartial = errors.New("the list of event types was cut short")
	// ErrDialect: one of the server's dialects could not list its types. It is joined to an
	// [ErrPartial], with the reason.
	ErrDialect = errors.New("one of the ways in which the server offers events failed")
	// ErrDraft: the server speaks the draft of April 2026 of MCP Events. It is a
	// [wire.ErrUnacceptable]: a retry changes nothing.
	ErrDraft = fmt.Errorf(`%w: the server speaks the draft of April 2026 of MCP Events (its capability is extensions.events), `+
		`which is not supported; it needs a version with "io.modelcontextprotocol/events"`, wire.ErrUnacceptable)
	// ErrArguments: the type's dialect cannot express the arguments; the text says which,
	// and why.
	ErrArguments = errors.New("cannot be asked of this server")
)

type unadvertised struct{}

func (unadvertised) Error() string        { return "the server does not say that it has events" }
func (unadvertised) Is(target error) bool { return target == ErrNoEvents }

// Dialect is one way of offering events, on one connection. Its methods may be
// called from any goroutine.
//
// Errors of all methods: those of package session, *wire.Error,
// [wire.ErrDenied] where the transport refused, [wire.ErrUnacceptable].
type Dialect interface {
	// Name is the name under which types and subscriptions store the dialect, and which is
	// shown.
	Name() string
	// Owns reports whether a type of this name belongs to this dialect. It looks at the name
	// only: the types need not have been listed.
	Owns(name trust.Text) bool
	// List returns all event types, and a report of the skipped ones. Errors: [ErrNoEvents],
	// [ErrPartial], [ErrDraft].
	List(ctx context.Context) (types []event.Type, skipped SkippedTypes, err error)
	// Poll asks for events. Dialects without polling answer [wire.ErrUnacceptable].
	Poll(ctx context.Context, r wire.PollRequest) (wire.PollResult, error)
	// Stream opens a push stream and passes its notes, in the terms of MCP Events, to sink:
	// one at a time, never after Done. The sink may block, which slows the sender.
	Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (Stream, error)
	// Subscribe asks for webhook deliveries, or refreshes what r.Held names.
	Subscribe(ctx context.Context, r wire.SubscribeRequest) (wire.SubscribeResult, error)
	// Unsubscribe ends what the server holds: a webhook subscription, or a push
	// subscription that outlives its connection.
	Unsubscribe(ctx context.Context, r wire.UnsubscribeRequest) error
	// Pause asks the server to pause a push subscription that it keeps. If the server
	// cannot, Pause does nothing: events that still come are dropped.
	Pause(ctx context.Context, r wire.UnsubscribeRequest) error
	// Note handles a notification that belongs to no stream, and reports whether the types
	// may have changed. It may block, which slows the sender.
	Note(n wire.Note) (relist bool)
}

// Previewer is a [Dialect] that can show a request before sending it.
type Previewer interface {
	// Preview returns the request that would be sent for a [wire.PollRequest], a
	// [wire.StreamRequest] or a [wire.SubscribeRequest].
	Preview(request any) (method string, params json.RawMessage, err error)
}

// pushOnly is the name of a dialect that delivers over the connection only and whose
// subscriptions end with their streams. Its methods are those of such a [Dialect].
type pushOnly string

func (d pushOnly) Name() string { return string(d) }

// Poll: there is no history to ask for.
func (d pushOnly) Poll(context.Context, wire.PollRequest) (wire.PollResult, error) {
	return wire.PollResult{}, fmt.Errorf("%w: polling is no part of %s", wire.ErrUnacceptable, string(d))
}

func (d pushOnly) Subscribe(context.Context, wire.SubscribeRequest) (wire.SubscribeResult, error) {
	return wire.SubscribeResult{}, fmt.Errorf("%w: webhooks are no part of %s", wire.ErrUnacceptable, string(d))
}

func (d pushOnly) Unsubscribe(context.Context, wire.UnsubscribeRequest) error { return nil }

func (d pushOnly) Pause(context.Context, wire.UnsubscribeRequest) error { return nil }

// Stream is an open push stream.
type Stream interface {
	// Close cancels the stream alone; Done follows.
	Close()
	// Done is closed when the stream has ended.
	Done() <-chan struct{}
	// Err returns why the stream ended; nil for an ordinary end. Valid after Done.
	Err() error
	// LastByte is when the last byte was received, comments included.
	LastByte() time.Time
}

// Options tune the dialects of a connection. The zero value works.
type Options struct {
	// Pulse is the interval between pings of a server without heartbeats, while a
	// subscription is open; 0: 15 s.
	Pulse time.Duration
	// Lease is how long a subscription stays on a server of MCPE that this host does not renew;
	// one that is delivered on a schedule stays much longer. 0: 1 h.
	Lease time.Duration
	// AllowUnsigned accepts webhook subscriptions whose deliveries are not signed.
	AllowUnsigned bool
	// Asked reports whether the operator wants events/list tried on a server that does not
	// advertise events; nil: always.
	Asked func() bool

	Redact *redact.Set      // masks what the server says; nil: by shapes of secrets only
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil: nothing is logged

	types, typePages, typeBytes int // bounds of the list of event types
}

func (o Options) withDefaults() Options {
	if o.Pulse <= 0 {
		o.Pulse = 15 * time.Second
	}
	if o.Lease <= 0 {
		o.Lease = realtimeLease
	}
	o.types, o.typePages, o.typeBytes = cmp.Or(o.types, maxTypes), cmp.Or(o.typePages, maxPages), cmp.Or(o.typeBytes, maxTypeBytes)
	if o.Asked == nil {
		o.Asked = func() bool { return true }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Kind is a dialect without a connection. Members that a dialect does not need are nil.
type Kind struct {
	Name string
	// Speaks reports whether a server advertises the dialect.
	Speaks func(session.Info) bool
	// On returns the dialect on a connection.
	On func(*session.Session, Options) Dialect

	// Check refuses arguments that the dialect cannot express, before anything is sent.
	// Error: [ErrArguments].
	Check func(t event.Type, args json.RawMessage, now time.Time) error
	// Firings returns the times of the next deliveries of a scheduled subscription, at most
	// n; nil for one that delivers at once.
	Firings func(args json.RawMessage, now time.Time, n int) []time.Time
	// Ends returns the end that the arguments of a subscription set; zero: none.
	Ends func(args json.RawMessage) time.Time
	// Read reads a webhook delivery.
	Read func(body []byte, id trust.Text, at time.Time) (wire.Occurrence, error)
	// ServerSecret says that the server makes the webhook secret.
	ServerSecret bool
	// Lasting says that a push subscription stays on the server when its stream ends.
	Lasting bool
}

// kinds returns all dialects, MCP Events first: it owns the names that no other does.
func kinds() []Kind { return []Kind{mcpEvents(), sep1803(), mcpe(), resourceUpdates()} }

// KindOf returns the kind of the stored name; MCP Events for an unknown one.
func KindOf(name string) Kind {
	all := kinds()
	for _, k := range all {
		if k.Name == name {
			return k
		}
	}
	return all[0]
}

// For returns all dialects of a connected server as one, masked by [Options.Redact]. MCP
// Events is always among them: not every server that has it advertises it.
func For(s *session.Session, o Options) Dialect {
	o = o.withDefaults()
	m := &merged{log: o.Log, asked: o.Asked}
	for i, k := range kinds() {
		if i == 0 || k.Speaks(s.Info()) {
			m.all = append(m.all, k.On(s, o))
		}
	}
	m.advertised, m.draft = mcpEvents().Speaks(s.Info()), s.Info().Draft
	return redacted{m, o.Redact}
}

// Advertises reports whether a server advertises events, in any dialect. For a dialect of
// tools only tools/list can tell.
func Advertises(i session.Info) bool {
	return i.Advertised || i.Draft || saysMCPE(i) || sep1803().Speaks(i) || resourceUpdates().Speaks(i)
}

// unknownMethod reports whether the server does not know the requested method: it says so,
// or refuses over HTTP without JSON-RPC, as routers do.
func unknownMethod(err error) bool {
	var refused *session.HTTPError
	if errors.As(err, &refused) && refused.Err == nil && !errors.Is(err, session.ErrLost) {
		switch refused.Status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
			return true
		}
	}
	return wire.NameFrom(err) == wire.MethodNotFound
}

// named marks a refusal by the transport as [wire.ErrDenied], unless the server gave it another
// name of MCP Events.
func named(err error) error {
	if session.Denied(err) {
		switch wire.NameFrom(err) {
		case "", wire.UnknownError, wire.InternalError, wire.InvalidRequest:
			return fmt.Errorf("%w: %w", wire.ErrDenied, err)
		}
	}
	return err
}
