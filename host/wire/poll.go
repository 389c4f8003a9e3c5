package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"eventdeck/host/trust"
)

// Position is where delivery starts: at a cursor, or from now, and at most MaxAge back (0:
// no bound). Every request that subscribes has one.
type Position struct {
	Cursor trust.Text
	Valid  bool // false: the cursor is sent as null
	Number bool // the cursor is sent as a number, as it came
	MaxAge time.Duration
}

type subscribing struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Cursor    sentCursor      `json:"cursor"`
	MaxAge    *milliseconds   `json:"maxAgeMs,omitempty"`
}

func newSubscribing(name trust.Text, args json.RawMessage, at Position) subscribing {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	s := subscribing{Name: name.Raw(), Arguments: args, Cursor: sentCursor{at.Cursor, at.Valid, at.Number}}
	if at.MaxAge > 0 {
		d := milliseconds(at.MaxAge)
		s.MaxAge = &d
	}
	return s
}

// PollRequest is the params of events/poll.
type PollRequest struct {
	Name      trust.Text
	Arguments json.RawMessage // nil: {}
	At        Position
	MaxEvents int           // 0: the server decides
	Timeout   time.Duration // long poll of sketch servers; 0: left out
}

// MarshalJSON writes the params.
func (r PollRequest) MarshalJSON() ([]byte, error) {
	p := struct {
		subscribing
		MaxEvents int           `json:"maxEvents,omitempty"`
		Timeout   *milliseconds `json:"timeoutMs,omitempty"`
	}{subscribing: newSubscribing(r.Name, r.Arguments, r.At), MaxEvents: r.MaxEvents}
	if r.Timeout > 0 {
		d := milliseconds(r.Timeout)
		p.Timeout = &d
	}
	return Marshal(p)
}

// PollResult is the result of events/poll. Every member may be missing.
type PollResult struct {
	Events    []json.RawMessage // each to be read with [ParseOccurrence]
	Cursor    Cursor
	Truncated bool
	HasMore   bool
	NextPoll  time.Duration // 0 if absent; may be negative or absurd
}

// DecodePoll reads the result of events/poll, also in the spelling of older
// revisions (nextPollSeconds). Error: [ErrMalformed].
func DecodePoll(raw json.RawMessage) (PollResult, error) {
	m, err := decodeMembers("the result of events/poll", raw)
	if err != nil {
		return PollResult{}, err
	}
	if raw := m["events"]; raw != nil && m.list("events") == nil && string(raw) != "null" {
		return PollResult{}, fmt.Errorf("%w: the events of events/poll are not a list", ErrMalformed)
	}
	r := PollResult{
		Events:    m.list("events"),
		Cursor:    m.cursor("cursor"),
		Truncated: m.bool("truncated"),
		HasMore:   m.bool("hasMore"),
	}
	if d, ok := m.duration("nextPollMs", time.Millisecond); ok {
		r.NextPoll = d
	} else if d, ok := m.duration("nextPollSeconds", time.Second); ok {
		r.NextPoll = d
	}
	return r, nil
}
