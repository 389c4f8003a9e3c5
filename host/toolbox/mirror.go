package toolbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// mirror is an argument that a stateless HTTP server also wants in a header (SEP-2243).
type mirror struct {
	path   []string
	header string
}

// headerName matches HTTP tokens of at most 64 characters.
var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")

// part is the part of a schema that says which arguments are mirrored.
type part struct {
	Type       json.RawMessage            `json:"type"`
	Header     json.RawMessage            `json:"x-mcp-header"`
	Properties map[string]json.RawMessage `json:"properties"`
}

// mirrorsOf returns the arguments to mirror according to a schema. SEP-2243 demands that tools
// with an invalid x-mcp-header are left out.
func mirrorsOf(schema json.RawMessage) ([]mirror, error) {
	var found []mirror
	seen := map[string]bool{}
	var walk func(raw json.RawMessage, path []string) error
	walk = func(raw json.RawMessage, path []string) error {
		var p part
		if json.Unmarshal(raw, &p) != nil {
			return nil // a schema such as true
		}
		if p.Header != nil {
			var name string
			folded := func() string { return strings.ToLower(name) }
			switch {
			case json.Unmarshal(p.Header, &name) != nil || !headerName.MatchString(name) || seen[folded()]:
				return fmt.Errorf("x-mcp-header of %q is invalid", strings.Join(path, "."))
			case string(p.Type) != `"string"` && string(p.Type) != `"integer"` && string(p.Type) != `"boolean"`:
				return fmt.Errorf("x-mcp-header of %q: its type cannot stand in a header", strings.Join(path, "."))
			}
			seen[folded()] = true
			found = append(found, mirror{path, name})
		}
		for name, inner := range p.Properties {
			if err := walk(inner, append(path[:len(path):len(path)], name)); err != nil {
				return err
			}
		}
		return nil
	}
	err := walk(schema, nil)
	return found, err
}

// mirrored returns the values of mirrored arguments, by header name.
func mirrored(mirrors []mirror, args json.RawMessage) map[string]string {
	var values map[string]string
	for _, m := range mirrors {
		if value, ok := plainValue(args, m.path); ok {
			if values == nil {
				values = map[string]string{}
			}
			values[m.header] = value
		}
	}
	return values
}

// plainValue returns the string, integer or boolean at a path of an object.
func plainValue(raw json.RawMessage, path []string) (string, bool) {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || members[name] == nil {
			return "", false
		}
		raw = members[name]
	}
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if n := int64(v); float64(n) == v {
			return strconv.FormatInt(n, 10), true
		}
	}
	return "", false
}
