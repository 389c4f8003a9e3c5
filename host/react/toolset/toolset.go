// Package toolset prepares the tools of a run for a model or an agent: their descriptions are
// pinned when the run begins, their names are accepted by all providers, and parameters that the
// operator fixed or dropped are neither shown nor accepted.
package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"eventdeck/host/react"
)

// MaxTools is the largest size of the tools of a request, in stored bytes.
const MaxTools = 128 << 10

// Pin returns tools of a rule as their servers describe them now. Tools that a server does not
// list are left out, and so are those that would exceed [MaxTools]. A tool whose server hints
// that it may change something becomes a write tool.
//
// Errors: those of [react.Toolbox.ToolsOf].
func Pin(ctx context.Context, box react.Toolbox, tools []react.Tool) ([]react.Pinned, error) {
	lists := map[string][]react.ToolDef{}
	var out []react.Pinned
	size := 0
	for _, t := range tools {
		list, ok := lists[t.Server]
		if !ok {
			var err error
			if list, err = box.ToolsOf(ctx, t.Server); err != nil {
				return nil, fmt.Errorf("tools of %s: %w", t.Server, err)
			}
			lists[t.Server] = list
		}
		def, ok := find(list, t.Name)
		if !ok {
			continue
		}
		p := react.Pinned{Tool: t, Description: def.Description, Pin: def.Pin}
		if def.MayWrite {
			p.Class = react.ToolWrite
		}
		var err error
		if p.Schema, err = without(def.Schema, t); err != nil {
			continue // a model cannot call it without a schema
		}
		stored, err := json.Marshal(p)
		if err != nil || size+len(stored) > MaxTools {
			continue
		}
		size += len(stored)
		out = append(out, p)
	}
	return out, nil
}

func find(list []react.ToolDef, name string) (react.ToolDef, bool) {
	i := slices.IndexFunc(list, func(d react.ToolDef) bool { return d.Name == name })
	if i < 0 {
		return react.ToolDef{}, false
	}
	return list[i], true
}

// without returns the schema of a tool without the fixed and dropped parameters. It accepts no
// other names than it lists, unless it explicitly says so.
func without(schema json.RawMessage, t react.Tool) (json.RawMessage, error) {
	if len(t.Fix)+len(t.Drop) == 0 {
		return schema, nil
	}
	var all, properties map[string]json.RawMessage
	if err := json.Unmarshal(schema, &all); err != nil {
		return nil, err
	}
	if all == nil {
		return nil, errors.New("the schema is no object")
	}
	gone := func(name string) bool { return withheld(t, name) }
	if raw, ok := all["properties"]; ok {
		if err := json.Unmarshal(raw, &properties); err != nil {
			return nil, err
		}
		for name := range properties {
			if gone(name) {
				delete(properties, name)
			}
		}
		text, err := json.Marshal(properties)
		if err != nil {
			return nil, err
		}
		all["properties"] = text
	}
	if raw, ok := all["required"]; ok {
		var required []string
		if err := json.Unmarshal(raw, &required); err != nil {
			return nil, err
		}
		text, err := json.Marshal(slices.DeleteFunc(required, gone))
		if err != nil {
			return nil, err
		}
		all["required"] = text
	}
	// Otherwise an open schema would accept the removed names again.
	if _, said := all["additionalProperties"]; !said {
		all["additionalProperties"] = json.RawMessage("false")
	}
	return json.Marshal(all)
}
