package demo

import (
	"context"
	"encoding/json"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

const (
	// gather is the shortest time between two writes of one stream: events that fall due in it
	// share a write.
	gather = 2 * time.Millisecond
	// batchBytes is about the size of the largest write.
	batchBytes = 64 << 10
)

// stream is one push subscription. It keeps a position and no queue: a slow peer only falls behind.
type stream struct {
	*engine
	requested
	id        json.RawMessage // of the request that opened it
	heartbeat time.Duration
	out       eventserver.Sink

	buf []byte
}

// run writes notifications until ctx ends, the subscription is terminated or the peer is gone. It
// returns nil if the server ended the stream.
func (s *stream) run(ctx context.Context) error {
	s.confirm()
	if err := s.flush(); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	p := s.begin(time.Now())
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		now := time.Now()
		behind := s.fill(now)
		if !behind && !s.kind.exists(now) {
			return s.terminate(eventserver.Gone(s.kind.name))
		}
		if s.sendDue(&p, now); len(s.buf) > 0 {
			if err := s.flush(); err != nil {
				return err
			}
		}
		if !now.Before(p.end) {
			return nil
		}
		if behind {
			timer.Reset(0)
			continue
		}
		timer.Reset(max(gather, time.Until(s.next(p))))
	}
}

// confirm sends where the stream begins.
func (s *stream) confirm() {
	if s.faults.has(faultUnconfirmed) {
		return
	}
	position := s.mark(s.kind, s.pos)
	if s.echo != "" {
		position = s.echo
	}
	s.note(wire.NoteActive, map[string]any{"cursor": position, "truncated": s.truncated})
}

// streamTimes are the times of a stream's next heartbeat, next error, and end.
type streamTimes struct{ beat, error, end time.Time }

// never is later than any stream lasts.
var never = time.Unix(1<<40, 0)

// begin returns the times of a stream that begins now.
func (s *stream) begin(now time.Time) streamTimes {
	p := streamTimes{beat: now.Add(s.heartbeat), error: never, end: never}
	switch {
	case s.faults.has(faultUnconfirmed), s.faults.has(faultEcho) && s.echo != "":
		p.beat = never // for an echo, until the first event
	case s.faults.has(faultEchoHeartbeat) && s.echo != "":
		p.beat = now
	}
	if every := s.faults[faultErrors]; every > 0 {
		p.error = now.Add(every)
	}
	if after := s.faults[faultCloseEvery]; after > 0 {
		p.end = now.Add(after)
	}
	return p
}

// sendDue sends the heartbeat and the error that are due. Heartbeats come with events too: they have
// the stream's position.
func (s *stream) sendDue(p *streamTimes, now time.Time) {
	if p.beat == never && len(s.buf) > 0 && !s.faults.has(faultUnconfirmed) {
		p.beat = now.Add(s.heartbeat)
	}
	if !now.Before(p.beat) {
		s.note(wire.NoteHeartbeat, map[string]any{"cursor": s.mark(s.kind, s.pos)})
		p.beat = now.Add(s.heartbeat)
	}
	if !now.Before(p.error) {
		failed := eventserver.Refuse(wire.InternalError, "the upstream does not answer; trying again", nil)
		s.note(wire.NoteError, map[string]any{"error": failed.Body(s.profile)})
		p.error = now.Add(s.faults[faultErrors])
	}
}

// fill puts due events into the buffer, and reports whether there are more.
func (s *stream) fill(now time.Time) (behind bool) {
	count := s.kind.feed.count(now)
	if first := s.kind.oldest(count); s.pos+1 < first {
		s.pos = first - 1
		s.note(wire.NoteActive, map[string]any{"cursor": s.mark(s.kind, s.pos), "truncated": true})
	}
	for s.pos < count && len(s.buf) < batchBytes {
		s.pos++
		if s.kind.feed.matches(s.pos, s.args) {
			s.event(s.pos)
		}
	}
	return s.pos < count
}

// next returns when something is due.
func (s *stream) next(p streamTimes) time.Time {
	at := s.kind.feed.when(s.pos + 1)
	for _, moment := range []time.Time{p.beat, p.error, p.end} {
		if moment.Before(at) {
			at = moment
		}
	}
	if s.kind.lifetime != nil {
		if _, change := s.kind.lifetime.at(time.Now()); change.Before(at) {
			at = change
		}
	}
	return at
}

func (s *stream) event(n uint64) {
	s.buf = append(s.buf, s.out.Open...)
	s.buf = append(s.buf, `{"jsonrpc":"2.0","method":"notifications/events/event","params":`...)
	s.buf = s.appendOccurrence(s.buf, s.kind, n, n)
	s.buf = s.buf[:len(s.buf)-1] // the routing members go into the same object
	s.buf = append(s.buf, ',')
	s.buf = s.appendRoute(s.buf)
	s.buf = append(s.buf, `}}`...)
	s.buf = append(s.buf, s.out.Close...)
}

// appendRoute appends the members that tie a notification to its request: the
// _meta key, and for the sketch also requestId of its earlier drafts.
func (s *stream) appendRoute(dst []byte) []byte {
	if s.profile == wire.ProfileSketch {
		dst = append(dst, `"requestId":`...)
		dst = append(dst, s.id...)
		dst = append(dst, ',')
	}
	dst = append(dst, `"_meta":{"`+wire.MetaSubscription+`":`...)
	dst = append(dst, s.id...)
	return append(dst, '}')
}

func (s *stream) note(method string, params map[string]any) {
	s.buf = s.out.AppendNote(s.buf, method, params, s.id, s.profile)
}

func (s *stream) terminate(f *eventserver.Refusal) error {
	s.note(wire.NoteTerminated, map[string]any{"error": f.Body(s.profile)})
	return s.flush()
}

func (s *stream) flush() error {
	err := s.out.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}
