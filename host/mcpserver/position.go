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

// place is a position in the log: everything up to the sequence number was delivered or skipped.
// A number says that in its generation of the store alone.
type place struct {
	generation string
	seq        uint64
	lost       time.Time // when the client was told that its position before this one is unknown; zero: never
}

// cursor returns the text of a place.
func (p place) cursor() string {
	text := p.generation + "." + strconv.FormatUint(p.seq, 10)
	if !p.lost.IsZero() {
		text += "." + strconv.FormatInt(p.lost.UnixMilli(), 10)
	}
	return text
}

// parseCursor reads what [place.cursor] wrote. It is false for every other text.
func parseCursor(text string) (p place, ok bool) {
	generation, rest, _ := strings.Cut(text, ".")
	digits, lost, wasLost := strings.Cut(rest, ".")
	p.generation = generation
	seq, err := strconv.ParseUint(digits, 10, 64)
	p.seq = seq
	if wasLost && err == nil {
		var at int64
		at, err = strconv.ParseInt(lost, 10, 64)
		p.lost = time.UnixMilli(at)
	}
	return p, err == nil && len(generation) == 32 && p.cursor() == text
}

// eventID returns the id of the event that a record is delivered as.
func eventID(in event.Generations, seq uint64) string {
	return in.Of(seq) + "-" + strconv.FormatUint(seq, 10)
}

// at returns the place of a sequence number of the log.
func (s *Server) at(seq uint64) place {
	return place{generation: s.log().Generations().Of(seq), seq: seq}
}

// position reads a cursor. It is false for one that this store does not know.
func (s *Server) position(text string) (uint64, bool) {
	log := s.log()
	p, ok := parseCursor(text)
	return p.seq, ok && log.Generations().Has(p.generation, p.seq, log.Last())
}

// wanted is a subscription as requested, with its position.
type wanted struct {
	selection
	place
	in        event.Generations // of the log that was read last
	held      bool              // a cursor was given
	truncated bool              // wanted events may have been skipped, and the client was not told yet
	notBefore time.Time         // events that were received before are too old
}

// before returns the place before a record.
func (w *wanted) before(seq uint64) place {
	return place{generation: w.in.Of(seq - 1), seq: seq - 1, lost: w.lost}
}

// move takes another position in the log that was read last.
func (w *wanted) move(seq uint64) { w.seq, w.generation = seq, w.in.Of(seq) }

// find looks whether the log has the position of w. One that it does not have was given by another
// store, or by this one before it was restored from a copy. Which records the client has seen is
// unknown then: it continues with the newest, and is informed.
func (s *Server) find(w *wanted) {
	log := s.log()
	last := log.Last()
	if w.in = log.Generations(); !w.in.Has(w.generation, w.seq, last) {
		w.move(last)
		w.truncated, w.lost = true, s.opts.Now().Truncate(time.Millisecond) // as a cursor has it
	}
}

// sentAgainFor is how long servers may take after a restore to send again what was lost.
const sentAgainFor = time.Minute

// sentAgain reports whether a client that lost its position may have seen the event: it occurred
// before that, and its server sends it again.
func (p place) sentAgain(r *event.Record) bool {
	return !p.lost.IsZero() && r.ReceivedAt.Sub(p.lost) < sentAgainFor && r.Occurred().Before(p.lost)
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
	log := s.log()
	w := wanted{selection: chosen, in: log.Generations()}
	w.move(log.Last())
	cursor, given, f := eventserver.ReadCursor(p.Cursor)
	if f != nil || !given {
		return w, f
	}
	w.held = true
	if at, ok := parseCursor(cursor); ok {
		w.place = at
		s.find(&w)
	} else { // a text that no eventdeck has given: nothing was seen
		w.move(0)
		w.truncated = true
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
	s.find(w)
	log := s.log()
	last, examined, stopped := log.Last(), 0, false
	err := log.After(w.seq, func(r event.Record) bool {
		if r.Seq != w.seq+1 { // the records between were pruned; they may have been wanted
			w.truncated = true
		}
		w.move(r.Seq)
		switch {
		case !w.takes(&r):
		case r.ReceivedAt.Before(w.notBefore), w.sentAgain(&r):
			w.truncated = true
		default:
			stopped = !fn(&r)
		}
		examined++
		stopped = stopped || examined >= maxExamined
		return !stopped
	})
	if err != nil || stopped || w.seq >= last {
		return err
	}
	// Nothing follows the position: either the newest records were pruned, or the window in memory
	// lags behind the store.
	if _, err := log.Get(last); errors.Is(err, event.ErrNotFound) {
		w.move(last)
		w.truncated = true
	}
	return nil
}

// behind reports whether there are records after the position.
func (s *Server) behind(w *wanted) bool { return w.seq < s.log().Last() }
