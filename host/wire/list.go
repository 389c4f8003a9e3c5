package wire

import (
	"encoding/json"
	"fmt"

	"eventdeck/host/trust"
)

// Methods and notifications of MCP Events.
const (
	MethodList        = "events/list"
	MethodPoll        = "events/poll"
	MethodStream      = "events/stream"
	MethodSubscribe   = "events/subscribe"
	MethodUnsubscribe = "events/unsubscribe"

	NoteListChanged = "notifications/events/list_changed"
	NoteActive      = "notifications/events/active"
	NoteEvent       = "notifications/events/event"
	NoteHeartbeat   = "notifications/events/heartbeat"
	NoteError       = "notifications/events/error"
	NoteTerminated  = "notifications/events/terminated"

	NoteMessage = "notifications/message" // a line of the server's log

	// MethodListen opens the stream of notifications that belong to no other request
	// (2026-07-28). NoteAcknowledged is its first one.
	MethodListen     = "subscriptions/listen"
	NoteAcknowledged = "notifications/subscriptions/acknowledged"

	// Extension is the capability of SEP-3415.
	Extension = "io.modelcontextprotocol/events"
	// MetaSubscription is the _meta key that names a notification's stream.
	MetaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// ListRequest asks for a page of event types. The cursor is left out on the
// first page, never null (field notes 5).
type ListRequest struct {
	Cursor *trust.Text
}

// MarshalJSON writes the params.
func (r ListRequest) MarshalJSON() ([]byte, error) {
	if r.Cursor == nil {
		return []byte("{}"), nil
	}
	return Marshal(map[string]sentCursor{"cursor": {text: *r.Cursor, valid: true}})
}

// Descriptor is one event type as a server lists it. Missing members are zero.
type Descriptor struct {
	Name          trust.Text
	Title         trust.Text
	Description   trust.Text
	Delivery      []trust.Text
	InputSchema   json.RawMessage // nil if absent or not a schema
	PayloadSchema json.RawMessage
	Cursorless    bool
}

// ListResult is a page of event types. Bad counts malformed descriptors; each hides only
// itself (field notes 6).
type ListResult struct {
	Types []Descriptor
	Next  *trust.Text // nil: the last page
	Bad   int
	Why   []error // the errors of the first few malformed descriptors, safe to print
}

// maxWhy bounds the errors in [ListResult.Why].
const maxWhy = 5

// DecodeList reads the result of events/list. Error: [ErrMalformed].
func DecodeList(raw json.RawMessage) (ListResult, error) {
	m, err := decodeMembers("the result of events/list", raw)
	if err != nil {
		return ListResult{}, err
	}
	var r ListResult
	for i, item := range m.list("events") {
		d, err := decodeMembers("an event type", item)
		if err == nil && d.text("name").IsZero() {
			err = fmt.Errorf("%w: an event type has no name", ErrMalformed)
		}
		if err != nil {
			r.Bad++
			if len(r.Why) < maxWhy {
				r.Why = append(r.Why, fmt.Errorf("descriptor %d: %w", i+1, err))
			}
			continue
		}
		t := Descriptor{
			Name:          d.text("name"),
			Title:         d.text("title"),
			Description:   d.text("description"),
			InputSchema:   d.schema("inputSchema"),
			PayloadSchema: d.schema("payloadSchema"),
			Cursorless:    d.bool("cursorless"),
		}
		for _, mode := range d.list("delivery") {
			var s trust.Text
			if json.Unmarshal(mode, &s) == nil && !s.IsZero() {
				t.Delivery = append(t.Delivery, s)
			}
		}
		r.Types = append(r.Types, t)
	}
	if next := m.text("nextCursor"); !next.IsZero() {
		r.Next = &next
	}
	return r, nil
}

func (m members) schema(key string) json.RawMessage {
	raw := m[key]
	if len(raw) == 0 || (raw[0] != '{' && raw[0] != 't' && raw[0] != 'f') {
		return nil
	}
	return raw
}
