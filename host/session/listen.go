package session

import (
	"errors"
	"net/http"
	"time"

	"eventdeck/host/wire"
)

// steady is how long a listening stream must live to count as a success.
const steady = 10 * time.Second

// listen opens the way on which a server speaks unasked, and keeps it open:
// subscriptions/listen where the server is stateless and reports changes, the
// general stream of handshake HTTP. A process needs none.
func (s *Session) listen() {
	var open func(taken func()) (*exchange, error)
	switch modern := s.info.Era == EraStateless; {
	case s.opts.OnNote == nil:
		return
	case modern && s.info.Advertised && s.info.ListChanged:
		open = s.openListen
	case !modern && s.info.Transport == TransportHTTP:
		open = s.openGeneral
	default:
		return
	}
	if err := s.spawn(func() { s.keepListening(open) }); err != nil {
		s.opts.Log.Debug("not listening: the session is over", "error", err)
	}
}

func (s *Session) openListen(taken func()) (*exchange, error) {
	type wanted struct {
		EventsListChanged bool `json:"eventsListChanged"`
	}
	sink := func(n wire.Note) {
		if n.Method != noteAcknowledged {
			s.unasked(n)
		}
	}
	x, err := s.prepare(s.life, methodListen, map[string]wanted{"notifications": {true}}, sink)
	if err != nil {
		return nil, err
	}
	x.taken = taken
	return x, s.run(x)
}

func (s *Session) openGeneral(taken func()) (*exchange, error) {
	x := s.newExchange(s.life, *s.era.Load(), "", s.unasked)
	x.taken = taken
	return x, s.run(x)
}

// keepListening opens again whenever the stream ends, until the session is over
// or the server says that it has no such thing.
func (s *Session) keepListening(open func(taken func()) (*exchange, error)) {
	backoff := s.opts.Reopen
	taken := func() {}
	for {
		begun := s.opts.Now()
		x, err := open(taken)
		if err != nil {
			return
		}
		taken = s.suspectChange
		<-x.done
		if s.life.Err() != nil {
			return
		}
		if neverListens(x.err) {
			s.opts.Log.Debug("server sends nothing unasked", "method", x.method, "error", x.err)
			return
		}
		if s.opts.Now().Sub(begun) >= steady {
			backoff.Reset()
		}
		wait := time.NewTimer(max(backoff.Next(x.err), min(x.retry, time.Minute)))
		select {
		case <-wait.C:
		case <-s.life.Done():
			wait.Stop()
			return
		}
	}
}

// suspectChange reports a change that may have gone unheard.
func (s *Session) suspectChange() {
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
