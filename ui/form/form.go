// Package form is the model of a form for the arguments of an event type, made from its schema: the
// input, the arguments that it yields, and its problems. It draws nothing and sends nothing.
package form

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
)

// Entry is one line of a form: an input field, or the heading of a section.
type Entry struct {
	schema.Field
	Depth   int  // number of enclosing sections
	Heading bool // the heading of a section, which takes no input

	made   schema.Field // the field of the schema, before a value was loaded
	state  state
	text   string
	picked []int  // indexes of the picked choices, in the order in which they are sent
	means  string // the moment that a relative text means
	now    func() time.Time
}

type state uint8

const (
	unset state = iota // no input: not sent
	filled
	null
)

// Model is a form with its input.
type Model struct {
	typ     event.Type
	entries []*Entry
	extra   []member // loaded arguments without a field
	base    string   // the arguments that were loaded last
}

// New returns an empty form for a type. A type without a usable schema has one entry, which is the
// JSON of all arguments. now is the clock for relative moments.
func New(t event.Type, now func() time.Time) *Model {
	m := &Model{typ: t}
	m.add(schema.Fields(t), 0, now)
	if len(m.entries) == 0 {
		why := "JSON; the type says nothing about its arguments"
		if t.InputSchema != nil {
			why = "JSON; the type names no arguments"
		}
		f := schema.Field{Kind: schema.FieldJSON, Hint: trust.Untrusted(why)}
		m.entries = []*Entry{{Field: f, made: f, now: now}}
	}
	m.base = string(m.JSON())
	return m
}

func (m *Model) add(fields []schema.Field, depth int, now func() time.Time) {
	for _, f := range fields {
		e := &Entry{Field: f, Depth: depth, Heading: f.Kind == schema.FieldSection, now: now}
		if f.Kind == schema.FieldBoolean {
			for _, v := range []string{"true", "false"} {
				e.Choices = append(e.Choices, schema.Choice{Value: json.RawMessage(v), Label: trust.Untrusted(v)})
			}
		}
		e.made = e.Field
		m.entries = append(m.entries, e)
		m.add(f.Fields, depth+1, now)
	}
}

// Entries returns the lines of the form in order.
func (m *Model) Entries() []*Entry { return m.entries }

// Type returns the event type that the form is for.
func (m *Model) Type() event.Type { return m.typ }

// Extra returns the loaded arguments without a field, as JSON; nil if there are none. They are sent
// unchanged.
func (m *Model) Extra() json.RawMessage {
	if len(m.extra) == 0 {
		return nil
	}
	var o object
	for _, x := range m.extra {
		o.put(x.path, x.value)
	}
	return o.json()
}

// Dirty reports whether the arguments differ from those that were loaded.
func (m *Model) Dirty() bool {
	for _, e := range m.entries {
		if _, _, err := e.value(); err != nil {
			return true
		}
	}
	return string(m.JSON()) != m.base
}

// Chooses reports whether the input of the entry is a choice, not a text.
func (e *Entry) Chooses() bool { return len(e.Choices) > 0 }

// Lines reports whether the text may have several lines.
func (e *Entry) Lines() bool { return e.Kind == schema.FieldList || e.Kind == schema.FieldJSON }

// Set reports whether the entry has input, null included.
func (e *Entry) Set() bool { return e.state != unset }

// Null reports whether null is sent.
func (e *Entry) Null() bool { return e.state == null }

// Text returns the input text.
func (e *Entry) Text() string { return e.text }

// Means returns the moment that a relative text means; "" for other texts.
func (e *Entry) Means() string { return e.means }

// Write sets the text of the entry. An empty text is not sent.
func (e *Entry) Write(text string) {
	e.text, e.means, e.state = text, "", filled
	if strings.TrimSpace(text) == "" {
		e.state = unset
	}
	if e.Kind == schema.FieldString && isMoment(e.Format) {
		if t, ok := moment(text, e.Format, e.now()); ok {
			e.means = t
		}
	}
}

// Clear removes the input of the entry.
func (e *Entry) Clear() {
	e.Field = e.made
	e.text, e.means, e.picked, e.state = "", "", nil, unset
}

// SetNull makes null the input, if the schema accepts it.
func (e *Entry) SetNull() {
	if e.Nullable {
		e.Clear()
		e.state = null
	}
}

// TurnNull toggles between null, if the schema accepts it, and no input.
func (e *Entry) TurnNull() {
	if e.Null() {
		e.Clear()
	} else {
		e.SetNull()
	}
}

// Picked reports whether a choice is picked.
func (e *Entry) Picked(i int) bool { return slices.Contains(e.picked, i) }

// Pick picks a choice, the only one or one of several, or unpicks a picked one. Several are sent in
// the order of the schema, except that loaded ones keep their order.
func (e *Entry) Pick(i int) {
	if i < 0 || i >= len(e.Choices) {
		return
	}
	at := slices.Index(e.picked, i)
	switch {
	case at >= 0:
		e.picked = slices.Delete(e.picked, at, at+1)
	case e.Kind != schema.FieldEnums:
		e.picked = []int{i}
	default:
		next := slices.IndexFunc(e.picked, func(picked int) bool { return picked > i })
		if next < 0 {
			next = len(e.picked)
		}
		e.picked = slices.Insert(e.picked, next, i)
	}
	e.text, e.state = "", filled
	if len(e.picked) == 0 {
		e.state = unset
	}
}

// DefaultChoice returns the choice that is the default of the server, -1 if it is unknown.
func (e *Entry) DefaultChoice() int {
	return slices.IndexFunc(e.Choices, func(c schema.Choice) bool { return e.Default != nil && same(c.Value, e.Default) })
}

// same compares values by their canonical spelling.
func same(a, b json.RawMessage) bool {
	wrap := func(v json.RawMessage) string {
		c, err := event.CanonicalArgs([]byte(`{"v":` + string(v) + `}`))
		if err != nil {
			return string(v)
		}
		return string(c)
	}
	return wrap(a) == wrap(b)
}
