// Package form is the model of a form that is made from the schema of an event
// type: what was filled in, what of it is sent, and what is wrong with it. It
// draws nothing and sends nothing.
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

// Entry is one line of a form: a field that is filled in, or the heading of a
// section.
type Entry struct {
	schema.Field
	Depth   int  // sections around it
	Heading bool // of a section: nothing is filled in here

	made   schema.Field // as the schema wants it, whatever was loaded into it
	state  state
	text   string
	picked []int  // the chosen ones, in the order in which they are sent
	means  string // what a moment in words stands for
	now    func() time.Time
}

type state uint8

const (
	unset state = iota // left alone: not sent
	filled
	null
)

// Model is a form and what was filled in.
type Model struct {
	typ     event.Type
	entries []*Entry
	extra   []member // of loaded arguments: what no field has
	base    string   // the arguments that were loaded last
}

// New returns an empty form for a type. A type without a usable schema has one
// entry, which is the JSON of all arguments. Now is the clock for moments that
// are written relative to it.
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

// Extra are the loaded arguments that no field has, as JSON; nil if there are
// none. They are sent as they were.
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

// Chooses reports whether the entry is filled in by choosing, not by writing.
func (e *Entry) Chooses() bool { return len(e.Choices) > 0 }

// Lines reports whether the text may have several lines.
func (e *Entry) Lines() bool { return e.Kind == schema.FieldList || e.Kind == schema.FieldJSON }

// Set reports whether something was filled in, null included.
func (e *Entry) Set() bool { return e.state != unset }

// Null reports whether null is sent.
func (e *Entry) Null() bool { return e.state == null }

// Text is what was written.
func (e *Entry) Text() string { return e.text }

// Means is the moment for which the text stands; "" if it stands for itself.
func (e *Entry) Means() string { return e.means }

// Write fills the entry in. Nothing written is nothing sent.
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

// Clear leaves the entry as if it had never been touched.
func (e *Entry) Clear() {
	e.Field = e.made
	e.text, e.means, e.picked, e.state = "", "", nil, unset
}

// SetNull sends null, where the schema takes it.
func (e *Entry) SetNull() {
	if e.Nullable {
		e.Clear()
		e.state = null
	}
}

// TurnNull sends null where the schema takes it, or takes it back.
func (e *Entry) TurnNull() {
	if e.Null() {
		e.Clear()
	} else {
		e.SetNull()
	}
}

// Picked reports whether a choice is chosen.
func (e *Entry) Picked(i int) bool { return slices.Contains(e.picked, i) }

// Pick chooses: the one choice, or one more of several; a choice that was chosen
// is taken back. Several are sent in the order of the schema; what was loaded in another
// order keeps it.
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

// DefaultChoice returns the choice that the server takes when nothing is sent,
// -1 if it is not known.
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
