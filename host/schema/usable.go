package schema

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds of a schema whose references are followed to their ends.
const (
	maxParts   = 5_000 // parts, counted once for each place that leads to them
	maxNesting = 64    // levels of parts
)

// decode reads a schema as the validator does, with member names in any letter case. It
// returns nil for a schema that cannot be read or exceeds the bounds.
func decode(raw json.RawMessage) *jsonschema.Schema {
	var s jsonschema.Schema
	if len(raw) == 0 || string(raw) == "null" || Check(raw) != nil || json.Unmarshal(raw, &s) != nil {
		return nil
	}
	return &s
}

// usable reads a schema that values are checked against. Every reference is replaced by its
// target, so that each part has the same meaning alone, and every check ends: the validator
// would follow a circular reference until the stack is full, which ends the program. usable
// returns nil for a schema with circular, external or too many references, and for a draft or
// types that the validator does not know.
func usable(raw json.RawMessage) (*jsonschema.Schema, *jsonschema.Resolved) {
	root := decode(raw)
	if root == nil {
		return nil, nil
	}
	if !slices.Contains([]string{"", draft7, draft7Secure, draft2020}, root.Schema) {
		return nil, nil
	}
	root.ID = "" // its own address, which nothing here refers to
	in := inliner{parts: map[string]*jsonschema.Schema{}, draft: root.Schema, left: maxParts}
	in.index("", root)
	whole := in.inline(root, 0)
	if in.failed {
		return nil, nil
	}
	resolved, err := whole.Resolve(nil)
	if err != nil {
		return nil, nil
	}
	return whole, resolved
}

// The drafts that the validator knows. A schema that names none is of 2020-12.
const (
	draft7       = "http://json-schema.org/draft-07/schema#"
	draft7Secure = "https://json-schema.org/draft-07/schema#"
	draft2020    = "https://json-schema.org/draft/2020-12/schema"
)

// inliner copies a schema and replaces references by their targets.
type inliner struct {
	parts  map[string]*jsonschema.Schema // by the JSON pointer of each
	draft  string
	left   int // parts that may still be copied
	failed bool
}

// index collects the parts of a schema by their JSON pointers.
func (in *inliner) index(at string, s *jsonschema.Schema) {
	in.parts[at] = s
	if s == nil {
		return
	}
	withParts(s, func(name string, part *jsonschema.Schema) *jsonschema.Schema {
		in.index(at+"/"+name, part)
		return part
	})
}

// inline copies a part. Draft 7 ignores all members beside a reference; in 2020-12 both the
// target and the members apply.
func (in *inliner) inline(s *jsonschema.Schema, depth int) *jsonschema.Schema {
	in.left--
	if in.failed = in.failed || in.left < 0 || depth > maxNesting || !plain(s); in.failed {
		return s
	}
	flat := *s
	flat.Schema = in.draft
	flat.Ref, flat.Defs, flat.Definitions = "", nil, nil
	if s.Ref != "" {
		pointer, local := strings.CutPrefix(s.Ref, "#")
		target, there := in.parts[pointer]
		if !local || !there {
			in.failed = true
			return s
		}
		if in.draft == draft7 || in.draft == draft7Secure || demandsNothing(flat) {
			return in.inline(target, depth+1)
		}
		flat.AllOf = slices.Insert(slices.Clone(flat.AllOf), 0, target)
	}
	return withParts(&flat, func(_ string, part *jsonschema.Schema) *jsonschema.Schema {
		return in.inline(part, depth+1)
	})
}

// plain reports whether a part is not nil, has no address of its own and names only existing
// types. Any other part would reject every value.
func plain(s *jsonschema.Schema) bool {
	return s != nil && s.ID == "" && s.Anchor == "" && s.DynamicRef == "" &&
		(s.Type == "" || knownType(s.Type)) && !slices.ContainsFunc(s.Types, func(name string) bool { return !knownType(name) })
}

func knownType(name string) bool {
	return slices.Contains([]string{"object", "array", "string", "integer", "number", "boolean", "null"}, name)
}

// demandsNothing reports whether a part has annotations only.
func demandsNothing(s jsonschema.Schema) bool {
	return reflect.DeepEqual(s, jsonschema.Schema{
		Schema: s.Schema, Comment: s.Comment, Title: s.Title, Description: s.Description, Default: s.Default,
		Deprecated: s.Deprecated, ReadOnly: s.ReadOnly, WriteOnly: s.WriteOnly, Examples: s.Examples, Format: s.Format, Extra: s.Extra,
	})
}

// withParts copies a schema and replaces each direct part by the result of part. name is the
// part's member, with the key or index in it, as in a JSON pointer.
func withParts(s *jsonschema.Schema, part func(name string, s *jsonschema.Schema) *jsonschema.Schema) *jsonschema.Schema {
	out := *s
	fields := reflect.ValueOf(&out).Elem()
	for i := range fields.NumField() {
		name := memberName(fields.Type().Field(i))
		switch held := fields.Field(i).Addr().Interface().(type) {
		case **jsonschema.Schema:
			if *held != nil {
				*held = part(name, *held)
			}
		case *[]*jsonschema.Schema:
			*held = slices.Clone(*held)
			for i, one := range *held {
				(*held)[i] = part(name+"/"+strconv.Itoa(i), one)
			}
		case *map[string]*jsonschema.Schema:
			*held = maps.Clone(*held)
			for key, one := range *held {
				(*held)[key] = part(name+"/"+pointerEscapes.Replace(key), one)
			}
		}
	}
	return &out
}

// memberName returns the member that a field of the decoded schema comes from.
func memberName(f reflect.StructField) string {
	switch f.Name {
	case "Items", "ItemsArray":
		return "items"
	case "DependencySchemas":
		return "dependencies"
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
