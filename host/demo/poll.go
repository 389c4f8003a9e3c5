package demo

import (
	"encoding/json"
	"time"

	"eventdeck/host/eventserver"
)

// maxPoll bounds the events in one response.
const maxPoll = 500

// poll answers events/poll.
func (e *engine) poll(params json.RawMessage, now time.Time) (map[string]any, requested, *eventserver.Refusal) {
	w, f := e.resolve(params, "poll", now)
	if f != nil {
		return nil, w, f
	}
	var p struct {
		MaxEvents int `json:"maxEvents"`
	}
	if f := eventserver.Decode(params, &p); f != nil {
		return nil, w, f
	}
	w.max = maxPoll
	if p.MaxEvents > 0 {
		w.max = min(w.max, p.MaxEvents)
	}
	result, w := e.take(w, now)
	return result, w, nil
}

// take returns the result of a poll from the position of a request, and the request with the
// position after it.
func (e *engine) take(w requested, now time.Time) (map[string]any, requested) {
	count := w.kind.feed.count(now.Add(-e.faults[faultPollLags]))
	events, pos := []json.RawMessage{}, w.pos
	for pos < count && len(events) < w.max {
		pos++
		if w.kind.feed.matches(pos, w.args) {
			occurrence := append(w.kind.feed.appendBody([]byte{'{'}, pos), '}')
			events = append(events, occurrence)
		}
	}
	w.pos = pos
	return map[string]any{
		"events":     events,
		"cursor":     e.pollMark(w.kind, pos),
		"truncated":  w.truncated,
		"hasMore":    pos < count,
		"nextPollMs": e.nextPoll.Milliseconds(),
	}, w
}

// pollMark is [engine.mark] for the response to a poll.
func (e *engine) pollMark(t *eventType, pos uint64) any {
	mark := e.mark(t, pos)
	if text, ok := mark.(string); ok && e.faults.has(faultPollForeign) {
		return foreignPoll + text
	}
	return mark
}
