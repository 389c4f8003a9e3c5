package mcpserver

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// cursor returns the cursor of a position: everything up to the sequence number was delivered or
// skipped.
func (s *Server) cursor(seq uint64) string { return s.store + "." + strconv.FormatUint(seq, 10) }

// position reads a cursor of this store. It is false for every other text.
func (s *Server) position(cursor string) (uint64, bool) {
	digits, ok := strings.CutPrefix(cursor, s.store+".")
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil && s.cursor(seq) == cursor
}

// wanted is a subscription as requested, with its position.
type wanted struct {
	selection
	pos       uint64    // everything up to here was delivered or skipped
	held      bool      // a cursor was given
	truncated bool      // wanted events may have been skipped, and the client was not told yet
	notBefore time.Time // events that were received before are too old
}

// resolve checks the params that poll, stream and subscribe have in common.
func (s *Server) resolve(params json.RawMessage) (wanted, *eventserver.Refusal) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Cursor    json.RawMessage `json:"cursor"`
		MaxAgeMs  *float64        `json:"maxAgeMs"`
	}
	if f := eventserver.Decode(params, &p); f != nil {
		return wanted{}, f
	}
	if p.Name == "" {
		return wanted{}, eventserver.BadParam("name", "name is missing")
	}
	t, ok := s.types.find(p.Name)
	if !ok {
		return wanted{}, eventserver.Refuse(wire.NotFound, "no such event type", map[string]any{"kind": "event", "name": p.Name})
	}
	now := s.opts.Now()
	chosen, f := s.choose(t, p.Arguments, now)
	if f != nil {
		return wanted{}, f
	}
	w := wanted{selection: chosen, pos: s.log().Last()}
	cursor, given, f := eventserver.ReadCursor(p.Cursor)
	if f != nil || !given {
		return w, f
	}
	w.held = true
	if seq, ok := s.position(cursor); ok && seq <= w.pos {
		w.pos = seq
	} else { // of another store, or of this one before it was restored from a copy
		w.pos, w.truncated = 0, true
	}
	if p.MaxAgeMs != nil && *p.MaxAgeMs >= 0 {
		w.notBefore = now.Add(-time.Duration(min(*p.MaxAgeMs, 1e12) * float64(time.Millisecond)))
	}
	return w, nil
}

// maxExamined bounds the records that one response or one write of a stream examines.
const maxExamined = 50_000

// advance moves w over the log and calls fn for the wanted records, until fn returns false,
// maxExamined records were examined, or nothing is newer. It holds no lock of the store while fn
// runs.
//
// Errors: those of the store.
func (s *Server) advance(w *wanted, fn func(*event.Record) bool) error {
	last, examined, stopped := s.log().Last(), 0, false
	err := s.log().After(w.pos, func(r event.Record) bool {
		if r.Seq != w.pos+1 { // the records between were pruned; they may have been wanted
			w.truncated = true
		}
		w.pos = r.Seq
		switch {
		case !w.takes(&r):
		case r.ReceivedAt.Before(w.notBefore):
			w.truncated = true
		default:
			stopped = !fn(&r)
		}
		examined++
		stopped = stopped || examined >= maxExamined
		return !stopped
	})
	if err != nil || stopped || w.pos >= last {
		return err
	}
	// Nothing follows the position: either the newest records were pruned, or the window in memory
	// lags behind the store.
	if _, err := s.log().Get(last); errors.Is(err, event.ErrNotFound) {
		w.pos, w.truncated = last, true
	}
	return nil
}

// behind reports whether there are records after the position.
func (s *Server) behind(w *wanted) bool { return w.pos < s.log().Last() }
