package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// box is servers' tools, none of which is called.
type box map[string][]react.ToolDef

func (b box) CallTool(context.Context, string, string, json.RawMessage) (react.ToolResult, error) {
	panic("nothing is called here")
}

func (b box) ToolsOf(_ context.Context, server string) ([]react.ToolDef, error) {
	list, ok := b[server]
	if !ok {
		return nil, errors.New("unreachable")
	}
	return list, nil
}

const described = `{"type":"object","properties":{"id":{"type":"string"},"env":{"type":"string"},"force":{"type":"boolean"}},"required":["id","env"]}`

func TestToolsArePinned(t *testing.T) {
	b := box{"pager": {
		{Name: "get", Description: trust.Untrusted("Gets."), Schema: json.RawMessage(described), Pin: "p1"},
		{Name: "peek", Schema: json.RawMessage(`{}`), Pin: "p2", MayWrite: true},
	}}
	tools := []react.Tool{
		{Server: "pager", Name: "get", Class: react.ToolRead, Fix: map[string]json.RawMessage{"env": json.RawMessage(`"prod"`)}, Drop: []string{"force"}},
		{Server: "pager", Name: "gone", Class: react.ToolRead},
		{Server: "pager", Name: "peek", Class: react.ToolRead},
	}
	got, err := Pin(t.Context(), b, tools)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if g := got[0]; g.Pin != "p1" || g.Class != react.ToolRead || g.Description.Raw() != "Gets." || string(g.Schema) != `{"additionalProperties":false,"properties":{"id":{"type":"string"}},"required":["id"],"type":"object"}` {
		t.Errorf("%+v %s", g, g.Schema)
	}
	if g := got[1]; g.Name != "peek" || g.Class != react.ToolWrite {
		t.Errorf("a tool that hints that it changes something is %+v", g)
	}
	for _, bad := range []string{`null`, `5`, `{"properties":[]}`, ``} {
		b["pager"][0].Schema = json.RawMessage(bad)
		if got, err := Pin(t.Context(), b, tools[:1]); err != nil || len(got) != 0 {
			t.Errorf("%s is pinned: %+v, %v", bad, got, err)
		}
	}
	if _, err := Pin(t.Context(), b, []react.Tool{{Server: "away", Name: "x"}}); err == nil {
		t.Error("a server that cannot be asked is no error")
	}
}

// What counts is what is stored: "<" takes six bytes there.
func TestToolsAreBoundedAsTheyAreStored(t *testing.T) {
	wide := json.RawMessage(`{"title":"` + strings.Repeat("<", 63<<10) + `"}`)
	b := box{"pager": {{Name: "wide", Schema: wide, Pin: "p1"}, {Name: "get", Schema: json.RawMessage(`{"type":"object"}`), Pin: "p2"}}}
	got, err := Pin(t.Context(), b, []react.Tool{{Server: "pager", Name: "wide"}, {Server: "pager", Name: "get"}})
	if err != nil || len(got) != 1 || got[0].Name != "get" {
		t.Errorf("%d tools, %v", len(got), err)
	}
}
