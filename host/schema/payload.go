package schema

import (
	"encoding/json"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Place is what the schema of a type says about one path in its payloads.
type Place struct {
	// Known: the path can have a value, or the schema does not say.
	Known bool
	// If it is not known: the first name of the path that the schema does not have, the
	// names that it has there, and whether it allows no others.
	Missing string
	Names   []string
	Closed  bool
	// Values are all possible values, as text; nil: any.
	Values []trust.Text
}

// PayloadAt returns what a type's schema says about a path of names. An array on the path
// stands for its elements, as in filters.
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

// indirect reports whether a schema describes the members of a value by further schemas too.
func indirect(s *jsonschema.Schema) bool {
	return len(s.PatternProperties) > 0 || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.If != nil || len(s.DependentSchemas) > 0
}

// missing returns the place of a name that a schema does not have.
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

// values returns the values that a schema allows; nil: any.
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
