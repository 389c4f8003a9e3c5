package filter

import (
	"cmp"
	"fmt"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/reading"
)

// ranked compares the severity of an event, as in sev:>=error. Records whose severity has
// no known level never match.
type ranked struct {
	op    operator
	level reading.Level
	text  string // as typed
}

func (n *ranked) match(r *event.Record) bool {
	level := reading.Rate(r)
	return level != reading.None && n.op.orders(cmp.Compare(level, n.level))
}

func (n *ranked) append(b []byte) []byte {
	b = append(append(b, fieldNames[fieldSev]...), ':')
	return appendValue(append(b, operators[n.op]...), n.text)
}

// orders reports whether a comparison with this result holds; never for = and ~.
func (op operator) orders(result int) bool {
	switch op {
	case opLess:
		return result < 0
	case opLessEqual:
		return result <= 0
	case opMore:
		return result > 0
	}
	return result >= 0
}

// ranked reads a comparison of severities.
func (p *parser) ranked() (node, error) {
	op, _ := p.operator()
	start := p.at
	text, err := p.literal()
	if err != nil {
		return nil, err
	}
	n := &ranked{op: op, level: reading.LevelOf(text), text: text}
	if n.level == reading.None {
		return nil, &Error{start, fmt.Sprintf("%q is no severity that can be compared; after sev:%s write one of %s; sev:%s finds the word itself", text, operators[op], levelNames(), appendValue(nil, text))}
	}
	return n, nil
}

// statuses returns the values of the field status.
func statuses() []string {
	return []string{reading.Triggered.String(), reading.Acknowledged.String(), reading.Resolved.String()}
}

// levelNames returns the names of the levels, the worst last.
func levelNames() string {
	var names []string
	for l := reading.None + 1; l < reading.Levels; l++ {
		names = append(names, l.String())
	}
	return strings.Join(names, ", ")
}
