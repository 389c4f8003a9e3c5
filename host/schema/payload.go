package schema

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Place is what the schema of a type says of one place in its payloads.
type Place struct {
	// Known: a value can be there. So it is where the schema cannot tell.
	Known bool
	// Of a place that is not known: the first name on its way that the schema does not
	// have, those that it has there, and whether it allows no others.
	Missing string
	Names   []string
	Closed  bool
	// Values are all that can be there, as text; nil: any.
	Values []trust.Text
}

// PayloadAt says what a type's schema tells of the place at the end of some names. An array
// on the way stands for its elements, as in filters.
func PayloadAt(t event.Type, names []string) Place {
	s, _ := usable(t.PayloadSchema)
	for _, name := range names {
		s = element(s)
		if s == nil || indirect(s) || len(s.Properties) == 0 {
			return Place{Known: true}
		}
		inner, ok := s.Properties[name]
		if !ok {
			return missing(s, name)
		}
		s = inner
	}
	if s = element(s); s == nil || indirect(s) {
		return Place{Known: true}
	}
	return Place{Known: true, Values: values(s)}
}

// element returns the schema of the elements of an array, else the schema itself.
func element(s *jsonschema.Schema) *jsonschema.Schema {
	for depth := 0; s != nil && s.Items != nil && depth < maxNesting; depth++ {
		s = s.Items
	}
	return s
}

// indirect reports whether a schema says what is in a value by other schemas, too.
func indirect(s *jsonschema.Schema) bool {
	return len(s.PatternProperties) > 0 || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.If != nil || len(s.DependentSchemas) > 0
}

// missing says of a name what a schema knows in its place.
func missing(s *jsonschema.Schema, name string) Place {
	p := Place{Missing: name, Closed: s.AdditionalProperties != nil}
	if p.Closed && (s.AdditionalProperties.Not == nil || s.AdditionalProperties.Properties != nil) {
		return Place{Known: true} // others are described, or allowed by name
	}
	for known := range s.Properties {
		p.Names = append(p.Names, known)
	}
	slices.Sort(p.Names)
	return p
}

// values returns what an enumeration allows, nil if anything.
func values(s *jsonschema.Schema) []trust.Text {
	all := s.Enum
	if s.Const != nil {
		all = []any{*s.Const}
	}
	var out []trust.Text
	for _, v := range all {
		text, ok := v.(string)
		if !ok {
			raw, err := json.Marshal(v)
			if err != nil {
				return nil
			}
			text = string(raw)
		}
		out = append(out, trust.Untrusted(text))
	}
	return out
}
