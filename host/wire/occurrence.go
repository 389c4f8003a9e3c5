package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
	"eventdeck/host/trust/scan"
	"eventdeck/host/trust/strict"
)

// ErrOccurrence is the root of every reason for which an occurrence is refused,
// beside those of [strict.ParseObject].
var ErrOccurrence = fmt.Errorf("%w: not an event", strict.ErrRefused)

// Occurrence is one event (SEP-3415, event occurrence).
type Occurrence struct {
	EventID   trust.Text
	Name      trust.Text
	Timestamp trust.Text // as spelled; see [trust.Text.Time]
	Cursor    Cursor
	Data      json.RawMessage // a part of Raw; nil if absent
	Meta      json.RawMessage // see [OwnMeta]: a part of Raw, or nil
	Raw       json.RawMessage // the exact bytes

	// From dialects that say more about an event: empty elsewhere.
	Priority trust.Text
	Tags     []trust.Text
	Batch    trust.Text // events with the same batch came together
}

// ParseOccurrence reads an occurrence strictly: keys are exact, duplicates are
// refused at every level. raw is kept, not copied. The name, the timestamp and
// the data may be missing; the id may not.
//
// Errors: [ErrOccurrence] and those of [strict.ParseObject]; all wrap
// [strict.ErrRefused].
func ParseOccurrence(raw []byte, lim strict.Limits) (Occurrence, error) {
	list, err := strict.ParseObject(raw, lim)
	if err != nil {
		return Occurrence{}, err
	}
	return newOccurrence(raw, list)
}

// ReadOccurrence is [ParseOccurrence] and [scan.Scan] of the same bytes in one pass. The
// report is valid also with an error.
//
// Errors: those of [ParseOccurrence].
func ReadOccurrence(raw []byte, lim strict.Limits) (Occurrence, scan.Report, error) {
	list, report, err := scan.ReadObject(raw, lim)
	if err != nil {
		return Occurrence{}, report, err
	}
	o, err := newOccurrence(raw, list)
	return o, report, err
}

func newOccurrence(raw []byte, list []strict.Member) (Occurrence, error) {
	o := Occurrence{Raw: raw}
	for _, m := range list {
		var dst *trust.Text
		switch m.Key.Raw() {
		case "eventId":
			dst = &o.EventID
		case "name":
			dst = &o.Name
		case "timestamp":
			dst = &o.Timestamp
		case "cursor":
			if text, ok := m.Text(); ok {
				o.Cursor = Cursor{Present: true, Null: m.Value[0] == 'n', Text: text}
			} else {
				_ = o.Cursor.UnmarshalJSON(m.Value) // reads anything
			}
		case "data":
			o.Data = m.Value
		case "_meta":
			o.Meta = OwnMeta(m.Value)
		}
		if dst == nil {
			continue
		}
		text, ok := m.Text()
		if !ok {
			return Occurrence{}, fmt.Errorf("%w: %v is not a string", ErrOccurrence, m.Key)
		}
		*dst = text
	}
	if o.EventID.IsZero() {
		return Occurrence{}, fmt.Errorf("%w: it has no eventId", ErrOccurrence)
	}
	return o, nil
}

// MetaPrefix begins the names of the protocol's own members of _meta (base MCP, General fields).
const MetaPrefix = "io.modelcontextprotocol/"

// OwnMeta returns a _meta in which the server says something beside the protocol's own members,
// else nil.
func OwnMeta(meta json.RawMessage) json.RawMessage {
	text := jsontext.View(meta)
	if text == "" || text[0] != '{' {
		return nil
	}
	for m := jsontext.Enter(text, 0); m.Next(); {
		if !strings.HasPrefix(m.Key, MetaPrefix) {
			return meta
		}
	}
	return nil
}
