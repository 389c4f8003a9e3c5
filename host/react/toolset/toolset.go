// Package toolset is the tools of a run, as a model or an agent has them: pinned when the
// run begins, under names that either can call, with the parameters that the operator fixed
// or dropped neither shown nor taken.
package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"eventdeck/host/react"
)

// MaxTools bounds the tools of a request, in bytes as they are stored.
const MaxTools = 128 << 10

// Pin returns tools of a rule as their servers describe them now. What a server does not
// have is left out, and what is beyond [MaxTools] with those before it. A tool that hints
// that it may change something counts as such.
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
			continue // without a schema a model cannot call it
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

// without returns a schema of arguments without the parameters that are fixed or dropped. It
// takes no names that it does not have, unless it says that it does.
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
	// Names that the schema leaves open would be taken in place of those that are gone.
	if _, said := all["additionalProperties"]; !said {
		all["additionalProperties"] = json.RawMessage("false")
	}
	return json.Marshal(all)
}
