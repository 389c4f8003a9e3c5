package schema

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
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
	schemaNesting = 64    // levels of a payload that are checked one by one
	schemaChecks  = 1_000 // values that are checked one by one
)

// CheckPayload validates a payload against the payloadSchema of its type and returns where it
// fails. This is information only: an event that fails is kept and shown like any other. A
// schema that is missing, cannot be used, is recursive, or is too complex for the size of the
// payload finds nothing.
func CheckPayload(t event.Type, data []byte) []Problem {
	return checkSchema(t.PayloadSchema, data)
}

func checkSchema(schema json.RawMessage, data []byte) []Problem {
	root, _ := usable(schema)
	var value any
	if root == nil || json.Unmarshal(data, &value) != nil || !affordable(root, value) {
		return nil
	}
	c := payloadCheck{left: schemaChecks}
	c.at("", root, value, 0)
	return c.found
}

// payloadCheck finds the innermost places that fail.
type payloadCheck struct {
	left  int // values that may still be checked
	found []Problem
}

func (c *payloadCheck) at(path string, s *jsonschema.Schema, value any, depth int) {
	if s == nil || len(c.found) >= maxProblems || c.left == 0 {
		return
	}
	c.left--
	err := validate(s, value)
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
		for _, name := range slices.Sorted(maps.Keys(value)) {
			c.at(path+"/"+pointerEscapes.Replace(name), s.Properties[name], value[name], depth+1)
		}
	case []any:
		for i, v := range value {
			c.at(path+"/"+strconv.Itoa(i), s.Items, v, depth+1)
		}
	}
}

// validate checks a value against a part of a schema. A part that cannot stand alone
// passes: the level above it has failed already and is reported.
func validate(part *jsonschema.Schema, value any) error {
	resolved, err := part.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved.Validate(value)
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

var pointerUnescapes = strings.NewReplacer("~1", "/", "~0", "~")
