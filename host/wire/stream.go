package wire

import (
	"encoding/json"

	"eventdeck/host/trust"
)

// StreamRequest is the params of events/stream.
type StreamRequest struct {
	Name      trust.Text
	Arguments json.RawMessage // nil: {}
	At        Position
}

// MarshalJSON writes the params.
func (r StreamRequest) MarshalJSON() ([]byte, error) {
	return encode(newSubscribing(r.Name, r.Arguments, r.At))
}

// Note is a notification as it came.
type Note struct {
	Method string
	Params json.RawMessage
}

// Route returns the id of the request that a notification belongs to, or "" if
// it names none: the _meta key, or requestId of earlier drafts (field notes 8).
func (n Note) Route() ID {
	var p struct {
		Meta      map[string]json.RawMessage `json:"_meta"`
		RequestID json.RawMessage            `json:"requestId"`
	}
	if json.Unmarshal(n.Params, &p) != nil {
		return ""
	}
	if raw, ok := p.Meta[MetaSubscription]; ok {
		return CanonicalID(raw)
	}
	if len(p.RequestID) > 0 {
		return CanonicalID(p.RequestID)
	}
	return ""
}

// Mark is a position without an event: what active and heartbeat notifications and gap envelopes say.
type Mark struct {
	Cursor    Cursor
	Truncated bool
}

// DecodeMark reads the params of an active or heartbeat notification, or a gap
// envelope. Params that make no sense are an empty mark.
func DecodeMark(raw json.RawMessage) Mark {
	m, err := decodeMembers("the notification", raw)
	if err != nil {
		return Mark{}
	}
	return Mark{Cursor: m.cursor("cursor"), Truncated: m.bool("truncated")}
}

// DecodeFault reads the error of an error or terminated notification, or of a
// terminated envelope: nested under "error", flat, only a reason, or nothing at
// all (field notes 8).
func DecodeFault(raw json.RawMessage) *Error {
	m, err := decodeMembers("the notification", raw)
	if err != nil {
		return &Error{}
	}
	if nested, ok := m["error"]; ok && string(nested) != "null" {
		e := decodeError(nested)
		return &e
	}
	e := decodeError(raw)
	if e.Message.IsZero() {
		e.Message = m.text("reason")
	}
	return &e
}
