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

// Limits are the bounds that an operator has set in the member "limits" of the
// settings. A member that is zero was not set: the program's default holds.
// docs/limits.md tells what each bounds.
type Limits struct {
	Servers       int
	Subscriptions int

	Types     int // of one server
	TypePages int
	TypeBytes int // of all answers in which the types of a server are listed

	Payload int // bytes of an event
	Depth   int // levels of an event

	QueueRecords int
	QueueBytes   int
	AuditEntries int
}

// limit is one of [Limits]: its name in the file and what it may be.
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

// Limits reads the member "limits": an object of numbers, and of sizes such as
// "4MiB". One that makes no sense stays zero and is told by the error; the others
// are returned beside it.
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
			wrong = append(wrong, s.text.Errorf(m.At, "there is no limit %q%s", m.Key, meant(m.Key, known)))
			continue
		}
		if err := known[at].read(s.text.Plain[m.Start:m.End]); err != nil {
			wrong = append(wrong, s.text.Errorf(m.Start, "limit %q: %w", m.Key, err))
		}
	}
	return l, errors.Join(wrong...)
}

// meant says which limit was probably meant, else which there are.
func meant(word string, known []limit) string {
	var names []string
	for _, k := range known {
		names = append(names, k.name)
	}
	if near := Nearest(word, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("; there are %q", names)
}

// read takes a number, or a size where bytes are meant.
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
