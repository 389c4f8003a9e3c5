package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/trust"
)

// property is a member of a schema, as far as typed arguments need it.
type property struct {
	Type any   `json:"type"`
	Enum []any `json:"enum"`
}

// properties returns the top-level members of a schema.
func properties(schema json.RawMessage) map[string]property {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	out := map[string]property{}
	for name, raw := range s.Properties {
		var p property
		_ = json.Unmarshal(raw, &p) // a schema of another shape leaves the value to be guessed
		out[name] = p
	}
	return out
}

// ArgNames returns completions for the arguments of a schema: name= and name=value.
func ArgNames(schema json.RawMessage) []string {
	var out []string
	for name, p := range properties(schema) {
		if trust.Line(trust.Untrusted(name)).Plain() != name {
			continue
		}
		out = append(out, name+"=")
		for _, v := range p.Enum {
			if s, ok := v.(string); ok && trust.Line(trust.Untrusted(s)).Plain() == s {
				out = append(out, name+"="+s)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Args makes a JSON object of words of the form name=value. The schema says which values are
// strings; otherwise a value that is valid JSON is taken as JSON. Error: [ErrUsage].
func Args(words []string, schema json.RawMessage) (json.RawMessage, error) {
	known := properties(schema)
	var b bytes.Buffer
	b.WriteByte('{')
	var seen []string
	for i, w := range words {
		name, value, _ := strings.Cut(w, "=")
		if slices.Contains(seen, name) {
			return nil, fmt.Errorf("%w: %q is given twice", ErrUsage, name)
		}
		seen = append(seen, name)
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(trust.AppendJSONString(nil, name))
		b.WriteByte(':')
		if json.Valid([]byte(value)) && !mustBeString(known[name]) {
			b.WriteString(value)
		} else {
			b.Write(trust.AppendJSONString(nil, value))
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// mustBeString reports whether a schema allows strings and no other scalar.
func mustBeString(p property) bool {
	switch t := p.Type.(type) {
	case string:
		return t == "string"
	case []any:
		return slices.Contains(t, any("string")) && !slices.ContainsFunc(t, func(x any) bool { return x == "number" || x == "integer" || x == "boolean" })
	}
	return len(p.Enum) > 0 && !slices.ContainsFunc(p.Enum, func(v any) bool { _, ok := v.(string); return !ok })
}
