package session

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"eventdeck/host/internal/pause"
	"eventdeck/host/wire"
)

// steady is how long a listening stream must last to count as a success.
const steady = 10 * time.Second

// listen opens the stream of unsolicited notifications, and keeps it open:
// subscriptions/listen where the server is stateless and reports changes, else the general
// stream of handshake HTTP. A process needs none.
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
		s.setListenErr(fmt.Errorf("%w: it is stateless, and only answers requests", ErrNotListening))
		return
	default:
		return
	}
	if err := s.spawn(func() { s.keepListening(open) }); err != nil {
		s.opts.Log.Debug("not listening: the session is over", "error", err)
	}
}

// ErrNotListening: unsolicited notifications of the server cannot be received. The text says why.
var ErrNotListening = errors.New("the server has no way to send notifications of its own")

// ListenErr returns why unsolicited notifications cannot be received: the server refuses the
// stream for them, or has none, or cannot be reached. It returns nil unless that is known.
//
// Errors: [ErrNotListening], [ErrUnreachable], [*HTTPError].
func (s *Session) ListenErr() error {
	if why := s.notListening.Load(); why != nil {
		return *why
	}
	return nil
}

func (s *Session) setListenErr(err error) {
	if neverListens(err) || errors.Is(err, ErrAnswer) {
		// The cause is not wrapped: it does not concern a request of the caller.
		err = fmt.Errorf("%w: %v", ErrNotListening, err)
	}
	s.notListening.Store(&err)
}

// opener opens the stream of unsolicited notifications, after the event lastID if it is
// set. taken is called when the server has accepted the request.
type opener func(taken func(), lastID string) (*exchange, error)

func (s *Session) openListen(taken func(), _ string) (*exchange, error) {
	type wanted struct {
		EventsListChanged bool `json:"eventsListChanged"`
	}
	sink := func(n wire.Note) {
		if n.Method != wire.NoteAcknowledged {
			s.unsolicited(n)
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
			s.unsolicited(n)
		}
	}
	x := s.newExchange(s.ctx, *s.era.Load(), "", sink)
	x.taken, x.lastID = taken, lastID
	s.general.Store(x)
	return x, s.run(x)
}

// keepListening reopens the stream whenever it ends, until the session is over or the
// server refuses for good.
func (s *Session) keepListening(open opener) {
	backoff := s.opts.Reopen
	taken, lastID, accepted := func() {}, "", false
	for {
		begun := s.opts.Now()
		agreed := false
		x, err := open(func() {
			agreed = true
			s.notListening.Store(nil)
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
		if accepted && s.forgotten(x) {
			s.end(fmt.Errorf("%w (%w)", ErrForgotten, x.err))
			return
		}
		accepted = accepted || agreed
		if !agreed || errors.Is(x.err, ErrAnswer) {
			s.setListenErr(x.err)
		}
		lost := lastID != "" && neverListens(x.err) // it does not know lastID
		lastID = x.lastID
		if lost {
			lastID = ""
		}
		taken = func() { s.suspectChange(lastID == "") }
		if neverListens(x.err) && !lost {
			s.opts.Log.Debug("server sends no unsolicited notifications", "method", x.method, "error", x.err)
			return
		}
		if s.opts.Now().Sub(begun) >= steady {
			backoff.Reset()
		}
		if pause.For(s.ctx, backoff.Next(x.err)) != nil {
			return
		}
	}
}

// forgotten reports whether the server refused the general stream, which it accepted before, since it
// does not know the session any more.
func (s *Session) forgotten(x *exchange) bool {
	var refused *HTTPError
	return x.frame == nil && errors.As(x.err, &refused) && refused.Status == http.StatusNotFound
}

// suspectChange reports that the types may have changed during an interruption. missed says
// that the stream was not resumed, so that other notifications may be missing too.
func (s *Session) suspectChange(missed bool) {
	if missed {
		s.opts.missed()
	}
	if s.info.ListChanged {
		s.unsolicited(wire.Note{Method: wire.NoteListChanged})
	}
}

// neverListens reports whether a server refused the stream for good.
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
