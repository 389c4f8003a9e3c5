package schema

import (
	"regexp/syntax"

	"github.com/google/jsonschema-go/jsonschema"
)

// Bounds of the check of a value. A validator applies each part of a schema to each value at
// most once, and patterns read every byte.
const (
	maxChecks = 100_000 // parts times values
	textValue = 100     // bytes of a text that count as a value
)

// affordable reports whether checking a value against a schema without references takes
// bounded time. Both are untrusted.
func affordable(s *jsonschema.Schema, value any) bool {
	return partsOf(s) <= maxChecks/valuesOf(value)
}

// partsOf counts the rules of a schema, up to somewhat above maxChecks.
func partsOf(s *jsonschema.Schema) int {
	n := 1 + len(s.Enum) + len(s.Required) + stepsOf(s.Pattern)
	for pattern := range s.PatternProperties {
		n += stepsOf(pattern)
	}
	for _, names := range s.DependentRequired {
		n += len(names)
	}
	for _, names := range s.DependencyStrings {
		n += len(names)
	}
	withParts(s, func(_ string, part *jsonschema.Schema) *jsonschema.Schema {
		if n <= maxChecks {
			n += partsOf(part)
		}
		return part
	})
	return n
}

// stepsOf counts the steps of a pattern at each byte of a text. An invalid pattern has none: it
// is never applied.
func stepsOf(pattern string) int {
	if pattern == "" {
		return 0
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// valuesOf counts the values in a decoded value, including itself and the names of members.
func valuesOf(value any) int {
	n := 1
	switch value := value.(type) {
	case string:
		n += len(value) / textValue
	case []any:
		for _, v := range value {
			n += valuesOf(v)
		}
	case map[string]any:
		for name, v := range value {
			n += valuesOf(name) + valuesOf(v)
		}
	}
	return n
}
