package host

import (
	"context"
	"errors"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/session"
	"eventdeck/host/wire"
)

var _ delivery.Source = (*server)(nil)

// Ready implements [delivery.Source].
func (s *server) Ready(ctx context.Context) error {
	_, err := s.session(ctx)
	return err
}

// Poll implements [delivery.Source].
func (s *server) Poll(ctx context.Context, r wire.PollRequest) (res wire.PollResult, err error) {
	err = s.ask(ctx, func(d dialect.Dialect) (err error) {
		res, err = d.Poll(ctx, r)
		return err
	})
	return res, err
}

// Stream implements [delivery.Source].
func (s *server) Stream(ctx context.Context, r wire.StreamRequest, sink func(wire.Note)) (stream delivery.Stream, err error) {
	err = s.ask(ctx, func(d dialect.Dialect) (err error) {
		stream, err = d.Stream(ctx, r, sink)
		return err
	})
	return stream, err
}

// Subscribe implements [delivery.Source].
func (s *server) Subscribe(ctx context.Context, r wire.SubscribeRequest) (res wire.SubscribeResult, err error) {
	err = s.ask(ctx, func(d dialect.Dialect) (err error) {
		res, err = d.Subscribe(ctx, r)
		return err
	})
	return res, err
}

// Unsubscribe implements [delivery.Source].
func (s *server) Unsubscribe(ctx context.Context, r wire.UnsubscribeRequest) error {
	return s.ask(ctx, func(d dialect.Dialect) error { return d.Unsubscribe(ctx, r) })
}

// Pause implements [delivery.Source].
func (s *server) Pause(ctx context.Context, r wire.UnsubscribeRequest) error {
	return s.ask(ctx, func(d dialect.Dialect) error { return d.Pause(ctx, r) })
}

// ask makes a request on the connection. If the server had forgotten the session, and so did not
// handle the request, ask makes it once more on the next connection.
func (s *server) ask(ctx context.Context, request func(dialect.Dialect) error) error {
	d, left, err := s.connection(ctx)
	if err != nil {
		return err
	}
	err = request(d)
	if errors.Is(err, session.ErrForgotten) {
		select {
		case <-left:
		case <-ctx.Done():
			return err
		}
		if d, _, err = s.connection(ctx); err != nil {
			return err
		}
		err = request(d)
	}
	return err
}
