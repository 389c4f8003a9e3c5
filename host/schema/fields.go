package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// FieldKind says how a [Field] is filled in.
type FieldKind uint8

// The kinds of fields.
const (
	FieldString  FieldKind = iota // text
	FieldInteger                  // a whole number
	FieldNumber                   // a number
	FieldBoolean                  // true or false
	FieldEnum                     // one of Choices
	FieldEnums                    // any of Choices: an array
	FieldList                     // scalars of the kind Item, one a line: an array
	FieldSection                  // an object with Fields of its own
	FieldJSON                     // anything else: JSON text
)

// Choice is a value that a field can take, in the server's spelling.
type Choice struct {
	Value json.RawMessage
	Label trust.Text // what to show
}

// Field is one argument of an event type, as a form asks for it.
type Field struct {
	Path        []string // member names from the arguments' object down
	Title       trust.Text
	Description trust.Text // the server's words
	Kind        FieldKind
	Required    bool
	Nullable    bool            // takes null, too
	Default     json.RawMessage // nil: none
	Choices     []Choice
	Examples    []trust.Text // of a string
	Item        FieldKind    // of a list
	Format      string       // of a string: date-time, date, …; "" if there is none
	Secret      bool         // its value is shown masked: format password, or writeOnly
	Hint        trust.Text
	Fields      []Field // of a section
}

// Name is the last part of the path.
func (f *Field) Name() trust.Text {
	if len(f.Path) == 0 {
		return trust.Text{}
	}
	return trust.Untrusted(f.Path[len(f.Path)-1])
}

// Bounds of [Fields]. Arguments beyond them are entered as JSON.
const (
	maxFields       = 200 // in a form, sections too
	maxFieldNesting = 4   // sections in sections
	maxFieldRefs    = 16  // references that are followed for one field
	maxChoices      = 500
)

// Fields returns the form fields for the arguments of a type, made from its schema: required
// ones first, each group in the schema's order. A type without a usable schema has none: its
// arguments are entered as JSON.
//
// The time and the number of fields are bounded, whatever the schema holds. A part that fits
// no other kind is a [FieldJSON].
func Fields(t event.Type) []Field {
	if Check(t.InputSchema) != nil {
		return nil
	}
	m := fieldMaker{
		root: t.InputSchema, refs: map[string]json.RawMessage{}, left: maxFields,
		anySecret: sync.OnceValue(func() bool { return callsSecret(t.InputSchema, false) }),
	}
	n, ok := m.node(t.InputSchema)
	if !ok {
		return nil
	}
	return m.members(n, nil, 0)
}

// schemaNode holds the keywords of a schema that determine a field.
type schemaNode struct {
	Ref         string            `json:"$ref"`
	Type        json.RawMessage   `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default"`
	Examples    []json.RawMessage `json:"examples"`
	Const       json.RawMessage   `json:"const"`
	Enum        []json.RawMessage `json:"enum"`
	AnyOf       []json.RawMessage `json:"anyOf"`
	OneOf       []json.RawMessage `json:"oneOf"`
	AllOf       []json.RawMessage `json:"allOf"`

	Format           string      `json:"format"`
	WriteOnly        bool        `json:"writeOnly"`
	Pattern          string      `json:"pattern"`
	MinLength        json.Number `json:"minLength"`
	MaxLength        json.Number `json:"maxLength"`
	Minimum          json.Number `json:"minimum"`
	Maximum          json.Number `json:"maximum"`
	ExclusiveMinimum json.Number `json:"exclusiveMinimum"`
	ExclusiveMaximum json.Number `json:"exclusiveMaximum"`
	MultipleOf       json.Number `json:"multipleOf"`

	Items       json.RawMessage `json:"items"`
	PrefixItems json.RawMessage `json:"prefixItems"`
	MinItems    json.Number     `json:"minItems"`
	MaxItems    json.Number     `json:"maxItems"`
	UniqueItems bool            `json:"uniqueItems"`

	Properties           json.RawMessage `json:"properties"`
	Required             []string        `json:"required"`
	AdditionalProperties json.RawMessage `json:"additionalProperties"`
	PatternProperties    json.RawMessage `json:"patternProperties"`
	PropertyNames        json.RawMessage `json:"propertyNames"`
	If                   json.RawMessage `json:"if"`
	Not                  json.RawMessage `json:"not"`
	DependentSchemas     json.RawMessage `json:"dependentSchemas"`

	types    []string // of Type, without null
	nullable bool
}

