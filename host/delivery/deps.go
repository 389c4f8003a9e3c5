package delivery

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
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
	// Pause asks the server to stop delivering a subscription that it keeps, and to keep it.
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

// Store is what a [Runner] needs of the store; see [event.Store].
type Store interface {
	Submit(ctx context.Context, b event.Batch) error
	Subscription(id event.SubID) (event.Subscription, error)
	HasEvent(sub event.SubID, id trust.Text) bool
}

// Deps are what a [Runner] works with. Every member but Altered, Random, ReasonOf,
// Pace, Relist, Modes, Orphaned, Locked, Callback, TTL, RotateEvery, Limits, Read, ServerSecret, Ends,
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
	// Altered is called with the number of events that came by poll or push with the id of
	// a stored event and other data, and were dropped; once a minute at most. It must not
	// block. nil: they are not reported.
	Altered func(n int)
	// ReasonOf returns the word for why an attempt failed; nil: none. The error is nil
	// where a stream ended in order.
	ReasonOf func(err error) event.Reason
	// Relist lists the server's types again. It returns ErrGone if the type is
	// gone or does not take the subscription's arguments and mode any more;
	// after any other error the subscription is tried again.
	Relist func(ctx context.Context, k event.Key, m event.Mode) error
	// Modes returns the modes that the type offers and the host supports. A failover
	// chooses among them; if poll is among them, continuity is proved by it. An empty
	// result: they are not known now. nil: there are none, and poll is not tried.
	Modes func(k event.Key) []event.Mode
	// Pace waits until the server may be asked for another page of a catch-up poll; done
	// must be called after the request. nil: at once. Error: the cause of ctx.
	Pace func(ctx context.Context) (done func(), err error)
	// Orphaned is called with a subscription, or an address of it, that ended here and whose
	// end the server did not confirm. nil: it is forgotten.
	Orphaned func(ctx context.Context, sub event.Subscription)
	// Locked returns why secrets cannot be read and stored now, nil if they can, and a channel
	// that is closed once they can. nil: they always can.
	Locked func() (until <-chan struct{}, why error)
	// Callback returns the complete address for a hook's path.
	Callback func(path string) (string, error)
	// TTL is the lifetime that is asked of a webhook lease; 0: the server decides.
	TTL time.Duration
	// RotateEvery is the age at which a webhook secret is replaced; 0: never.
	RotateEvery time.Duration
	// Read reads the body of a webhook delivery with this id (may be empty), received at
	// this time. nil: bodies are occurrences of MCP Events.
	Read func(body []byte, id trust.Text, at time.Time) (wire.Occurrence, error)
	// ServerSecret: the server makes the webhook secret, not this host.
	ServerSecret bool
	// Ends is when the subscription ends as planned; zero: never. See [Runner.SetEnd].
	Ends time.Time
	// Release then ends it on its server; nil: nothing is left there.
	Release func(ctx context.Context, id event.SubID)
	// Lasting: the server keeps a push subscription when its stream ends.
	Lasting bool
	// Failpoint is called at named points; tests end the process there.
	Failpoint func(name string)
	Log       *slog.Logger
}

// ErrGone: the server no longer offers what the subscription asks for.
var ErrGone = errors.New("no longer offered")

// Backoff says how long to wait after a failure. [Runner] uses one from one goroutine.
type Backoff interface {
	Next(err error) time.Duration // the pause after this failure, longer with each
	Reset()                       // the next failure is the first of a series
}

// The named points of [Deps.Failpoint].
const (
	// FailCommitted: a commit with records has returned, nothing was acknowledged.
	FailCommitted = "committed"
	// FailSubscribed: the server has granted a subscription, and that is not stored yet.
	FailSubscribed = "subscribed"

	// The steps of a proof of continuity, in their order.

	// FailAsked: an opening is about to be asked for; the last proved position is stored.
	FailAsked = "opening asked for"
	// FailConfirmed: the server has confirmed an opening, and that is not stored yet.
	FailConfirmed = "opening confirmed"
	// FailFirst: the first new event after an opening is stored, nothing is proved.
	FailFirst = "first event of an opening"
	// FailCaughtUp: a page of a catch-up poll is stored, nothing is proved.
	FailCaughtUp = "catch-up page"
	// FailProved: the commit that proves an opening, or records its gap, has returned.
	FailProved = "opening proved"
)
