package model_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"eventdeck/host/model"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

func TestNamesOfTools(t *testing.T) {
	for _, c := range [][3]string{
		{"pager", "get_incident", "pager__get_incident"},
		{"pager-2", "get-Incident9", "pager-2__get-Incident9"},
		{"pager", "get.incident", "pager__get_incident_5b90a0c3"},
		{"2nd", "x", ""}, {"-", "x", ""}, {"", "x", ""}, {"a", "", ""},
		{"a__b", "c", ""}, {"a", "b__c", ""}, {"a_", "b", ""}, {"a", "_b", ""},
		{"сервер", "x", ""}, {"a/b", "c", ""}, {"a", "b/c", ""},
		{strings.Repeat("s", 255), strings.Repeat("t", 255), ""},
		{"a", "\u202e\x00\n", ""},
	} {
		name := model.ToolName(c[0], c[1])
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`).MatchString(name) {
			t.Errorf("%q/%q is %q", c[0], c[1], name)
		}
		if c[2] != "" && name != c[2] {
			t.Errorf("%q/%q is %q, want %q", c[0], c[1], name, c[2])
		}
	}
	seen := map[string][2]string{}
	for _, server := range []string{"a", "a_", "a__b", "_", "a-b", "a.b", "a/b", "a b", "t_", ""} {
		for _, tool := range []string{"c", "_c", "b__c", "c.d", "c/d", "c_d", "__", ""} {
			name := model.ToolName(server, tool)
			if other, ok := seen[name]; ok {
				t.Errorf("%q/%q and %v are both %s", server, tool, other, name)
			}
			seen[name] = [2]string{server, tool}
		}
	}
}

func FuzzToolName(f *testing.F) {
	f.Add("pager", "get_incident", "pa", "ger__get_incident")
	f.Add("a", "b__c", "a__b", "c")
	f.Fuzz(func(t *testing.T, server, tool, server2, tool2 string) {
		name := model.ToolName(server, tool)
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`).MatchString(name) {
			t.Errorf("%q/%q is %q", server, tool, name)
		}
		if (server != server2 || tool != tool2) && len(name) < 50 && !strings.ContainsAny(tool+tool2, "_") && name == model.ToolName(server2, tool2) {
			t.Errorf("%q/%q and %q/%q are both %q", server, tool, server2, tool2, name)
		}
	})
}

func TestToolsAreFoundByTheirNames(t *testing.T) {
	tools := []react.Pinned{{Tool: react.Tool{Server: "pager", Name: "get.incident"}}, {Tool: react.Tool{Server: "git", Name: "log"}}}
	for _, want := range tools {
		if got, ok := model.Named(tools, model.ToolName(want.Server, want.Name)); !ok || got.Name != want.Name {
			t.Errorf("%+v, %t", got, ok)
		}
	}
	for _, name := range []string{"", "get.incident", "pager__get.incident", "pager/get.incident", "GIT__LOG", "git__log "} {
		if got, ok := model.Named(tools, name); ok {
			t.Errorf("%q is %+v", name, got)
		}
	}
}

func TestQueriesThatCannotBeAsked(t *testing.T) {
	user := model.Turn{User: "x"}
	twin := react.Pinned{Tool: react.Tool{Server: "a", Name: "b"}}
	for name, q := range map[string]model.Query{
		"nothing":         {},
		"an answer first": {Turns: []model.Turn{{Answer: &react.Answer{}}}},
		"an empty turn":   {Turns: []model.Turn{user, {}}},
		"one tool twice":  {Turns: []model.Turn{user}, Tools: []react.Pinned{twin, twin}},
		"a broken schema": {Turns: []model.Turn{user}, Tools: []react.Pinned{{Tool: twin.Tool, Schema: json.RawMessage(`{"type":`)}}},
		"a schema twice":  {Turns: []model.Turn{user}, Tools: []react.Pinned{{Tool: twin.Tool, Schema: json.RawMessage(`{"type":"object","type":"x"}`)}}},
		"too long":        {Turns: []model.Turn{{User: strings.Repeat("x", 9<<20)}}},
	} {
		for _, wire := range wires {
			c := open(t, react.Model{Name: "m", Wire: wire, URL: "https://a.example/v1", Model: "x", Output: 10}, model.Options{})
			if body, err := c.Body(q); !errors.Is(err, model.ErrModel) || body != nil {
				t.Errorf("%s: %s: %v", wire, name, err)
			}
		}
	}
}

func TestLongDescriptionsAreCut(t *testing.T) {
	c := open(t, react.Model{Name: "m", Wire: react.WireChat, URL: "https://a.example/v1", Model: "x", Output: 10}, model.Options{})
	body, err := c.Body(model.Query{Turns: []model.Turn{{User: "x"}}, Tools: []react.Pinned{{Tool: react.Tool{Server: "a", Name: "b"}, Description: trust.Untrusted(strings.Repeat("ж", 100_000))}}})
	if err != nil || len(body) > 5<<10 || !strings.Contains(string(body), "…") {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

// OpenAI itself wants the cap under another name, and the JSON of an answer is asked for
// where the wire knows how.
func TestBodiesForOneProvider(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.openai.com/v1":               `"max_completion_tokens":10,`,
		"https://x.openai.azure.com/openai/v1":    `"max_completion_tokens":10,`,
		"https://openrouter.ai/api/v1":            `"max_tokens":10,`,
		"https://api.openai.com.example.com/v1":   `"max_tokens":10,`,
		"http://127.0.0.1:11434/v1?":              "",
		"https://generativelanguage.example/v1/o": `"response_format":{"type":"json_object"}`,
	} {
		c, err := model.Open(react.Model{Name: "m", Wire: react.WireChat, URL: address, Model: "x", Output: 10}, model.Options{})
		if err != nil {
			if want != "" {
				t.Error(err)
			}
			continue
		}
		if body, err := c.Body(model.Query{Turns: []model.Turn{{User: "x"}}, JSON: true}); err != nil || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s, %v", address, body, err)
		}
	}
}
