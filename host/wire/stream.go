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

	// What is held of an earlier stream for the same subscription. It is not a part of the
	// params: a dialect uses it to find that stream again.
	Held   trust.Text // the server's id, see [Note]
	Resume string     // in clear, see [Resume]; empty: none, or not wanted
}

// MarshalJSON writes the params.
func (r StreamRequest) MarshalJSON() ([]byte, error) {
	return Marshal(newSubscribing(r.Name, r.Arguments, r.At))
}

// Note is a notification as it came, or what a dialect made of it: then it is
// told in the words of MCP Events, and one or more of the last members are set.
type Note struct {
	Method string
	Params json.RawMessage

	Event    *Occurrence // of [NoteEvent]: what Params say, already read; nil: Params are the occurrence
	Refused  error       // of [NoteEvent]: why Params make no event; of [NoteSkipped]: why it was skipped
	ServerID trust.Text  // of [NoteActive]: the id under which the server holds the subscription
	Resume   *Resume     // of [NoteResumable]
	Since    time.Time   // of [NoteInterrupt]: when it was heard last; zero: until the interruption
	Planned  bool        // of [NoteTerminated]: it has expired, as was agreed
	Apart    bool        // of [NoteHeartbeat]: it shows that the server runs, not that its events still come
}

// What a dialect or the session tells of a stream beside the notifications of MCP
// Events. No server can say these: dialects hand on only what begins with
// notifications/.
const (
	NoteResumable = "resumable" // the stream can be resumed with Note.Resume; nil: no longer
	NoteResumed   = "resumed"   // the stream was cut and goes on where it stopped
	NoteAbandoned = "abandoned" // the server gave up a stream that was to be resumed
	NoteAnswered  = "answered"  // a request to resume was answered
	NoteSkipped   = "skipped"   // a frame could not be taken; Params are its beginning, and no JSON
	NoteInterrupt = "interrupt" // what was said for some time may have gone unheard
)

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
