// Package dialect knows how servers say "events". There is one interface; each
// way of saying it is one file. Nothing above this package knows which dialect a
// server speaks.
package dialect

import (
	"context"
	"errors"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// ErrNoEvents: the server does not know the methods of any dialect.
var ErrNoEvents = errors.New("the server does not know events/list")

// Dialect is one server's way of offering events, on one connection. Its methods
// may be called from any goroutine.
//
// Errors of all methods: those of package session, *wire.Error, and
// [wire.ErrDenied] where the transport refused.
type Dialect interface {
	// List returns all event types, and how many descriptors made no sense.
	// Error: [ErrNoEvents].
	List(ctx context.Context) (types []event.Type, bad int, err error)
	Poll(ctx context.Context, r wire.PollRequest) (wire.PollResult, error)
	// Stream opens a push stream; see [session.Session.Open] for sink.
	Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (*Stream, error)
	Subscribe(ctx context.Context, r wire.SubscribeRequest) (wire.SubscribeResult, error)
	Unsubscribe(ctx context.Context, r wire.UnsubscribeRequest) error
}

// For returns the dialect of a connected server.
func For(s *session.Session) Dialect { return events{s} }

// Stream is an open push stream.
type Stream struct{ s *session.Stream }

// Close cancels the stream alone.
func (s *Stream) Close() { s.s.Close() }

// Done is closed when the stream has ended.
func (s *Stream) Done() <-chan struct{} { return s.s.Done() }

// Err tells why the stream ended; nil for an ordinary end. Valid after Done.
func (s *Stream) Err() error {
	_, err := s.s.Result()
	return named(err)
}

// LastByte is when anything was last received, comments included.
func (s *Stream) LastByte() time.Time { return s.s.LastByte() }

// named gives a refusal by the transport its name.
func named(err error) error {
	if session.Denied(err) && wire.NameFrom(err) == "" {
		return errors.Join(wire.ErrDenied, err)
	}
	return err
}
