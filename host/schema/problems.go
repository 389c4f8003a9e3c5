package schema

import (
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Problem is one place at which a payload fails the schema of its type.
type Problem struct {
	Path trust.Text // JSON pointer of the value; "" is the whole payload
	Says string     // what the schema says about it, safe to print
}

// Missing is what a [Problem] says of a member that must be there.
const Missing = "is missing"

// Bounds of [CheckPayload].
const (
	maxProblems   = 20
	schemaVisits  = 10_000 // subschemas, counted each time they are reached
	schemaNesting = 64     // levels of a payload that are looked at one by one
	schemaChecks  = 1_000  // values that are looked at one by one
)

// CheckPayload validates a payload against the payloadSchema of its type and
// says where it fails. It informs: an event that fails is kept and shown like
// any other. Without a schema, and with one that cannot be used, that is
// recursive or very involved, nothing is found.
func CheckPayload(t event.Type, data []byte) []Problem {
	return checkSchema(t.PayloadSchema, data)
}

func checkSchema(schema json.RawMessage, data []byte) []Problem {
	if !boundedSchema(schema) {
		return nil
	}
	root, resolved := resolve(schema)
	if resolved == nil {
		return nil
	}
	var value any
	if json.Unmarshal(data, &value) != nil {
		return nil
	}
	c := payloadCheck{root: root, left: schemaChecks}
	c.at("", root, value, 0)
	return c.found
}

// payloadCheck finds the innermost places that fail.
type payloadCheck struct {
	root  *jsonschema.Schema
	left  int // values that may still be looked at
	found []Problem
}

func (c *payloadCheck) at(path string, s *jsonschema.Schema, value any, depth int) {
	if s == nil || len(c.found) >= maxProblems || c.left == 0 {
		return
	}
	c.left--
	err := c.validate(s, value)
	if err == nil {
		return
	}
	before := len(c.found)
	if depth < schemaNesting {
		c.inside(path, s, value, depth)
	}
	if len(c.found) == before {
		for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
			err = inner
		}
		says := failing(s, value)
		if says == "" {
			says = clean(err)
		}
		c.found = append(c.found, Problem{Path: trust.Untrusted(path), Says: says})
	}
}

func (c *payloadCheck) inside(path string, s *jsonschema.Schema, value any, depth int) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := value[name]; !ok && len(c.found) < maxProblems {
				c.found = append(c.found, Problem{Path: trust.Untrusted(path + "/" + pointerEscapes.Replace(name)), Says: Missing})
			}
		}
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			c.at(path+"/"+pointerEscapes.Replace(name), s.Properties[name], value[name], depth+1)
		}
	case []any:
		for i, v := range value {
			c.at(path+"/"+strconv.Itoa(i), s.Items, v, depth+1)
		}
	}
}

// validate checks one value against one subschema, which may refer to the
// definitions of the root. A part that cannot stand alone passes: the level
// above it has failed already and is reported.
func (c *payloadCheck) validate(s *jsonschema.Schema, value any) error {
	alone := s.CloneSchemas()
	if alone.Defs == nil {
		alone.Defs = c.root.CloneSchemas().Defs
	}
	if alone.Definitions == nil {
		alone.Definitions = c.root.CloneSchemas().Definitions
	}
	resolved, err := alone.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved.Validate(value)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// boundedSchema tells whether validation against a schema is certain to end
// soon: its references are local, and following all of them reaches a bounded
// number of subschemas. The schema is the server's, and a validator follows
// references that lead in circles until its stack is full.
func boundedSchema(raw json.RawMessage) bool {
	if len(raw) == 0 || Check(raw) != nil {
		return false
	}
	var root any
	if json.Unmarshal(raw, &root) != nil {
		return false
	}
	left := schemaVisits
	return expands(root, root, &left)
}

func expands(root, node any, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	switch node := node.(type) {
	case []any:
		for _, v := range node {
			if !expands(root, v, left) {
				return false
			}
		}
	case map[string]any:
		for name, v := range node {
			ref, isRef := v.(string)
			switch {
			case name == "type" && !knownTypes(v):
				return false
			case name == "$dynamicRef", name == "$recursiveRef", name == "$id", name == "$anchor":
				return false
			case name == "$ref" && isRef:
				target, ok := lookUp(root, ref)
				if !ok || !expands(root, target, left) {
					return false
				}
			case !expands(root, v, left):
				return false
			}
		}
	}
	return true
}

// knownTypes reports whether a member "type" names types that there are. With
// others nothing would pass; a property of that name is an object, and none.
func knownTypes(v any) bool {
	switch v := v.(type) {
	case string:
		return slices.Contains([]string{"object", "array", "string", "integer", "number", "boolean", "null"}, v)
	case []any:
		for _, one := range v {
			if !knownTypes(one) {
				return false
			}
		}
	}
	return true
}

// lookUp follows a reference inside of a schema.
func lookUp(root any, ref string) (any, bool) {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok || strings.Contains(rest, "%") {
		return nil, false
	}
	if rest == "" {
		return root, true
	}
	if rest[0] != '/' {
		return nil, false
	}
	node := root
	for _, name := range strings.Split(rest[1:], "/") {
		m, ok := node.(map[string]any)
		if !ok {
			return nil, false
		}
		if node, ok = m[pointerUnescapes.Replace(name)]; !ok {
			return nil, false
		}
	}
	return node, true
}

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
