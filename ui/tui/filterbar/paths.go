package filterbar

import (
	"encoding/json"
	"maps"
	"slices"

	"eventdeck/host/trust/strict"
	"eventdeck/ui/tui/stream"
)

// schemaPaths calls fn with the JSON pointers of the scalars that a schema describes.
func schemaPaths(schema json.RawMessage, fn func(path string)) {
	var walk func(raw json.RawMessage, at string, depth int)
	left := pathsMax
	walk = func(raw json.RawMessage, at string, depth int) {
		var s struct {
			Type       any                        `json:"type"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if left == 0 || depth > depthMax || json.Unmarshal(raw, &s) != nil {
			return
		}
		if len(s.Properties) == 0 {
			if at != "" && s.Type != "object" && s.Type != "array" {
				left--
				fn(at)
			}
			return
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			walk(s.Properties[name], at+stream.Pointer(name), depth+1)
		}
	}
	if len(schema) > 0 {
		walk(schema, "", 0)
	}
}

// seenPaths calls fn with the JSON pointers of the scalars of a payload.
func seenPaths(data []byte, fn func(path string)) {
	var walk func(raw []byte, at string, depth int)
	walk = func(raw []byte, at string, depth int) {
		members, err := strict.ParseObject(raw, strict.Limits{})
		if err != nil {
			return
		}
		for _, m := range members {
			path := at + stream.Pointer(m.Key.Raw())
			switch {
			case len(m.Value) == 0 || len(path) > 100 || m.Value[0] == '[':
			case m.Value[0] != '{':
				fn(path)
			case depth < depthMax:
				walk(m.Value, path, depth+1)
			}
		}
	}
	walk(data, "", 1)
}
