package mcpserver

import (
	"context"
	"encoding/json"

	"eventdeck/host/event"
	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// Bounds of the response to a poll.
const (
	maxPoll      = 1_000
	maxPollBytes = 1 << 20
)

// poll answers events/poll.
func (s *Server) poll(ctx context.Context, params json.RawMessage) (map[string]any, *eventserver.Refusal) {
	w, f := s.resolve(params)
	if f != nil {
		return nil, f
	}
	var p struct {
		MaxEvents int `json:"maxEvents"`
	}
	if f := eventserver.Decode(params, &p); f != nil {
		return nil, f
	}
	most := maxPoll
	if p.MaxEvents > 0 {
		most = min(most, p.MaxEvents)
	}
	events, bytes := []byte{'['}, 0
	n := 0
	err := s.advance(&w, func(r *event.Record) bool {
		if n++; n > 1 {
			events = append(events, ',')
		}
		before := len(events)
		events = append(s.appendOccurrence(events, w.in, w.name, "", r), '}')
		bytes += len(events) - before
		return n < most && bytes < maxPollBytes && ctx.Err() == nil
	})
	if err != nil {
		s.opts.Log.Error("the log cannot be read", "err", err)
		return nil, eventserver.Refuse(wire.InternalError, "the log cannot be read", nil)
	}
	return map[string]any{"events": json.RawMessage(append(events, ']')), "cursor": w.cursor(), "truncated": w.truncated,
		"hasMore": s.behind(&w), "nextPollMs": s.opts.NextPoll.Milliseconds()}, nil
}
