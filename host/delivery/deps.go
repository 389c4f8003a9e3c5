package delivery

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/host/wire"
)

// Source is one server's way of delivering events, over whatever connection it
// has at the moment. Every call waits for a connection as long as its context.
type Source interface {
	// Ready waits until the server is connected.
	Ready(ctx context.Context) error
	Poll(ctx context.Context, r wire.PollRequest) (wire.PollResult, error)
	// Stream opens a stream. sink is called on the stream's own goroutine, one
	// note after another, never after Done; it may block, which slows the sender.
	Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (Stream, error)
	Subscribe(ctx context.Context, r wire.SubscribeRequest) (wire.SubscribeResult, error)
	Unsubscribe(ctx context.Context, r wire.UnsubscribeRequest) error
	// Pause asks the server to hold a subscription back that it keeps for us.
	Pause(ctx context.Context, r wire.UnsubscribeRequest) error
}

// Stream is an open push stream.
type Stream interface {
	// Close cancels the stream alone; Done follows.
	Close()
	Done() <-chan struct{}
	// Err tells why the stream ended; nil for an ordinary end. Valid after Done.
	Err() error
	// LastByte is when anything was last received on the stream, comments included.
	LastByte() time.Time
}

// Store is what a subscription's life needs of the store.
type Store interface {
	Submit(ctx context.Context, b event.Batch) error
	Subscription(id event.SubID) (event.Subscription, error)
	HasEvent(sub event.SubID, id trust.Text) bool
}

// Deps are what a [Runner] works with. Every member but Altered, Random, ReasonOf,
// Pace, Relist, Modes, Left, Callback, TTL, RotateEvery, Limits, Read, ServerSecret, Ends,
// Lasting, Failpoint and Log must be set.
type Deps struct {
	Source Source
	Store  Store
	Now    func() time.Time
	Jitter func() float64 // a random number from 0 to 1, spreads refreshes
	Timing Timing
	Random io.Reader // source of webhook paths and secrets; nil: the system's

	// Backoff returns the pauses between attempts of one runner.
	Backoff func() Backoff

	// Changed is called when the status changed. It must not block.
	Changed func()
	// Altered is told how many events came by poll or push with an id that is stored
	// and other data, which are dropped; once a minute at most. It must not block.
	// nil: it is not told.
	Altered func(n int)
	// ReasonOf returns the word for why an attempt failed; nil: none. The error is nil
	// where a stream ended in order.
	ReasonOf func(err error) event.Reason
	// Relist lists the server's types again. It returns ErrGone if the type is
	// gone or does not take the subscription's arguments and mode any more;
	// after any other error the subscription is tried again.
	Relist func(ctx context.Context, k event.Key, m event.Mode) error
	// Modes returns the modes that the type offers and the host can do; a failover
	// chooses among them, and where poll is one of them, continuity is proved by it.
	// None: they are not known now. nil: none are, and poll is not tried.
	Modes func(k event.Key) []event.Mode
	// Pace waits until the server may be asked for one page more of a catch-up poll;
	// done must be called after it. nil: at once. Error: the cause of ctx.
	Pace func(ctx context.Context) (done func(), err error)
	// Left is told of what stays on the server though it ended here: the server did
	// not take leave of it. nil: it is not remembered.
	Left func(ctx context.Context, sub event.Subscription)
	// Callback returns the complete address for a hook's path.
	Callback func(path string) (string, error)
	// TTL is the lifetime that is asked of a webhook lease; 0: the server decides.
	TTL time.Duration
	// RotateEvery is how old a webhook secret may get; 0: as old as it likes.
	RotateEvery time.Duration
	// Read reads a webhook delivery; nil: as an occurrence of MCP Events. id is the
	// delivery's id, which may be empty, at the time of receipt.
	Read func(body []byte, id trust.Text, at time.Time) (wire.Occurrence, error)
	// ServerSecret: the server makes the webhook secret, this host none.
	ServerSecret bool
	// Ends is when the subscription ends as planned; zero: never.
	Ends time.Time
	// Lasting: a push subscription stays on the server when its stream ends.
	Lasting bool
	// Limits bound one event that did not come by webhook; zero: the defaults.
	Limits strict.Limits
	// Failpoint is called at named points; tests end the process there.
	Failpoint func(name string)
	Log       *slog.Logger
}

// ErrGone: the server does not offer any more what the subscription asks for.
var ErrGone = errors.New("no longer offered")

// Backoff says how long to wait after a failure, longer after each.
type Backoff interface {
	Next(err error) time.Duration
	Reset()
}

// The named points of [Deps.Failpoint].
const (
	// FailCommitted: a commit with events has returned, nothing was acknowledged.
	FailCommitted = "committed"
	// FailSubscribed: the server has granted a subscription, nothing was stored yet.
	FailSubscribed = "subscribed"

	// The steps of a proof of continuity, in their order.

	// FailAsked: an opening is about to be asked for; the last proved position is kept.
	FailAsked = "opening asked for"
	// FailConfirmed: the server has confirmed an opening, nothing was stored of that.
	FailConfirmed = "opening confirmed"
	// FailFirst: the first event behind an opening is stored, nothing is proved.
	FailFirst = "first event of an opening"
	// FailCaughtUp: a page of a catch-up poll is stored, nothing is proved.
	FailCaughtUp = "catch-up page"
	// FailProved: the commit that proves an opening, or records its gap, has returned.
	FailProved = "opening proved"
)
