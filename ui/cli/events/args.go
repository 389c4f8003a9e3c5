package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
	"eventdeck/ui/cli/plain"
)

// argument is one --arg: the values that were given for a key.
type argument struct {
	key    string
	values []string
}

// splitArgs reads the --arg flags, keys in the order of their first use.
func splitArgs(flags []string) ([]argument, error) {
	var args []argument
	at := map[string]int{}
	for _, f := range flags {
		key, value, ok := strings.Cut(f, "=")
		if !ok || key == "" {
			return nil, plain.UsageErrorf("--arg %q: write it as key=value", f)
		}
		if !utf8.ValidString(f) {
			return nil, plain.UsageErrorf("--arg %q: it is not UTF-8", f)
		}
		i, known := at[key]
		if !known {
			i = len(args)
			at[key] = i
			args = append(args, argument{key: key})
		}
		args[i].values = append(args[i].values, value)
	}
	return args, nil
}

// parseArgsJSON reads --args: one JSON object.
func parseArgsJSON(text string) ([]strict.Member, error) {
	if text == "" {
		return nil, nil
	}
	members, err := strict.ParseObject([]byte(text), strict.Limits{})
	if err == nil {
		err = strict.CheckUnicode([]byte(text))
	}
	if err != nil {
		return nil, plain.UsageErrorf("--args: %w", err)
	}
	return members, nil
}

// buildArgs joins --args and --arg into one object. The schema of the event type decides the
// type of each --arg; without one it is a string.
//
// Errors: a usage error for a key that is given twice, [host.ErrArguments] for a value that
// the schema rules out.
func buildArgs(members []strict.Member, args []argument, schema json.RawMessage) (json.RawMessage, error) {
	object := make(map[string]json.RawMessage, len(members)+len(args))
	for _, m := range members {
		object[m.Key.Raw()] = m.Value
	}
	properties := schemaOf(schema).Properties
	for _, a := range args {
		if _, ok := object[a.key]; ok {
			return nil, plain.UsageErrorf("%q is given by --args and by --arg; use one of them", a.key)
		}
		value, err := typedValues(parseSchema(properties[a.key]), a.values)
		if err != nil {
			return nil, fmt.Errorf("%w: %q %w", host.ErrArguments, a.key, err)
		}
		object[a.key] = value
	}
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	b := []byte{'{'}
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(trust.AppendJSONString(b, k), ':')
		b = append(b, object[k]...)
	}
	return append(b, '}'), nil
}

// argSchema is the part of JSON Schema from which the type of a word on the command line
// follows. The rest is left to the check by the whole schema.
type argSchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Type       oneOrMany                  `json:"type"`
	Enum       []json.RawMessage          `json:"enum"`
	Const      json.RawMessage            `json:"const"`
	Items      json.RawMessage            `json:"items"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	OneOf      []json.RawMessage          `json:"oneOf"`
}

// oneOrMany is a string or a list of strings.
type oneOrMany []string

// UnmarshalJSON implements [json.Unmarshaler]. Anything else reads as no string.
func (o *oneOrMany) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*o = oneOrMany{one}
		return nil
	}
	var many []string
	if json.Unmarshal(raw, &many) == nil {
		*o = many
	}
	return nil
}

// schemaOf reads a schema. An invalid one reads as an empty one.
func schemaOf(raw json.RawMessage) argSchema {
	var s argSchema
	if json.Unmarshal(raw, &s) != nil {
		return argSchema{}
	}
	return s
}

// parseSchema reads the schema of one argument, with alternatives flattened: a
// nullable type is often written as one of two.
func parseSchema(raw json.RawMessage) argSchema {
	s := schemaOf(raw)
	for _, list := range [][]json.RawMessage{s.AnyOf, s.OneOf} {
		for _, alternative := range list {
			a := schemaOf(alternative)
			s.Type = append(s.Type, a.Type...)
			s.Enum = append(s.Enum, a.Enum...)
			if a.Const != nil {
				s.Enum = append(s.Enum, a.Const)
			}
			if s.Items == nil {
				s.Items = a.Items
			}
		}
	}
	if s.Const != nil {
		s.Enum = append(s.Enum, s.Const)
	}
	return s
}

func (s argSchema) takes(kind string) bool {
	for _, t := range s.Type {
		if t == kind {
			return true
		}
	}
	return false
}

func typedValues(s argSchema, values []string) (json.RawMessage, error) {
	if !s.takes("array") {
		if len(values) > 1 {
			return nil, fmt.Errorf("is given %d times, and is no list", len(values))
		}
		return typedValue(s, values[0])
	}
	if len(values) == 1 {
		if text := strings.TrimSpace(values[0]); strings.HasPrefix(text, "[") && json.Valid([]byte(text)) {
			return json.RawMessage(text), nil
		}
	}
	items := parseSchema(s.Items)
	b := []byte{'['}
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := typedValue(items, v)
		if err != nil {
			return nil, err
		}
		b = append(b, value...)
	}
	return append(b, ']'), nil
}

// typedValue encodes one word as JSON, as the narrowest type that the schema takes.
func typedValue(s argSchema, v string) (json.RawMessage, error) {
	if len(s.Enum) > 0 {
		return enumValue(s.Enum, v)
	}
	if len(s.Type) == 0 {
		return trust.AppendJSONString(nil, v), nil
	}
	isNumber := isNumber(v)
	switch {
	case s.takes("null") && v == "null" && !s.takes("string"),
		(s.takes("number") || s.takes("integer")) && isNumber,
		s.takes("boolean") && (v == "true" || v == "false"),
		s.takes("object") && isJSON(v, '{'),
		s.takes("array") && isJSON(v, '['):
		return json.RawMessage(v), nil
	case s.takes("string"):
		return trust.AppendJSONString(nil, v), nil
	}
	return nil, fmt.Errorf("must be %s, not %q", article(s.Type), v)
}

func enumValue(enum []json.RawMessage, v string) (json.RawMessage, error) {
	names := make([]string, len(enum))
	for i, e := range enum {
		var word trust.Text
		if json.Unmarshal(e, &word) != nil || bytes.Equal(e, []byte("null")) {
			word = trust.Untrusted(string(e))
		}
		if word.Raw() == v {
			return e, nil
		}
		names[i] = plain.Text(word)
	}
	return nil, fmt.Errorf("must be one of %s, not %q", strings.Join(names, ", "), v)
}

func isNumber(v string) bool {
	return v != "" && (v[0] == '-' || v[0] >= '0' && v[0] <= '9') && json.Valid([]byte(v))
}

func isJSON(v string, first byte) bool {
	return v != "" && v[0] == first && json.Valid([]byte(v))
}

// article joins the names of types for a message. They come from the server.
func article(types []string) string {
	named := make([]string, len(types))
	for i, t := range types {
		named[i] = "a " + plain.Safe(t)
		if strings.HasPrefix(t, "a") || strings.HasPrefix(t, "i") || strings.HasPrefix(t, "o") {
			named[i] = "an " + plain.Safe(t)
		}
	}
	return strings.Join(named, " or ")
}

// findType returns the type of that name.
//
// Errors: [host.ErrUnknownType].
func findType(types []event.Type, name string) (event.Type, error) {
	for _, t := range types {
		if t.Name.Raw() == name {
			return t, nil
		}
	}
	return event.Type{}, fmt.Errorf("%w %q", host.ErrUnknownType, name)
}
