package session

import (
	"context"
	"encoding/json"

	"eventdeck/host/wire"
)

// HoldResumed makes a request that goes on with an earlier one, by the id that it
// had: notifications and the answer of that one come to the new stream. Its own
// answer does not end it, unless it is an error; the sink gets it as a note of
// [wire.NoteAnswered]. For the rest it is [Session.Hold].
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

// Finish ends the stream when all that has come is handed on. It is for a server
// that says, elsewhere on the connection, that the stream is complete. On a stream
// with a response of its own it is [Stream.Close].
func (s *Stream) Finish() {
	if !s.x.shared.Load() {
		s.Close()
		return
	}
	s.x.overOnce.Do(func() { close(s.x.over) })
}

// answeredBy reports whether an answer with the id is for this exchange.
func (x *exchange) answeredBy(id wire.ID) bool {
	return id == x.id || x.resuming && x.of != "" && id == x.of
}

// ownAnswer takes the answer to a resuming request, as far as it is not that of
// the request which it resumes.
func (x *exchange) ownAnswer(m wire.Message) bool {
	if !x.resuming || m.HasID && m.ID != x.id || m.Result == nil {
		return false
	}
	x.early = m.Result
	x.deliver(wire.Note{Method: wire.NoteAnswered, Params: m.Result})
	return true
}
