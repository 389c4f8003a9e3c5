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
	"strconv"
	"strings"

	"eventdeck/host/react"
	"eventdeck/host/trust/strict"
)

// ErrArguments: what a tool is called with is no object, or too long.
var ErrArguments = errors.New("the arguments cannot be taken")

// MaxArguments bounds the arguments of a call, in bytes.
const MaxArguments = 64 << 10

// Pin returns tools of a rule as their servers describe them now. What a server does not
// have is left out. A tool that hints that it may change something counts as such.
//
// Errors: those of [react.Toolbox.ToolsOf].
func Pin(ctx context.Context, box react.Toolbox, tools []react.Tool) ([]react.Pinned, error) {
	lists := map[string][]react.ToolDef{}
	var out []react.Pinned
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
			continue // no schema: nobody could call it
		}
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

// without returns a schema of arguments without the parameters that are fixed or dropped.
func without(schema json.RawMessage, t react.Tool) (json.RawMessage, error) {
	if len(t.Fix)+len(t.Drop) == 0 {
		return schema, nil
	}
	var all, properties map[string]json.RawMessage
	if err := json.Unmarshal(schema, &all); err != nil {
		return nil, err
	}
	gone := func(name string) bool { _, fixed := t.Fix[name]; return fixed || slices.Contains(t.Drop, name) }
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
	return json.Marshal(all)
}

// Arguments returns what a tool is called with: what was given, without what the operator
// dropped, with what the operator fixed. The order of members is theirs by name.
//
// Error: [ErrArguments].
func Arguments(t react.Tool, given json.RawMessage) (json.RawMessage, error) {
	if len(given) == 0 || string(given) == "null" {
		given = json.RawMessage("{}")
	}
	members, err := strict.ParseObject(given, strict.Limits{Bytes: MaxArguments})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	all := map[string]json.RawMessage{}
	for _, m := range members {
		if !slices.Contains(t.Drop, m.Key.Raw()) {
			all[m.Key.Raw()] = m.Value
		}
	}
	for name, value := range t.Fix {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	return text, nil
}

// Request returns the exact request of a call, with class and pin as the server describes
// the tool now; the pin of one that it does not have any more is "". First is the request
// with which the run began.
//
// Errors: [ErrArguments], those of [react.Toolbox.ToolsOf].
func Request(ctx context.Context, box react.Toolbox, first react.Request, p react.Pinned, given json.RawMessage) (react.Request, error) {
	args, err := Arguments(p.Tool, given)
	if err != nil {
		return react.Request{}, err
	}
	list, err := box.ToolsOf(ctx, p.Server)
	if err != nil {
		return react.Request{}, fmt.Errorf("tools of %s: %w", p.Server, err)
	}
	def, _ := find(list, p.Name)
	class := p.Class
	if def.MayWrite {
		class = react.ToolWrite
	}
	return react.Request{
		Kind: react.RequestTool, Run: first.Run, Rule: first.Rule, Seq: first.Seq, Count: first.Count,
		Server: p.Server, Tool: p.Name, Class: class, Pin: def.Pin, Input: args, Time: first.Time,
	}, nil
}

// maxName is how long a name of a tool may be for models.
const maxName = 64

// Names returns the names under which a model or an agent calls the tools, in their order:
// SERVER__TOOL of letters, digits, - and _, no two alike.
func Names(tools []react.Pinned) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		name := strings.Map(plain, t.Server+"__"+t.Name)
		name = name[max(0, len(name)-maxName):]
		for n := 2; slices.Contains(names[:i], name); n++ {
			suffix := "_" + strconv.Itoa(n)
			name = name[:min(len(name), maxName-len(suffix))] + suffix
		}
		names[i] = name
	}
	return names
}

func plain(c rune) rune {
	if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' {
		return c
	}
	return '_'
}
