package columns

import (
	"encoding/json"
	"slices"
	"strings"

	"eventdeck/host/trust/strict"
)

// schemaPaths calls fn for the scalars that a schema of an object names.
func schemaPaths(schema json.RawMessage, fn func(path string)) {
	var walk func(raw json.RawMessage, at string, depth int)
	left := offeredPaths
	walk = func(raw json.RawMessage, at string, depth int) {
		var s struct {
			Type       any                        `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if left == 0 || depth > offeredDepth || json.Unmarshal(raw, &s) != nil {
			return
		}
		if len(s.Properties) == 0 {
			if at != "" && s.Type != "object" && s.Type != "array" {
				left--
				fn(at)
			}
			return
		}
		names := make([]string, 0, len(s.Properties))
		for name := range s.Properties {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			walk(s.Properties[name], at+"/"+pointerName(name), depth+1)
		}
	}
	if len(schema) > 0 {
		walk(schema, "", 0)
	}
}

// seenPaths calls fn for the scalars of a payload.
func seenPaths(data []byte, fn func(path string)) {
	var walk func(raw []byte, at string, depth int)
	walk = func(raw []byte, at string, depth int) {
		members, err := strict.ParseObject(raw, strict.Limits{})
		if err != nil {
			return
		}
		for _, m := range members {
			path := at + "/" + pointerName(m.Key.Raw())
			switch {
			case len(m.Value) == 0 || len(path) > 100 || m.Value[0] == '[':
			case m.Value[0] != '{':
				fn(path)
			case depth < offeredDepth:
				walk(m.Value, path, depth+1)
			}
		}
	}
	walk(data, "", 1)
}

func pointerName(s string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(s) }