// fieldMaker makes fields from one schema.
type fieldMaker struct {
	root json.RawMessage
	refs map[string]json.RawMessage // resolved references
	left int                        // fields that may still be made

	anySecret func() bool // something in the schema is secret
}

// node reads a schema. References, unions with null and an allOf of one part are flattened.
// It reports false for a value that is no object, and for keywords of a wrong type.
func (m *fieldMaker) node(raw json.RawMessage) (schemaNode, bool) {
	var n schemaNode
	if !isObject(raw) || json.Unmarshal(raw, &n) != nil {
		return schemaNode{}, false
	}
	for range maxFieldRefs {
		var inner json.RawMessage
		nullable := n.nullable
		switch {
		case n.Ref != "":
			inner = m.lookUp(n.Ref)
		case len(n.AllOf) == 1 && len(n.Type) == 0 && len(n.Properties) == 0:
			inner = n.AllOf[0]
		case len(n.Type) == 0 && (len(n.AnyOf) == 2 || len(n.OneOf) == 2):
			some, null, ok := orNull(append(slices.Clone(n.AnyOf), n.OneOf...))
			if !ok {
				return n, n.readTypes()
			}
			inner, nullable = some, null
		default:
			return n, n.readTypes()
		}
		var target schemaNode
		if !isObject(inner) || json.Unmarshal(inner, &target) != nil {
			return schemaNode{}, false
		}
		target.nullable = nullable
		n = target.describedBy(n)
	}
	return schemaNode{}, false
}

// lookUp follows a reference within the schema. It returns the text unchanged, since a form
// keeps the order of members and the spelling of numbers.
func (m *fieldMaker) lookUp(ref string) json.RawMessage {
	if raw, ok := m.refs[ref]; ok {
		return raw
	}
	raw := m.root
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || strings.Contains(path, "%") || path != "" && path[0] != '/' {
		return nil
	}
	if path != "" {
		for _, name := range strings.Split(path[1:], "/") {
			var object map[string]json.RawMessage
			if json.Unmarshal(raw, &object) != nil {
				return nil
			}
			raw = object[pointerUnescapes.Replace(name)]
		}
	}
	m.refs[ref] = raw
	return raw
}

// describedBy returns a schema with the title, description and default of the one that refers
// to it, where that has them.
func (n schemaNode) describedBy(outer schemaNode) schemaNode {
	if outer.Title != "" {
		n.Title = outer.Title
	}
	if outer.Description != "" {
		n.Description = outer.Description
	}
	if len(outer.Default) > 0 {
		n.Default = outer.Default
	}
	n.nullable = n.nullable || outer.nullable
	return n
}

// orNull returns the part of a union of two that is not null. ok is false if none is null.
func orNull(parts []json.RawMessage) (some json.RawMessage, null, ok bool) {
	for i, p := range parts {
		var s struct {
			Type  string          `json:"type"`
			Const json.RawMessage `json:"const"`
		}
		if json.Unmarshal(p, &s) == nil && (s.Type == "null" || string(s.Const) == "null") {
			return parts[1-i], true, true
		}
	}
	return nil, false, false
}

// readTypes reads the keyword type, a name or a list of names.
func (n *schemaNode) readTypes() bool {
	if len(n.Type) == 0 {
		if len(n.Properties) > 0 {
			n.types = []string{"object"}
		}
		return true
	}
	var one string
	if json.Unmarshal(n.Type, &one) == nil {
		n.types = []string{one}
		return true
	}
	if json.Unmarshal(n.Type, &n.types) != nil {
		return false
	}
	if i := slices.Index(n.types, "null"); i >= 0 {
		n.types = slices.Delete(n.types, i, i+1)
		n.nullable = true
	}
	return true
}

