package react

import (
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// Bounds of the counts of values in [Members].
const (
	topPaths  = 16 // paths
	topValues = 20 // different values of a path
	topBytes  = 64 // of a value, and of a path
	topDepth  = 4  // levels of a payload
	topSeen   = 64 // values of one payload that are looked at
)

// Add adds a record.
func (m *Members) Add(r *event.Record) {
	if m.Count++; m.Count == 1 {
		m.From = r.ReceivedAt
	}
	m.To = r.ReceivedAt
	switch {
	case len(m.First) < MemberEnds:
		m.First = append(m.First, r.Seq)
	case len(m.Last) < MemberEnds:
		m.Last = append(m.Last, r.Seq)
	default:
		copy(m.Last, m.Last[1:])
		m.Last[MemberEnds-1] = r.Seq
	}
	data := jsontext.View(r.Data)
	left := topSeen
	m.tally(data, jsontext.SkipSpace(data, 0), "", &left)
}

// tally counts the short values of the object at data[at:].
func (m *Members) tally(data string, at int, path string, left *int) {
	if at >= len(data) || data[at] != '{' || strings.Count(path, ".") >= topDepth {
		return
	}
	for v := jsontext.Enter(data, at); *left > 0 && v.Next(); {
		*left--
		inner := path + "." + v.Key
		switch value := strings.TrimSpace(data[v.Value:v.End]); {
		case value == "" || len(inner) > topBytes || !plainName(v.Key):
		case value[0] == '{':
			m.tally(data, v.Value, inner, left)
		case value[0] != '[':
			m.count(inner, jsontext.Unquote([]byte(jsontext.Inside(value))))
		}
	}
}

// plainName reports whether a name needs no quotes in a path.
func plainName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}) < 0
}

// count counts a value. A path with a long value, or with too many different ones, is not
// counted any more.
func (m *Members) count(path, value string) {
	counts, known := m.Top[path]
	if known && len(counts) == 0 || !known && len(m.Top) >= topPaths {
		return
	}
	if m.Top == nil {
		m.Top = map[string][]Count{}
	}
	at := 0
	for at < len(counts) && counts[at].Value.Raw() != value {
		at++
	}
	switch {
	case len(value) > topBytes, at == topValues:
		m.Top[path] = nil
		return
	case at == len(counts):
		counts = append(counts, Count{Value: trust.Untrusted(value)})
	}
	counts[at].N++
	for ; at > 0 && counts[at-1].N < counts[at].N; at-- {
		counts[at-1], counts[at] = counts[at], counts[at-1]
	}
	if !known {
		path = strings.Clone(path)
	}
	m.Top[path] = counts
}
