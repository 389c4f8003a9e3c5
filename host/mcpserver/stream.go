package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// batchBytes is about the size of the largest write of a stream.
const batchBytes = 256 << 10

// stream is one push subscription. It keeps a position and no queue: a slow peer only falls behind.
type stream struct {
	*Server
	wanted
	id      json.RawMessage // of the request that opened it
	profile wire.Profile
	out     eventserver.Sink
	buf     []byte
	// These tie an event to its request: a member of _meta, and for the sketch one of params.
	meta, route string
}

// stream answers events/stream until ctx ends or the peer is gone.
func (s *Server) stream(ctx context.Context, r request, w wanted, out eventserver.Sink) error {
	st := &stream{Server: s, wanted: w, id: r.id, profile: r.profile(), out: out}
	st.meta = `,"` + wire.MetaSubscription + `":` + string(r.id)
	if st.profile == wire.ProfileSketch {
		st.route = `,"requestId":` + string(r.id)
	}
	return st.run(ctx)
}

func (s *stream) run(ctx context.Context) error {
	next := s.Server.next()
	more := s.begin(s.place)
	beat := time.NewTicker(s.opts.Heartbeat)
	defer beat.Stop()
	for {
		if err := s.flush(); err != nil {
			return err
		}
		if !more {
			select {
			case <-ctx.Done():
			case <-next:
			case <-beat.C:
				s.beat()
			}
			next = s.Server.next()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		more = s.fill()
		select {
		case <-beat.C: // heartbeats come on a busy stream too, with its position
			s.beat()
		default:
		}
	}
}

// begin fills the buffer, and puts the notification before it that says where the stream begins and
// whether wanted events were skipped, which is known only then.
func (s *stream) begin(at place) (more bool) {
	told := s.truncated
	s.truncated = false
	more = s.fillWith(func(first uint64) { at = s.before(first) })
	truncated := told || s.truncated
	if truncated && len(s.buf) == 0 {
		at = s.place
	}
	events := s.buf
	s.buf = nil
	s.note(wire.NoteActive, map[string]any{"cursor": at.cursor(), "truncated": truncated})
	s.buf, s.truncated = append(s.buf, events...), false
	return more
}

// fill puts new events into the buffer, and reports whether there are more.
func (s *stream) fill() (more bool) {
	at := len(s.buf)
	more = s.fillWith(func(uint64) {})
	if s.truncated { // the notification precedes the events
		events := append([]byte(nil), s.buf[at:]...)
		s.buf, s.truncated = s.buf[:at], false
		s.note(wire.NoteActive, map[string]any{"cursor": s.place.cursor(), "truncated": true})
		s.buf = append(s.buf, events...)
	}
	return more
}

// fillWith is fill that calls first with the sequence number of the first event.
func (s *stream) fillWith(first func(uint64)) (more bool) {
	n := 0
	err := s.advance(&s.wanted, func(r *event.Record) bool {
		if n++; n == 1 {
			first(r.Seq)
		}
		s.event(r)
		return len(s.buf) < batchBytes
	})
	if err != nil {
		s.opts.Log.Error("the log cannot be read", "err", err)
		failed := eventserver.Refuse(wire.InternalError, "the log cannot be read; trying again", nil)
		s.note(wire.NoteError, map[string]any{"error": failed.Body(s.profile)})
		return false
	}
	return s.behind(&s.wanted)
}

func (s *stream) event(r *event.Record) {
	s.buf = append(s.buf, s.out.Open...)
	s.buf = append(s.buf, `{"jsonrpc":"2.0","method":"notifications/events/event","params":`...)
	s.buf = s.appendOccurrence(s.buf, s.in, s.name, s.meta, r)
	s.buf = s.appendCursor(s.buf)
	s.buf = append(append(s.buf, s.route...), '}', '}')
	s.buf = append(s.buf, s.out.Close...)
}

func (s *stream) beat() {
	s.note(wire.NoteHeartbeat, map[string]any{"cursor": s.place.cursor()})
}

func (s *stream) note(method string, params map[string]any) {
	s.buf = s.out.AppendNote(s.buf, method, params, s.id, s.profile)
}

func (s *stream) flush() error {
	if len(s.buf) == 0 {
		return nil
	}
	err := s.out.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

// listen answers subscriptions/listen: notifications outside of requests. keepalive, if not empty,
// is sent at the interval of heartbeats.
func (s *Server) listen(ctx context.Context, r request, out eventserver.Sink, keepalive string) error {
	wanted, acknowledged, _ := eventserver.ReadListen(r.params) // malformed params ask for nothing
	next, seen := s.next(), s.types.currentVersion()
	err := out.Write(out.AppendNote(nil, wire.NoteAcknowledged, acknowledged, r.id, wire.ProfileSEP))
	beat := time.NewTicker(s.opts.Heartbeat)
	defer beat.Stop()
	for err == nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-beat.C:
			if keepalive != "" {
				err = out.Write([]byte(keepalive))
			}
			continue
		case <-next:
			next = s.next()
		}
		if at := s.types.currentVersion(); at != seen && wanted {
			seen = at
			err = out.Write(out.AppendNote(nil, wire.NoteListChanged, map[string]any{}, r.id, wire.ProfileSEP))
		}
	}
	return err
}
