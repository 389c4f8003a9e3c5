package sim

import (
	"context"
	"strings"
	"time"

	"eventdeck/host/wire"
)

// foreign is the prefix of poll cursors that differ from those of other modes.
const foreign = "poll:"

func (s *Server) poll(a answerer, f *Feed, cursor *string) {
	b := s.behaves()
	if cursor != nil && f.Deviates(PollCursorForeign) {
		text, own := strings.CutPrefix(*cursor, foreign)
		if !own {
			s.refusePosition(a, f, *cursor)
			return
		}
		cursor = &text
	}
	f.deny(false)
	at, truncated := f.startAt(cursor)
	last := f.Last()
	if f.Deviates(PollLags) {
		last = max(min(at, last), f.lastBefore(time.Now().Add(-pollLag)))
	}
	to := min(last, at+1+s.rand.N(200))
	from := at
	if s.chance(b.Repeat, "events repeated") {
		from = max(0, at-1-s.rand.N(20))
	}
	events := []map[string]any{}
	for n := from + 1; n <= to; n++ {
		events = append(events, f.occurrence(n, n))
		if f.Deviates(PollCursorForeign) {
			delete(events[len(events)-1], "cursor")
		}
	}
	if len(events) > 1 && s.chance(b.Shuffle, "events out of order") {
		for i := range events {
			delete(events[i], "cursor") // the page has one
			j := s.rand.N(len(events))
			events[i], events[j] = events[j], events[i]
		}
	}
	position := f.cursor(to)
	if text, ok := position.(string); ok && f.Deviates(PollCursorForeign) {
		position = foreign + text
	}
	a.result(map[string]any{
		"events": events, "cursor": position, "truncated": truncated, "hasMore": to < last,
		"nextPollMs": 100 + s.rand.N(900),
	})
}

// stream is a push stream.
func (s *Server) stream(a answerer, request context.Context, f *Feed, cursor *string) {
	at, truncated := f.startAt(cursor)
	if truncated && f.isQuiet() {
		truncated = false
		s.net.Count("loss of history not told")
	}
	told := f.cursor(at)
	if cursor != nil && f.Deviates(ReplayNever, PushEcho, PushEchoHeartbeat) {
		last := f.Last()
		s.skip(f, at, last, f.pollsTruly())
		at, truncated = last, false
		if told = f.cursor(at); !f.Deviates(ReplayNever) {
			told = *cursor
		}
	}
	a.open()
	if !f.Deviates(StreamUnconfirmed) && a.note(wire.NoteActive, map[string]any{"cursor": told, "truncated": truncated}) != nil {
		return
	}
	beats := s.beating(f)
	defer beats.Stop()
	ctx, cancel := limited(request, f)
	defer cancel()
	for ctx.Err() == nil {
		changed := f.wait()
		next, err := s.push(a, f, at)
		if err != nil {
			return
		}
		at = next
		select {
		case <-changed:
		case <-beats.C:
			beats.Reset(s.Heartbeat)
			if f.Deviates(StreamUnconfirmed) {
				continue
			}
			if a.note(wire.NoteHeartbeat, map[string]any{"cursor": f.cursor(at)}) != nil {
				return
			}
		case <-ctx.Done():
		}
	}
	if request.Err() == nil {
		s.net.Count("stream closed")
	}
}

// skip is [Feed.skip], and counts openings that should have replayed something.
func (s *Server) skip(f *Feed, from, to int, had bool) {
	if to > from {
		s.net.Count("opening replayed nothing")
		f.skip(from, to, had)
	}
}

// beating returns the heartbeat timer of a stream, set to the first one.
func (s *Server) beating(f *Feed) *time.Timer {
	switch {
	case f.Deviates(PushEchoHeartbeat):
		return time.NewTimer(0)
	case f.Deviates(PushEcho, HeartbeatLate):
		return time.NewTimer(3 * s.Heartbeat)
	}
	return time.NewTimer(s.Heartbeat)
}

// limited bounds the time of a stream if the server closes streams.
func limited(ctx context.Context, f *Feed) (context.Context, context.CancelFunc) {
	if f.Deviates(CloseEvery) {
		return context.WithTimeout(ctx, f.CloseAfter)
	}
	return context.WithCancel(ctx)
}

// push sends the events after a position.
func (s *Server) push(a answerer, f *Feed, at int) (int, error) {
	for at < f.Last() {
		b := s.behaves()
		if now, moved := f.oldestFrom(at); moved && !f.Cursorless {
			at = now
			if err := a.note(wire.NoteActive, map[string]any{"cursor": f.cursor(at), "truncated": true}); err != nil {
				return at, err
			}
			continue
		}
		order := []int{at + 1}
		if at+2 <= f.Last() && s.chance(b.Shuffle, "events out of order") {
			order = []int{at + 2, at + 1}
		}
		if at > 0 && s.chance(b.Repeat, "events repeated") {
			order = append(order, at)
		}
		for i, n := range order {
			position := at // valid until all of them are sent
			if i == len(order)-1 || len(order) == 1 {
				position = max(order[0], order[len(order)-1])
			}
			if s.chance(b.Garbage, "frame is garbage") {
				if err := a.frame([]byte("\x00{not json")); err != nil {
					return at, err
				}
			}
			if err := a.note(wire.NoteEvent, f.occurrence(n, position)); err != nil {
				return at, err
			}
		}
		at = max(at, order[0], order[len(order)-1])
	}
	return at, nil
}
