package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"eventdeck/host/internal/jsonfile"
)

// Limits are the bounds that the operator sets in the member "limits" of the settings. Zero means
// unset: the default holds. docs/limits.md explains each.
type Limits struct {
	Servers       int
	Subscriptions int

	Types     int // of one server
	TypePages int
	TypeBytes int // of all pages of a server's list of types

	Payload int // bytes of an event
	Depth   int // levels of an event

	QueueRecords int
	QueueBytes   int
	AuditEntries int
}

// limit is one of [Limits]: its name in the file and its range.
type limit struct {
	name        string
	to          *int
	bytes       bool
	least, most int
}

func (l *Limits) all() []limit {
	return []limit{
		{"servers", &l.Servers, false, 1, 100_000},
		{"subscriptions", &l.Subscriptions, false, 1, 1_000_000},
		{"types", &l.Types, false, 1, 1_000_000},
		{"typePages", &l.TypePages, false, 1, 10_000},
		{"typeBytes", &l.TypeBytes, true, 64 << 10, 1 << 30},
		{"payload", &l.Payload, true, 64 << 10, 8 << 20},
		{"depth", &l.Depth, false, 10, 5_000},
		{"queueRecords", &l.QueueRecords, false, 64, 1_000_000},
		{"queueBytes", &l.QueueBytes, true, 64 << 10, 1 << 30},
		{"auditEntries", &l.AuditEntries, false, 100, 10_000_000},
	}
}

// Limits reads the member "limits": an object of numbers, and of sizes such as "4MiB". An invalid
// limit stays zero and is in the error; the others are returned with it.
//
// Errors: [ErrFile], with path, line and column.
func (s *Settings) Limits() (l Limits, err error) {
	m, ok := jsonfile.Find(s.top, "limits")
	if !ok {
		return l, nil
	}
	members, err := s.text.Object(m.Start, m.End, `"limits"`)
	if err != nil {
		return l, err
	}
	known := l.all()
	var wrong []error
	for i, m := range members {
		if err := s.text.isFirst(members[:i], m, "limit %q", "remove"); err != nil {
			wrong = append(wrong, err)
			continue
		}
		at := slices.IndexFunc(known, func(k limit) bool { return k.name == m.Key })
		if at < 0 {
			wrong = append(wrong, s.text.Errorf(m.At, "there is no limit %q%s", m.Key, suggestion(m.Key, known)))
			continue
		}
		if err := known[at].read(s.text.Plain[m.Start:m.End]); err != nil {
			wrong = append(wrong, s.text.Errorf(m.Start, "limit %q: %w", m.Key, err))
		}
	}
	return l, errors.Join(wrong...)
}

// suggestion names the limit that was probably meant, else all limits.
func suggestion(word string, known []limit) string {
	var names []string
	for _, k := range known {
		names = append(names, k.name)
	}
	if near := Nearest(word, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("; there are %q", names)
}

// read sets the limit to a number, or to a size if it counts bytes.
func (k limit) read(raw json.RawMessage) error {
	n, ok := k.number(raw)
	if !ok || n < k.least || n > k.most {
		return fmt.Errorf("it must be %s from %s to %s", k.kind(), k.words(k.least), k.words(k.most))
	}
	*k.to = n
	return nil
}

func (k limit) number(raw json.RawMessage) (int, bool) {
	var n json.Number
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil && k.bytes:
		size, err := ParseSize(text)
		return int(min(size, math.MaxInt32)), err == nil
	case raw[0] == '"' || json.Unmarshal(raw, &n) != nil:
		return 0, false
	}
	v, err := strconv.Atoi(n.String())
	return v, err == nil
}

func (k limit) kind() string {
	if k.bytes {
		return `a size such as "4MiB", or a number of bytes,`
	}
	return "a whole number"
}

func (k limit) words(n int) string {
	if k.bytes {
		return SizeWords(int64(n))
	}
	return strconv.Itoa(n)
}
