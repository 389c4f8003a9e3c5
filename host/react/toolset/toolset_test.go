package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// box is a server's tools.
type box map[string][]react.ToolDef

func (b box) ToolsOf(_ context.Context, server string) ([]react.ToolDef, error) {
	list, ok := b[server]
	if !ok {
		return nil, errors.New("unreachable")
	}
	return list, nil
}

func (b box) CallTool(context.Context, string, string, json.RawMessage) (react.ToolResult, error) {
	panic("nothing is called here")
}

const schema = `{"type":"object","properties":{"id":{"type":"string"},"env":{"type":"string"},"force":{"type":"boolean"}},"required":["id","env"]}`

func TestToolsArePinned(t *testing.T) {
	b := box{"pager": {
		{Name: "get", Description: trust.Untrusted("Gets."), Schema: json.RawMessage(schema), Pin: "p1"},
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
	if g := got[0]; g.Pin != "p1" || g.Class != react.ToolRead || g.Description.Raw() != "Gets." || string(g.Schema) != `{"properties":{"id":{"type":"string"}},"required":["id"],"type":"object"}` {
		t.Errorf("%+v %s", g, g.Schema)
	}
	if g := got[1]; g.Name != "peek" || g.Class != react.ToolWrite {
		t.Errorf("a tool that hints that it changes something is %+v", g)
	}
	if _, err := Pin(t.Context(), b, []react.Tool{{Server: "away", Name: "x"}}); err == nil {
		t.Error("a server that cannot be asked is no error")
	}
}

func TestArgumentsAreThoseThatTheOperatorAllows(t *testing.T) {
	tool := react.Tool{Fix: map[string]json.RawMessage{"env": json.RawMessage(`"prod"`)}, Drop: []string{"force"}}
	for given, want := range map[string]string{
		`{"id":"a","env":"dev","force":true}`: `{"env":"prod","id":"a"}`,
		`{"id":1.50}`:                         `{"env":"prod","id":1.50}`,
		``:                                    `{"env":"prod"}`,
		`null`:                                `{"env":"prod"}`,
		`[]`:                                  "",
		`{"env":1,"env":2}`:                   "",
		`{"x":"` + strings.Repeat("y", MaxArguments) + `"}`: "",
	} {
		got, err := Arguments(tool, json.RawMessage(given))
		if string(got) != want || errors.Is(err, ErrArguments) != (want == "") {
			t.Errorf("%.60s: %s, %v", given, got, err)
		}
	}
}

func TestACallSaysWhatItsServerSaysNow(t *testing.T) {
	first := react.Request{Run: "r", Rule: "page", Seq: 7, Count: 2}
	p := react.Pinned{Tool: react.Tool{Server: "pager", Name: "get", Class: react.ToolRead}, Pin: "old"}
	for name, test := range map[string]struct {
		now   []react.ToolDef
		pin   string
		class react.ToolClass
	}{
		"the same": {[]react.ToolDef{{Name: "get", Pin: "old"}}, "old", react.ToolRead},
		"changed":  {[]react.ToolDef{{Name: "get", Pin: "new", MayWrite: true}}, "new", react.ToolWrite},
		"gone":     {nil, "", react.ToolRead},
	} {
		r, err := Request(t.Context(), box{"pager": test.now}, first, p, json.RawMessage(`{"a":1}`))
		if err != nil || r.Pin != test.pin || r.Class != test.class || r.Kind != react.RequestTool || r.Run != "r" || r.Server != "pager" || r.Tool != "get" || string(r.Input) != `{"a":1}` {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestNamesAreThoseThatCanBeCalled(t *testing.T) {
	tool := func(server, name string) react.Pinned {
		return react.Pinned{Tool: react.Tool{Server: server, Name: name}}
	}
	long := strings.Repeat("x", 100)
	got := Names([]react.Pinned{tool("pager", "get"), tool("https://a.b/mcp", "x.y"), tool("https://a.b/mcp", "x/y"), tool(long, "z"), tool("q"+long, "z")})
	want := []string{"pager__get", "https___a_b_mcp__x_y", "https___a_b_mcp__x_y_2", strings.Repeat("x", 61) + "__z", strings.Repeat("x", 61) + "__" + "_2"}
	want[4] = want[3][:62] + "_2"
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
