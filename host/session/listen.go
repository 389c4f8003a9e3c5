package session

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"eventdeck/host/internal/pause"
	"eventdeck/host/wire"
)

// steady is how long a listening stream must live to count as a success.
const steady = 10 * time.Second

// listen opens the way on which a server speaks unasked, and keeps it open:
// subscriptions/listen where the server is stateless and reports changes, the
// general stream of handshake HTTP. A process needs none.
func (s *Session) listen() {
	var open opener
	modern, overHTTP := s.info.Era == EraStateless, s.info.Transport == TransportHTTP
	switch {
	case s.opts.OnNote == nil:
		return
	case modern && s.info.Advertised && s.info.ListChanged:
		open = s.openListen
	case !modern && overHTTP:
		open = s.openGeneral
	case modern && overHTTP:
		s.setDeaf(errors.New("it is stateless, and answers only what it is asked"))
		return
	default:
		return
	}
	if err := s.spawn(func() { s.keepListening(open) }); err != nil {
		s.opts.Log.Debug("not listening: the session is over", "error", err)
	}
}

// ErrDeaf: nothing can be heard of what the server says unasked. The text says why.
var ErrDeaf = errors.New("the server has no way to say anything unasked")

// Deaf tells why nothing is heard of what the server says unasked: it refuses the
// stream for it, or has none. It is nil unless the server is known not to be heard.
//
// Error: [ErrDeaf].
func (s *Session) Deaf() error {
	if why := s.deaf.Load(); why != nil {
		return *why
	}
	return nil
}

func (s *Session) setDeaf(cause error) {
	// The cause is text only: it is not what became of a request of the caller's.
	err := fmt.Errorf("%w: %v", ErrDeaf, cause)
	s.deaf.Store(&err)
}

// opener opens the way on which the server speaks unasked, behind the event
// with the last id if it has one. taken is called when the server has agreed.
type opener func(taken func(), lastID string) (*exchange, error)

func (s *Session) openListen(taken func(), _ string) (*exchange, error) {
	type wanted struct {
		EventsListChanged bool `json:"eventsListChanged"`
	}
	sink := func(n wire.Note) {
		if n.Method != wire.NoteAcknowledged {
			s.unasked(n)
		}
	}
	x, err := s.prepare(s.ctx, wire.MethodListen, map[string]wanted{"notifications": {true}}, sink)
	if err != nil {
		return nil, err
	}
	x.taken = taken
	return x, s.run(x)
}

func (s *Session) openGeneral(taken func(), lastID string) (*exchange, error) {
	sink := func(n wire.Note) {
		if n.Method == wire.NoteSkipped {
			s.opts.missed()
		} else {
			s.unasked(n)
		}
	}
	x := s.newExchange(s.ctx, *s.era.Load(), "", sink)
	x.taken, x.lastID = taken, lastID
	s.general.Store(x)
	return x, s.run(x)
}

// keepListening opens again whenever the stream ends, until the session is over
// or the server says that it has no such thing.
func (s *Session) keepListening(open opener) {
	backoff := s.opts.Reopen
	taken, lastID := func() {}, ""
	for {
		begun := s.opts.Now()
		agreed := false
		x, err := open(func() {
			agreed = true
			s.deaf.Store(nil)
			taken()
		}, lastID)
		if err != nil {
			return
		}
		<-x.done
		s.noteSilence(x)
		if s.ctx.Err() != nil {
			return
		}
		if !agreed || errors.Is(x.err, ErrAnswer) {
			s.setDeaf(x.err)
		}
		lost := lastID != "" && neverListens(x.err) // it does not know that event
		lastID = x.lastID
		if lost {
			lastID = ""
		}
		taken = func() { s.suspectChange(lastID == "") }
		if neverListens(x.err) && !lost {
			s.opts.Log.Debug("server sends nothing unasked", "method", x.method, "error", x.err)
			return
		}
		if s.opts.Now().Sub(begun) >= steady {
			backoff.Reset()
		}
		if pause.For(s.ctx, max(backoff.Next(x.err), min(x.retry, maxRetry))) != nil {
			return
		}
	}
}

// suspectChange reports that the types may have changed during an interruption. missed tells
// that the server was not asked to repeat what it said meanwhile, so that anything else may
// have been missed too.
func (s *Session) suspectChange(missed bool) {
	if missed {
		s.opts.missed()
	}
	if s.info.ListChanged {
		s.unasked(wire.Note{Method: wire.NoteListChanged})
	}
}

// neverListens reports whether a server refused for good to be listened to.
func neverListens(err error) bool {
	switch wire.NameFrom(err) {
	case wire.MethodNotFound, wire.InvalidParams, wire.InvalidRequest, wire.Unsupported, wire.Forbidden:
		return true
	}
	var refused *HTTPError
	if errors.As(err, &refused) {
		return refused.Status/100 == 4 && refused.Status != http.StatusTooManyRequests && refused.Status != http.StatusRequestTimeout
	}
	return false
}
