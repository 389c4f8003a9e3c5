package wire

import (
	"encoding/json"
	"time"

	"eventdeck/host/trust"
)

// StreamRequest is the params of events/stream.
type StreamRequest struct {
	Name      trust.Text
	Arguments json.RawMessage // nil: {}
	At        Position

	// The state of an earlier stream for the same subscription, with which a dialect finds
	// it again. It is not a part of the params.
	Held   trust.Text // the server's id, see [Note]
	Resume string     // in clear, see [Resume.Text]; empty: none
}

// MarshalJSON writes the params.
func (r StreamRequest) MarshalJSON() ([]byte, error) {
	return Marshal(newSubscribing(r.Name, r.Arguments, r.At))
}

// Note is a notification as received, or its translation by a dialect to the terms of MCP
// Events: then one or more of the last members are set.
type Note struct {
	Method string
	Params json.RawMessage

	Event    *Occurrence // of [NoteEvent]: the decoded event; nil: Params are the occurrence
	Refused  error       // of [NoteEvent]: why Params are not an event; of [NoteSkipped]: why the frame was skipped
	ServerID trust.Text  // of [NoteActive]: the id under which the server holds the subscription
	Resume   *Resume     // of [NoteResumable]
	Since    time.Time   // of [NoteInterrupt]: when the server was last heard; zero: at the interruption
	Planned  bool        // of [NoteTerminated]: it expired as agreed
	Apart    bool        // of [NoteHeartbeat]: it proves that the server runs, not that its events still come
}

// Notes of a dialect or the session about a stream, beside the notifications of MCP Events.
// No server can send them: dialects pass on only methods that begin with notifications/.
const (
	NoteResumable = "resumable" // the stream can be resumed with Note.Resume; nil: no longer
	NoteResumed   = "resumed"   // the stream was cut and continues where it stopped
	NoteAbandoned = "abandoned" // the server gave up a stream that was to be resumed
	NoteAnswered  = "answered"  // a request to resume was answered
	NoteSkipped   = "skipped"   // a frame was not accepted; Params are its beginning, not JSON
	NoteInterrupt = "interrupt" // notifications of some time may be missing
)

// Route returns the id of the request to which a notification belongs, or "" if it names
// none: the _meta key, or requestId of earlier drafts (field notes 8).
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

// Mark is a position without an event, as in active and heartbeat notifications and gap
// envelopes.
type Mark struct {
	Cursor    Cursor
	Truncated bool
}

// DecodeMark reads the params of an active or heartbeat notification, or a gap envelope.
// Malformed params give an empty mark.
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
