package host

import (
	"encoding/json"

	"eventdeck/host/event"
)

// secretShown stands for a value that is not shown.
const secretShown = "***"

// secret tells whether what stands there is not to be shown: JSON Schema, format
// password of OpenAPI and the annotation writeOnly.
func (n *schemaNode) secret() bool { return n.WriteOnly || n.Format == "password" }

// MaskArguments returns the arguments of a type as they may be shown: the values that
// its schema calls secret are "***". Arguments without such values, and those that are
// no object, are returned as they are.
func MaskArguments(t event.Type, args json.RawMessage) json.RawMessage {
	masked, _ := maskFields(Fields(t), args)
	return masked
}

// maskFields masks the members of an object and tells whether there were any.
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
			members[name], any = json.RawMessage(`"`+secretShown+`"`), true
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
