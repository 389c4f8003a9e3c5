package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/redact"
	"eventdeck/host/trust"
)

// secret reports whether the value must not be shown: the annotation writeOnly of JSON Schema,
// or format password of OpenAPI.
func (n *schemaNode) secret() bool { return n.WriteOnly || n.Format == "password" }

// holdsSecret reports whether any part of a schema may be secret; then JSON that it describes
// is masked as a whole. A reference in it may lead to any secret of the schema.
func (m *fieldMaker) holdsSecret(raw json.RawMessage) bool {
	return m.anySecret() && callsSecret(raw, true)
}

// callsSecret looks for the keywords at every depth; with refs, references count as secret.
func callsSecret(raw json.RawMessage, refs bool) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return false
	}
	var within func(v any) bool
	within = func(v any) bool {
		switch v := v.(type) {
		case map[string]any:
			for name, value := range v {
				// Names match as those of fields do.
				switch text, isText := value.(string); {
				case strings.EqualFold(name, "writeOnly") && value == true,
					strings.EqualFold(name, "format") && text == "password",
					strings.EqualFold(name, "$ref") && refs && isText:
					return true
				}
				if within(value) {
					return true
				}
			}
			return false
		case []any:
			return slices.ContainsFunc(v, within)
		}
		return false
	}
	return within(v)
}

// MaskArguments returns the arguments of a type as they may be shown: values that its schema
// calls secret are "***", and so are values without fields that may hold secret ones. Arguments
// without such values, and those that are no object, are returned unchanged.
func MaskArguments(t event.Type, args json.RawMessage) json.RawMessage {
	masked, _ := maskFields(Fields(t), args)
	return masked
}

// ShownArguments returns the masked arguments of a subscription; nil if none is secret. See
// [event.Subscription].
func ShownArguments(t event.Type, args json.RawMessage) json.RawMessage {
	if masked, hid := maskFields(Fields(t), args); hid {
		return masked
	}
	return nil
}

// maskFields masks the secret members of an object and reports whether there are any.
func maskFields(fields []Field, object json.RawMessage) (json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object, false
	}
	any := false
	for _, f := range fields {
		name := f.Name().Raw()
		value, there := members[name]
		switch {
		case !there:
		case f.Secret:
			members[name], any = json.RawMessage(`"`+redact.Shown+`"`), true
		case f.Kind == FieldSection:
			if inner, hid := maskFields(f.Fields, value); hid {
				members[name], any = inner, true
			}
		}
	}
	if !any {
		return object, false
	}
	masked, err := json.Marshal(members)
	if err != nil { // of members that were just read: it cannot be shown
		return json.RawMessage(`{}`), true
	}
	return masked, true
}

// Secrets returns the secrets in arguments of a type.
func Secrets(t event.Type, args json.RawMessage) *redact.Set {
	set := new(redact.Set)
	set.Add(SecretArguments(args, ShownArguments(t, args))...)
	return set
}

// SecretArguments returns the scalars of args that are masked in shown.
func SecretArguments(args, shown json.RawMessage) []redact.Value {
	return secretArguments("", args, shown)
}

// secretArguments is SecretArguments for the value of a member.
func secretArguments(member string, args, shown json.RawMessage) (out []redact.Value) {
	var open map[string]json.RawMessage
	switch {
	case string(shown) == `"`+redact.Shown+`"`:
		return leaves(member, args)
	case len(shown) == 0 || json.Unmarshal(shown, &open) != nil:
		return nil
	}
	for _, m := range Members(args) {
		out = append(out, secretArguments(m.Key, m.Value, open[m.Key])...)
	}
	return out
}

// leaves returns every string, number and boolean within a value.
func leaves(member string, value json.RawMessage) (out []redact.Value) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	switch value[0] {
	case '{':
		for _, m := range Members(value) {
			out = append(out, leaves(m.Key, m.Value)...)
		}
		return out
	case '[':
		var items []json.RawMessage
		if json.Unmarshal(value, &items) != nil {
			return nil
		}
		for _, item := range items {
			out = append(out, leaves(member, item)...)
		}
		return out
	}
	text := trust.Untrusted(string(value))
	if value[0] == '"' && json.Unmarshal(value, &text) != nil {
		return nil
	}
	return []redact.Value{{Member: member, Secret: event.NewSecret(text.Raw())}}
}
