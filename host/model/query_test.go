package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"eventdeck/host/model"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

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
