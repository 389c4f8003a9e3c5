package wire

import (
	"encoding/json"
	"fmt"

	"eventdeck/host/trust"
)

// ErrOccurrence is the root of every reason for which an occurrence is refused,
// beside those of [trust.ParseObject].
var ErrOccurrence = fmt.Errorf("%w: not an event", trust.ErrRefused)

// Occurrence is one event (SEP-3415, event occurrence).
type Occurrence struct {
	EventID   trust.Text
	Name      trust.Text
	Timestamp trust.Text // as spelled; see [ParseTime]
	Cursor    Cursor
	Data      json.RawMessage // a part of Raw; nil if absent
	Raw       json.RawMessage // the exact bytes

	// Of dialects that say more of an event: empty elsewhere.
	Priority trust.Text
	Tags     []trust.Text
	Batch    trust.Text // events with the same batch came as one
}

// ParseOccurrence reads an occurrence strictly: keys are exact, duplicates are
// refused at every level. raw is kept, not copied. The name, the timestamp and
// the data may be missing; the id may not.
//
// Errors: [ErrOccurrence] and those of [trust.ParseObject]; all wrap
// [trust.ErrRefused].
func ParseOccurrence(raw []byte, lim trust.Limits) (Occurrence, error) {
	list, err := trust.ParseObject(raw, lim)
	if err != nil {
		return Occurrence{}, err
	}
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
			_ = o.Cursor.UnmarshalJSON(m.Value) // reads anything
		case "data":
			o.Data = m.Value
		}
		if dst == nil {
			continue
		}
		if err := json.Unmarshal(m.Value, dst); err != nil {
			return Occurrence{}, fmt.Errorf("%w: %v is not a string", ErrOccurrence, m.Key)
		}
	}
	if o.EventID.IsZero() {
		return Occurrence{}, fmt.Errorf("%w: it has no eventId", ErrOccurrence)
	}
	return o, nil
}
