package session

import (
	"context"
	"encoding/json"
	"fmt"

	"eventdeck/host/wire"
)

// HoldResumed is [Session.Hold] for a request that resumes an earlier one, whose id is of:
// its notifications and its response come to the new stream. The request's own response
// does not end the stream, unless it is an error; the sink gets it as [wire.NoteAnswered].
//
// Errors: [ErrNotResumed] where that response is one; otherwise as [Stream.Result].
func (s *Session) HoldResumed(ctx context.Context, method string, params any, of wire.ID, sink func(wire.Note), opened func(*Stream)) (json.RawMessage, error) {
	x, err := s.prepare(ctx, method, params, sink)
	if err != nil {
		return nil, err
	}
	x.of, x.resuming = of, true
	if err := s.hold(x, opened); err != nil {
		return nil, err
	}
	s.carryOut(x)
	s.running.Done()
	return x.result, x.err
}

// Finish ends the stream when everything received is delivered. It is for servers that say
// elsewhere on the connection that the stream is complete. On a stream with a response of
// its own it is [Stream.Close].
func (s *Stream) Finish() {
	if !s.x.shared.Load() {
		s.Close()
		return
	}
	s.x.overOnce.Do(func() { close(s.x.over) })
}

// answeredBy reports whether a response with the id is for this exchange.
func (x *exchange) answeredBy(id wire.ID) bool {
	return id == x.id || x.resuming && x.of != "" && id == x.of
}

// refusal returns the error of a response for this exchange.
func (x *exchange) refusal(m wire.Message) error {
	if x.resuming && (!m.HasID || m.ID == x.id) {
		return fmt.Errorf("%w: %w", ErrNotResumed, m.Error)
	}
	return m.Error
}

// ownAnswer handles the response to a resuming request itself, and reports whether m is
// one.
func (x *exchange) ownAnswer(m wire.Message) bool {
	if !x.resuming || m.HasID && m.ID != x.id || m.Result == nil {
		return false
	}
	x.early = m.Result
	x.deliver(wire.Note{Method: wire.NoteAnswered, Params: m.Result})
	return true
}
