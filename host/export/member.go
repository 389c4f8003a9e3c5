package export

import (
	"time"

	"eventdeck/host/trust"
)

// AppendName appends the name of a member that is not the first of its object. The name
// must not need escapes.
func AppendName(b []byte, name string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	return append(b, `":`...)
}

// AppendString appends a member with a trusted text.
func AppendString(b []byte, name, value string) []byte {
	return trust.AppendJSONString(AppendName(b, name), value)
}

// AppendText appends a member with a text of a server; an empty text is null.
func AppendText(b []byte, name string, t trust.Text) []byte {
	return appendNullable(AppendName(b, name), t)
}

// AppendPresent is [AppendText] for a member that is left out if the text is absent.
func AppendPresent(b []byte, name string, t trust.Text) []byte {
	if t.IsZero() {
		return b
	}
	return AppendText(b, name, t)
}

// AppendList appends a member with a list of strings, the texts of the items; nothing for an
// empty list.
func AppendList[T any](b []byte, name string, items []T, text func(T) string) []byte {
	if len(items) == 0 {
		return b
	}
	b = AppendName(b, name)
	for i, item := range items {
		b = append(b, "[,"[min(i, 1)])
		b = trust.AppendJSONString(b, text(item))
	}
	return append(b, ']')
}

func appendNullable(b []byte, t trust.Text) []byte {
	if t.IsZero() {
		return append(b, "null"...)
	}
	return trust.AppendJSONString(b, t.Raw())
}

// AppendTime appends a member with a time as RFC 3339 in UTC; the zero time is null.
func AppendTime(b []byte, name string, t time.Time) []byte {
	b = AppendName(b, name)
	if t.IsZero() {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}
