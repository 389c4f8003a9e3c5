package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// ErrArguments: the arguments fail the schema of their type; the text names the field.
var ErrArguments = errors.New("arguments not accepted")

// ValidateArguments validates canonical arguments against the type's schema. A schema that
// cannot be used, is recursive, or is too complex for the size of the arguments checks
// nothing: the server decides.
//
// Error: [ErrArguments], which may quote the arguments: see [Secrets].
func ValidateArguments(t event.Type, args []byte) error {
	schema, resolved := usable(t.InputSchema)
	if schema == nil {
		return nil
	}
	var value map[string]any
	if err := json.Unmarshal(args, &value); err != nil {
		return fmt.Errorf("%w: %w", ErrArguments, err)
	}
	if !affordable(schema, value) {
		return nil
	}
	for _, name := range schema.Required {
		if _, ok := value[name]; !ok {
			return fmt.Errorf("%w: %s needs %s%s", ErrArguments, quotedName(t.Name.Raw()), quotedName(name), wanted(schema.Properties[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		prop := schema.Properties[name]
		if prop == nil {
			continue
		}
		if err := validate(prop, value[name]); err != nil {
			return fmt.Errorf("%w: %s%s: %s", ErrArguments, quotedName(name), wanted(prop), clean(err))
		}
	}
	if err := resolved.Validate(value); err != nil {
		return fmt.Errorf("%w: %s", ErrArguments, clean(err))
	}
	return nil
}

// CheckStrictly validates the arguments of a tool call by a model or an agent, which are not
// trusted. Unlike [ValidateArguments] it refuses all arguments where the schema cannot be
// used, and names that the schema does not describe where it describes any.
//
// Errors: [ErrArguments], [ErrSchema].
func CheckStrictly(tool string, raw json.RawMessage, args []byte) error {
	s, _ := usable(raw)
	if s == nil {
		return fmt.Errorf("%w: that of %s", ErrSchema, quotedName(tool))
	}
	var value map[string]any
	if err := json.Unmarshal(args, &value); err != nil {
		return fmt.Errorf("%w: %w", ErrArguments, err)
	}
	if !affordable(s, value) {
		return fmt.Errorf("%w: that of %s takes too long to check for so many values", ErrSchema, quotedName(tool))
	}
	if s.AdditionalProperties == nil && len(s.Properties) > 0 && !indirect(s) {
		for name := range value {
			if s.Properties[name] == nil {
				return fmt.Errorf("%w: %s has no %s", ErrArguments, quotedName(tool), quotedName(name))
			}
		}
	}
	return ValidateArguments(event.Type{Name: trust.Untrusted(tool), InputSchema: raw}, args)
}

// CheckArguments validates arguments against the inputSchema of their type and
// says where they fail, as [CheckPayload] does for payloads.
func CheckArguments(t event.Type, args []byte) []Problem {
	found := checkSchema(t.InputSchema, args)
	if len(found) == 0 {
		return nil
	}
	set := Secrets(t, args)
	for i := range found {
		found[i].Says = set.String(found[i].Says)
	}
	return found
}

// maxName is the most of a name that an error quotes, in bytes.
const maxName = 200

// quotedName returns an untrusted name, quoted and cut for an error.
func quotedName(name string) string {
	if len(name) > maxName {
		return strconv.QuoteToASCII(name[:maxName]) + "…"
	}
	return strconv.QuoteToASCII(name)
}

// clean returns a validator's message, which quotes the server's schema, as one printable
// line.
func clean(err error) string {
	return trust.Line(trust.Unescaped(strings.Join(strings.Fields(err.Error()), " "))).Plain()
}

// wanted returns what values a property takes, in words for an error.
func wanted(s *jsonschema.Schema) string {
	switch {
	case s == nil:
		return ""
	case len(s.Enum) > 0:
		raw, err := json.Marshal(s.Enum)
		if err != nil {
			return ""
		}
		return " (one of " + trust.Line(trust.Untrusted(string(raw))).Plain() + ")"
	case s.Type != "":
		return " (" + trust.Line(trust.Untrusted(s.Type)).Plain() + ")"
	}
	return ""
}

// Skeleton returns an object of arguments for the type: required members with
// placeholders, defaults where the schema has them.
func Skeleton(t event.Type) []byte {
	schema := decode(t.InputSchema)
	if schema == nil {
		return []byte("{}")
	}
	value := map[string]any{}
	for _, name := range schema.Required {
		value[name] = placeholder(schema.Properties[name])
	}
	for name, prop := range schema.Properties {
		if prop != nil && len(prop.Default) > 0 {
			value[name] = prop.Default
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(value) != nil {
		return []byte("{}")
	}
	return bytes.TrimSpace(b.Bytes())
}

func placeholder(s *jsonschema.Schema) any {
	switch {
	case s == nil:
		return nil
	case len(s.Default) > 0:
		return s.Default
	case s.Const != nil:
		return *s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	kind := s.Type
	if kind == "" && len(s.Types) > 0 {
		kind = s.Types[0]
	}
	switch kind {
	case "string":
		return ""
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 0
	case "boolean":
		return false
	case "array":
		return []any{}
	case "object":
		inner := map[string]any{}
		for _, name := range s.Required {
			inner[name] = placeholder(s.Properties[name])
		}
		return inner
	}
	return nil
}