// members makes the fields of an object.
func (m *fieldMaker) members(n schemaNode, path []string, depth int) []Field {
	var first, rest []Field
	for _, p := range Members(n.Properties) {
		if m.left--; m.left < 0 {
			break
		}
		f := m.field(p.Value, append(slices.Clone(path), p.Key), depth)
		if slices.Contains(n.Required, p.Key) {
			f.Required = true
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	return append(first, rest...)
}

func (m *fieldMaker) field(raw json.RawMessage, path []string, depth int) Field {
	f := m.fieldOf(raw, path, depth)
	if f.Kind == FieldJSON && !f.Secret {
		f.Secret = m.holdsSecret(raw)
	}
	return f
}

func (m *fieldMaker) fieldOf(raw json.RawMessage, path []string, depth int) Field {
	f := Field{Path: path, Kind: FieldJSON, Hint: trust.Untrusted("JSON")}
	n, ok := m.node(raw)
	if !ok {
		return f
	}
	f.Title, f.Description = trust.Untrusted(n.Title), trust.Untrusted(n.Description)
	f.Nullable = n.nullable
	f.Secret = n.secret()
	if len(n.Default) > 0 && string(n.Default) != "null" {
		f.Default = n.Default
	}
	switch choices := n.choices(); {
	case len(choices) > 0:
		f.Kind, f.Choices = FieldEnum, choices
		f.Hint = trust.Untrusted(fmt.Sprintf("one of %d", len(choices)))
	case len(n.types) == 1:
		m.typed(&f, n, depth)
	}
	if f.Kind == FieldString {
		f.Examples = n.examples()
	}
	if f.Nullable {
		f.Hint = trust.Untrusted(f.Hint.Raw() + ", or null")
	}
	return f
}

// examples returns the texts that the schema gives as examples.
func (n schemaNode) examples() (texts []trust.Text) {
	for _, raw := range n.Examples[:min(len(n.Examples), maxChoices)] {
		var s string
		if json.Unmarshal(raw, &s) == nil && s != "" && !slices.Contains(texts, trust.Untrusted(s)) {
			texts = append(texts, trust.Untrusted(s))
		}
	}
	return texts
}

// typed sets the field of a schema with a single type.
func (m *fieldMaker) typed(f *Field, n schemaNode, depth int) {
	switch kind := n.types[0]; kind {
	case "string", "integer", "number", "boolean":
		f.Kind, f.Format, f.Hint = scalars[kind], n.Format, trust.Untrusted(n.hint(kind))
	case "array":
		if items, ok := m.node(n.Items); ok && len(n.PrefixItems) == 0 {
			m.list(f, n, items)
		}
	case "object":
		if depth < maxFieldNesting && n.plainObject() {
			f.Kind, f.Hint = FieldSection, trust.Text{}
			f.Fields = m.members(n, f.Path, depth+1)
		}
	}
	if f.Kind == FieldSection && len(f.Fields) == 0 {
		f.Kind, f.Hint = FieldJSON, trust.Untrusted("JSON")
	}
}

var scalars = map[string]FieldKind{"string": FieldString, "integer": FieldInteger, "number": FieldNumber, "boolean": FieldBoolean}

func (m *fieldMaker) list(f *Field, n, items schemaNode) {
	size := bounds(n.MinItems, n.MaxItems, " items")
	if choices := items.choices(); len(choices) > 0 {
		f.Kind, f.Choices = FieldEnums, choices
		f.Hint = trust.Untrusted(joined("any of "+fmt.Sprint(len(choices)), size))
		return
	}
	if len(items.types) != 1 || items.nullable {
		return
	}
	item, ok := scalars[items.types[0]]
	if !ok {
		return
	}
	f.Kind, f.Item, f.Format = FieldList, item, items.Format
	f.Secret = f.Secret || items.secret()
	f.Hint = trust.Untrusted(joined("one a line: "+items.hint(items.types[0]), size))
}

// plainObject reports whether the schema describes an object by its properties alone.
func (n *schemaNode) plainObject() bool {
	for _, raw := range []json.RawMessage{n.PatternProperties, n.PropertyNames, n.If, n.Not, n.DependentSchemas} {
		if len(raw) > 0 {
			return false
		}
	}
	return len(n.AnyOf)+len(n.OneOf)+len(n.AllOf) == 0 && !isObject(n.AdditionalProperties)
}

// choices are the values of an enumeration: enum, const, or a union of constants.
func (n *schemaNode) choices() []Choice {
	var out []Choice
	add := func(value json.RawMessage, title string) {
		label := trust.Untrusted(title)
		if title == "" {
			label = spelled(value)
		}
		out = append(out, Choice{Value: value, Label: label})
	}
	switch parts := append(slices.Clone(n.AnyOf), n.OneOf...); {
	case len(n.Enum) > 0:
		for _, v := range n.Enum {
			add(v, "")
		}
	case len(n.Const) > 0:
		add(n.Const, "")
	case len(parts) > 0:
		for _, p := range parts {
			var c struct {
				Const json.RawMessage `json:"const"`
				Title string          `json:"title"`
			}
			if json.Unmarshal(p, &c) != nil || len(c.Const) == 0 {
				return nil
			}
			add(c.Const, c.Title)
		}
	}
	return out[:min(len(out), maxChoices)]
}

// spelled returns a value for people: a string without quotes, unless it would read as another
// value.
func spelled(value json.RawMessage) trust.Text {
	var s string
	if json.Unmarshal(value, &s) == nil && s != "" && !json.Valid([]byte(s)) {
		return trust.Untrusted(s)
	}
	return trust.Untrusted(string(value))
}

// hint returns what values a scalar takes, in words.
func (n *schemaNode) hint(kind string) string {
	switch kind {
	case "boolean":
		return "true or false"
	case "string":
		text := "text"
		if n.Format != "" {
			text = n.Format
		}
		size := bounds(n.MinLength, n.MaxLength, " characters")
		if n.Pattern != "" {
			size = joined(size, "matches "+n.Pattern)
		}
		return joined(text, size)
	}
	text := joined(kind, bounds(n.Minimum, n.Maximum, ""))
	if n.ExclusiveMinimum != "" {
		text = joined(text, "more than "+n.ExclusiveMinimum.String())
	}
	if n.ExclusiveMaximum != "" {
		text = joined(text, "less than "+n.ExclusiveMaximum.String())
	}
	if n.MultipleOf != "" {
		text = joined(text, "a multiple of "+n.MultipleOf.String())
	}
	return text
}

// bounds returns the bounds of a number in words, followed by unit.
func bounds(least, most json.Number, unit string) string {
	switch {
	case least != "" && most != "":
		return least.String() + " to " + most.String() + unit
	case least != "":
		return "at least " + least.String() + unit
	case most != "":
		return "at most " + most.String() + unit
	}
	return ""
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

func isObject(raw json.RawMessage) bool {
	t := bytes.TrimSpace(raw)
	return len(t) > 0 && t[0] == '{'
}

// Member is a member of an object.
type Member struct {
	Key   string
	Value json.RawMessage
}

// Members returns the members of an object in the order of its text, none of any other
// value. Names are decoded as encoding/json decodes them, since the validator does so: two
// that differ in lone surrogates alone are the same name and still two members.
func Members(raw json.RawMessage) []Member {
	if !isObject(raw) {
		return nil
	}
	text := jsontext.View(raw)
	var out []Member
	for m := jsontext.Enter(text, jsontext.SkipSpace(text, 0)); m.Next(); {
		var key string
		if json.Unmarshal([]byte(`"`+m.Key+`"`), &key) != nil {
			return out
		}
		out = append(out, Member{key, raw[m.Value:m.End:m.End]})
	}
	return out
}
