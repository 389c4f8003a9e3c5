package cli

import (
	"encoding/base64"
	"strconv"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// appendRecord appends the record as one line of JSON: what tail and events
// print. Every line has the same first members, null where they say nothing of
// its kind, and then those of its kind. With raw it ends with the exact bytes as
// base64. Nothing in the line can act on a terminal.
func appendRecord(b []byte, r event.Record, raw bool) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = appendString(b, "kind", string(r.Kind))
	b = appendString(b, "server", r.Server)
	b = appendText(b, "type", r.Type)
	b = appendString(b, "subscription", string(r.Sub))
	b = appendString(b, "mode", string(r.Mode))
	b = appendText(b, "eventId", r.EventID)
	b = appendText(b, "timestamp", r.Timestamp)
	b = appendTime(b, "receivedAt", r.ReceivedAt)
	b = appendName(b, "cursor")
	if r.Cursor.Valid {
		b = trust.AppendJSONString(b, r.Cursor.Text.Raw())
	} else {
		b = append(b, "null"...)
	}
	b = appendName(b, "data")
	if len(r.Data) > 0 {
		b = trust.AppendCompactJSON(b, r.Data)
	} else {
		b = append(b, "null"...)
	}
	b = appendKind(b, r)
	if len(r.Flags) > 0 {
		b = appendName(b, "flags")
		for i, flag := range r.Flags {
			b = append(b, "[,"[min(i, 1)])
			b = trust.AppendJSONString(b, flag)
		}
		b = append(b, ']')
	}
	if raw && r.Raw != nil {
		b = appendName(b, "raw")
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, r.Raw)
		b = append(b, '"')
	}
	return append(b, '}', '\n')
}

// appendKind appends the members that only this kind of record has.
func appendKind(b []byte, r event.Record) []byte {
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		b = appendString(b, "cause", string(r.Gap.Cause))
		b = appendTime(b, "from", r.Gap.From)
		b = appendTime(b, "to", r.Gap.To)
		b = appendName(b, "certain")
		b = strconv.AppendBool(b, r.Gap.Certain)
	case r.Kind == event.KindState && r.State != nil:
		b = appendString(b, "state", string(r.State.State))
		b = appendString(b, "evidence", r.State.Evidence)
		b = appendText(b, "error", r.State.Error)
	case r.Kind == event.KindEvent && r.Labels != nil:
		b = appendLabels(b, *r.Labels)
	case r.Kind == event.KindRejected:
		b = appendText(b, "reason", r.Reason)
	}
	return b
}

// appendLabels appends what the server says of an event beside its data, as far as
// it says something.
func appendLabels(b []byte, l event.Labels) []byte {
	for _, m := range [...]struct {
		name string
		text trust.Text
	}{{"name", l.Name}, {"priority", l.Priority}, {"batch", l.Batch}} {
		if !m.text.IsZero() {
			b = appendText(b, m.name, m.text)
		}
	}
	if len(l.Tags) == 0 {
		return b
	}
	b = appendName(b, "tags")
	for i, tag := range l.Tags {
		b = append(b, "[,"[min(i, 1)])
		b = trust.AppendJSONString(b, tag.Raw())
	}
	return append(b, ']')
}

// appendName appends a member's name, which needs no escaping.
func appendName(b []byte, name string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":`...)
}

func appendString(b []byte, name, value string) []byte {
	return trust.AppendJSONString(appendName(b, name), value)
}

// appendText appends a text of the server; an empty one is null.
func appendText(b []byte, name string, t trust.Text) []byte {
	b = appendName(b, name)
	if t.IsZero() {
		return append(b, "null"...)
	}
	return trust.AppendJSONString(b, t.Raw())
}

// appendTime appends a moment as RFC 3339 in UTC; the zero time is null.
func appendTime(b []byte, name string, t time.Time) []byte {
	b = appendName(b, name)
	if t.IsZero() {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}
