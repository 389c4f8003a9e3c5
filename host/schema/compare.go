package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// DifferenceKind says in what way a payload and its schema differ.
type DifferenceKind string

// The kinds of differences.
const (
	DifferenceMissing DifferenceKind = "missing"    // a required member is not there
	DifferenceExtra   DifferenceKind = "extra"      // a member that the schema does not name
	DifferenceType    DifferenceKind = "wrong type" // a value of another type
	DifferenceOther   DifferenceKind = "fails"      // another rule is broken
)

// Difference is one place at which a payload differs from its schema.
type Difference struct {
	Kind DifferenceKind
	Path trust.Text // JSON pointer; "" is the whole payload
	Says string     // our words, or the validator's; safe to print
}

// Comparison is the result of [ComparePayload].
type Comparison struct {
	Schema      bool // there is a usable schema
	Members     int  // members that were compared
	Differences []Difference
}

// ComparePayload compares a payload with the payloadSchema of its type, member
// by member. Besides the broken rules that [CheckPayload] finds, it names members that the
// schema does not have, which are usually allowed. It compares a bounded number of members.
func ComparePayload(t event.Type, data []byte) Comparison {
	root, _ := usable(t.PayloadSchema)
	var value any
	if root == nil || json.Unmarshal(data, &value) != nil || !affordable(root, value) {
		return Comparison{}
	}
	c := comparer{left: schemaChecks}
	c.at("", root, value, 0)
	out := Comparison{Schema: true, Members: c.members, Differences: c.found}
	for _, p := range CheckPayload(t, data) {
		if !c.told[p.Path.Raw()] {
			out.Differences = append(out.Differences, Difference{DifferenceOther, p.Path, p.Says})
		}
	}
	return out
}

// comparer walks a payload beside its schema.
type comparer struct {
	left    int
	members int
	found   []Difference
	told    map[string]bool // paths at which a broken rule was named
}

func (c *comparer) add(kind DifferenceKind, path, says string) {
	if len(c.found) >= maxProblems {
		return
	}
	c.found = append(c.found, Difference{kind, trust.Untrusted(path), says})
	if kind == DifferenceExtra {
		return
	}
	if c.told == nil {
		c.told = map[string]bool{}
	}
	c.told[path] = true
	if kind == DifferenceMissing { // the validator names the object
		c.told[path[:strings.LastIndexByte(path, '/')]] = true
	}
}

func (c *comparer) at(path string, s *jsonschema.Schema, value any, depth int) {
	if s == nil || c.left == 0 || depth > schemaNesting {
		return
	}
	c.left--
	if want := typesOf(s); len(want) > 0 && !isOneOf(value, want) {
		c.add(DifferenceType, path, "is "+typeName(value)+", the schema says "+printable(strings.Join(want, " or ")))
		return
	}
	switch value := value.(type) {
	case map[string]any:
		c.object(path, s, value, depth)
	case []any:
		for i, v := range value {
			c.at(path+"/"+strconv.Itoa(i), s.Items, v, depth+1)
		}
	}
}

func (c *comparer) object(path string, s *jsonschema.Schema, value map[string]any, depth int) {
	for _, name := range s.Required {
		if _, ok := value[name]; !ok {
			c.add(DifferenceMissing, path+"/"+pointerEscapes.Replace(name), "is required")
		}
	}
	names := slices.Sorted(maps.Keys(value))
	// Members may be named in parts that are not compared here.
	named := len(s.Properties) > 0 && len(s.PatternProperties) == 0 && s.AllOf == nil && s.AnyOf == nil && s.OneOf == nil
	for _, name := range names {
		c.members++
		inner, ok := s.Properties[name]
		at := path + "/" + pointerEscapes.Replace(name)
		switch {
		case ok:
			c.at(at, inner, value[name], depth+1)
		case named:
			c.add(DifferenceExtra, at, "is not in the schema")
		}
	}
}

func typesOf(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

func isOneOf(value any, want []string) bool {
	have := typeName(value)
	if slices.Contains(want, have) {
		return true
	}
	n, ok := value.(float64)
	return ok && n == float64(int64(n)) && slices.Contains(want, "integer")
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// printable returns words of a schema as one printable line.
func printable(s string) string { return trust.Line(trust.Untrusted(s)).Plain() }
