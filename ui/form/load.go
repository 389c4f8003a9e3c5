package form

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
)

// Load sets the input to the arguments. A value that does not match its field becomes JSON text
// with a problem; members without a field are kept and sent.
//
// Errors: those of [event.CanonicalArgs]; the form is left as it was.
func (m *Model) Load(args []byte) error {
	if _, err := event.CanonicalArgs(args); err != nil {
		return err
	}
	m.extra = nil
	for _, e := range m.entries {
		e.Clear()
	}
	if len(m.entries) == 1 && len(m.entries[0].Path) == 0 {
		if text := string(bytes.TrimSpace(args)); text != "{}" && text != "" {
			m.entries[0].Write(indented(args))
		}
	} else {
		m.load(nil, args)
	}
	m.base = string(m.JSON())
	return nil
}

func (m *Model) load(path []string, raw json.RawMessage) {
	for _, x := range schema.Members(raw) {
		at := append(slices.Clone(path), x.Key)
		e := m.find(at)
		switch {
		case e == nil, e.Heading && !isObject(x.Value):
			m.extra = append(m.extra, member{path: at, value: x.Value})
		case e.Heading:
			m.load(at, x.Value)
		default:
			e.load(x.Value)
		}
	}
}

func (m *Model) find(path []string) *Entry {
	for _, e := range m.entries {
		if slices.Equal(e.Path, path) {
			return e
		}
	}
	return nil
}

// load sets the input of one entry to a value.
func (e *Entry) load(v json.RawMessage) {
	e.Clear()
	var s string
	switch {
	case string(v) == "null" && e.Nullable:
		e.SetNull()
	case e.Kind == schema.FieldEnums && e.loadMany(v):
	case e.Chooses() && e.loadOne(v):
	case e.Kind == schema.FieldList && e.loadLines(v):
	case e.Kind == schema.FieldString && json.Unmarshal(v, &s) == nil && s != "" && string(v) != "null":
		e.Write(s)
	case (e.Kind == schema.FieldInteger || e.Kind == schema.FieldNumber) && isNumber(string(v)):
		e.Write(string(v))
	default:
		e.Kind, e.Choices = schema.FieldJSON, nil // the kind of the field cannot show the value
		e.Hint = trust.Untrusted("JSON")
		e.Write(indented(v))
	}
}

func (e *Entry) loadOne(v json.RawMessage) bool {
	i := slices.IndexFunc(e.Choices, func(c schema.Choice) bool { return same(c.Value, v) })
	e.Pick(i)
	return i >= 0
}

func (e *Entry) loadMany(v json.RawMessage) bool {
	values, ok := elements(v)
	if !ok {
		return false
	}
	var picked []int
	for _, one := range values {
		i := slices.IndexFunc(e.Choices, func(c schema.Choice) bool { return same(c.Value, one) })
		if i < 0 || slices.Contains(picked, i) {
			return false
		}
		picked = append(picked, i)
	}
	e.picked, e.state = picked, filled
	return true
}

// elements returns the elements of an array that is not empty.
func elements(v json.RawMessage) (values []json.RawMessage, ok bool) {
	err := json.Unmarshal(v, &values)
	return values, err == nil && len(values) > 0
}

func (e *Entry) loadLines(v json.RawMessage) bool {
	values, ok := elements(v)
	if !ok {
		return false
	}
	var lines []string
	for _, one := range values {
		line := string(one)
		if e.Item == schema.FieldString && (json.Unmarshal(one, &line) != nil || one[0] != '"') {
			return false
		}
		sent, err := e.scalar(e.Item, line)
		if err != nil || !same(sent, one) || strings.TrimSpace(line) == "" || strings.Contains(line, "\n") {
			return false
		}
		lines = append(lines, line)
	}
	e.Write(strings.Join(lines, "\n"))
	return true
}

func indented(v json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, v, "", "  ") != nil {
		return string(v)
	}
	return b.String()
}

// member is a value somewhere in an object.
type member struct {
	path  []string
	value json.RawMessage
}

func isObject(raw json.RawMessage) bool {
	t := bytes.TrimSpace(raw)
	return len(t) > 0 && t[0] == '{'
}

// object builds a JSON object whose members keep the order in which they came.
type object struct {
	keys  []string
	kids  map[string]*object
	value json.RawMessage // of a leaf
}

func (o *object) put(path []string, v json.RawMessage) { o.section(path).value = v }

// section returns the node at a path, which it makes if necessary. Leaves on the way become
// objects.
func (o *object) section(path []string) *object {
	if len(path) == 0 {
		return o
	}
	o.value = nil
	if o.kids == nil {
		o.kids = map[string]*object{}
	}
	kid := o.kids[path[0]]
	if kid == nil {
		kid = &object{}
		o.kids[path[0]] = kid
		o.keys = append(o.keys, path[0])
	}
	return kid.section(path[1:])
}

func (o *object) json() json.RawMessage {
	if o.value != nil {
		return o.value
	}
	b := []byte{'{'}
	for i, k := range o.keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(trust.AppendJSONString(b, k), ':')
		b = append(b, o.kids[k].json()...)
	}
	return append(b, '}')
}
