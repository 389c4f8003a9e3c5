package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// Errors of the text of a field.
var (
	errNumber = errors.New("not a number")
	errObject = errors.New("arguments are an object: {…}")
	errMoment = errors.New("not a moment: write 2026-03-14T14:00:00Z, 14:00, now, -1h or +30m")
)

// value returns the value that the entry sends; ok is false if it sends none.
func (e *Entry) value() (v json.RawMessage, ok bool, err error) {
	switch {
	case e.state == null:
		return json.RawMessage("null"), true, nil
	case e.state == unset && !e.Required:
		return nil, false, nil
	case e.state == unset && e.Default != nil:
		return e.Default, true, nil // a required member is sent even with its default
	case e.state == unset && e.Kind == schema.FieldEnum && len(e.Choices) == 1:
		return e.Choices[0].Value, true, nil
	case e.state == unset:
		return nil, false, nil
	}
	switch e.Kind {
	case schema.FieldBoolean, schema.FieldEnum, schema.FieldEnums:
		return e.chosen(), true, nil
	case schema.FieldList:
		v, err = e.list()
	case schema.FieldJSON:
		if v, err = jsonText(e.text); err == nil && len(e.Path) == 0 && !isObject(v) {
			err = errObject
		}
	default:
		v, err = e.scalar(e.Kind, e.text)
	}
	return v, err == nil, err
}

func (e *Entry) chosen() json.RawMessage {
	var values [][]byte
	for _, i := range e.picked {
		values = append(values, e.Choices[i].Value)
	}
	if e.Kind == schema.FieldEnums {
		return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
	}
	return values[0]
}

func (e *Entry) scalar(kind schema.FieldKind, text string) (json.RawMessage, error) {
	switch kind {
	case schema.FieldInteger, schema.FieldNumber:
		text = strings.TrimSpace(text)
		if !isNumber(text) {
			return nil, errNumber
		}
		return json.RawMessage(text), nil
	case schema.FieldBoolean:
		if text = strings.TrimSpace(text); text != "true" && text != "false" {
			return nil, errors.New("write true or false")
		}
		return json.RawMessage(text), nil
	}
	if isMoment(e.Format) && kind == e.Kind {
		if e.means != "" {
			text = e.means
		} else if !isWritten(text, e.Format) {
			return nil, errMoment
		}
	}
	return trust.AppendJSONString(nil, text), nil
}

func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && json.Valid([]byte(text))
}

func (e *Entry) list() (json.RawMessage, error) {
	var values [][]byte
	for i, line := range strings.Split(e.text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		v, err := e.scalar(e.Item, line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		values = append(values, v)
	}
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]")), nil
}

func jsonText(text string) (json.RawMessage, error) {
	if _, err := strict.ParseObject([]byte(`{"v":`+text+`}`), strict.Limits{}); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return b.Bytes(), nil
}

// JSON returns the arguments as they would be sent, without invalid input: see [Model.Problems].
func (m *Model) JSON() json.RawMessage {
	var o object
	for _, x := range m.extra {
		o.put(x.path, x.value)
	}
	for _, e := range m.entries {
		if e.Heading {
			if e.Required {
				o.section(e.Path)
			}
			continue
		}
		v, ok, err := e.value()
		switch {
		case !ok || err != nil:
		case len(e.Path) == 0:
			return v
		default:
			o.put(e.Path, v)
		}
	}
	return o.json()
}

// Problem is a problem with the input.
type Problem struct {
	Entry   *Entry // nil: the arguments as a whole
	Text    string // safe to print
	Missing bool   // a required entry has no input yet
}

// Problems returns the reasons why the arguments would not be accepted: invalid input, text that is
// not Unicode, and violations of the schema.
func (m *Model) Problems() []Problem {
	var found []Problem
	wrong := map[*Entry]bool{}
	for _, e := range m.entries {
		if e.Heading {
			continue
		}
		v, ok, err := e.value()
		if err == nil && ok {
			err = strict.CheckUnicode(v)
		}
		if err != nil {
			found = append(found, Problem{Entry: e, Text: trust.Line(trust.Unescaped(err.Error())).Plain()})
			wrong[e] = true
		}
	}
	for _, p := range schema.CheckArguments(m.typ, m.JSON()) {
		e := m.at(p.Path.Raw())
		if e != nil && wrong[e] {
			continue
		}
		if e != nil {
			wrong[e] = true
		}
		missing := e != nil && !e.Set() && p.Says == schema.Missing
		text := p.Says
		if e == nil && p.Path.Raw() != "" {
			text = trust.Line(p.Path).Plain() + " " + text
		}
		found = append(found, Problem{Entry: e, Text: text, Missing: missing})
	}
	return found
}

// Named returns the entry for the name or JSON pointer of a field in a server's error, nil if there
// is none.
func (m *Model) Named(field string) *Entry {
	if e := m.at(field); e != nil {
		return e
	}
	field = strings.TrimPrefix(field, "arguments.")
	for _, e := range m.entries {
		if len(e.Path) > 0 && (strings.Join(e.Path, ".") == field || e.Path[len(e.Path)-1] == field) {
			return e
		}
	}
	return nil
}

// at returns the entry at a JSON pointer, or above it.
func (m *Model) at(pointer string) *Entry {
	if len(m.entries) == 1 && len(m.entries[0].Path) == 0 {
		return m.entries[0]
	}
	if pointer == "" || pointer[0] != '/' {
		return nil
	}
	var best *Entry
	for _, e := range m.entries {
		p := e.pointer()
		if (pointer == p || strings.HasPrefix(pointer, p+"/")) && (best == nil || len(e.Path) > len(best.Path)) {
			best = e
		}
	}
	return best
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func (e *Entry) pointer() string {
	var b strings.Builder
	for _, name := range e.Path {
		b.WriteString("/" + pointerEscapes.Replace(name))
	}
	return b.String()
}
