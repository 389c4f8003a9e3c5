package model_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"eventdeck/host/model"
	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

var wires = []react.Wire{react.WireChat, react.WireMessages}

func open(t *testing.T, m react.Model, o model.Options) *model.Client {
	t.Helper()
	c, err := model.Open(m, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnswersOfBothWires(t *testing.T) {
	for _, wire := range wires {
		for _, piece := range []int{0, 1, 7} {
			s := modeltest.New(t)
			s.Play(modeltest.Reply{
				Text: "It is a “deploy” of 日本.", Piece: piece,
				Calls: []react.Call{
					{ID: "a", Name: "pager__get_incident", Args: json.RawMessage(`{"id":"INC-1"}`)},
					{ID: "b", Name: "nobody__knows", Args: json.RawMessage(`{}`)},
				},
			})
			c := open(t, s.Model(wire), model.Options{})
			body, err := c.Body(model.Query{Turns: []model.Turn{{User: "x"}}})
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			answer, usage, cost, err := c.Ask(t.Context(), body, func(piece trust.Text) { said.WriteString(piece.Raw()) })
			if err != nil {
				t.Fatalf("%s in pieces of %d: %v", wire, piece, err)
			}
			if answer.Text.Raw() != "It is a “deploy” of 日本." || said.String() != answer.Text.Raw() || answer.Cut {
				t.Errorf("%s: answered %q, said %q", wire, answer.Text, said.String())
			}
			if len(answer.Calls) != 2 || answer.Calls[0].ID != "a" || answer.Calls[0].Name != "pager__get_incident" || string(answer.Calls[0].Args) != `{"id":"INC-1"}` ||
				answer.Calls[1].Name != "nobody__knows" || string(answer.Calls[1].Args) != `{}` {
				t.Errorf("%s: calls %+v", wire, answer.Calls)
			}
			if want := (react.Usage{In: 10, Out: 5}); usage != want || cost != 105 { // 10 at 3 and 5 at 15 micro-dollars
				t.Errorf("%s: used %+v for %d", wire, usage, cost)
			}
		}
	}
}

func TestBodiesAreExact(t *testing.T) {
	q := model.Query{
		System: "Be short.",
		Tools: []react.Pinned{{
			Tool: react.Tool{Server: "pager", Name: "get_incident"}, Description: trust.Untrusted("Gets an\nincident.\u202e"),
			Schema: json.RawMessage(`{ "type": "object", "properties": {"id": {"type": "string"}} }`),
		}},
		Turns: []model.Turn{
			{User: "An event."},
			{Answer: &react.Answer{Text: trust.Untrusted("Let me look."), Calls: []react.Call{{ID: "a", Name: "pager__get_incident", Args: json.RawMessage(`{"id":"INC-1"}`)}}}},
			{Results: []model.Result{{Call: "a", Text: "no such incident", Failed: true}}},
		},
	}
	want := map[react.Wire]string{
		react.WireChat: `{"model":"stub-1","messages":[{"role":"system","content":"Be short."},{"role":"user","content":"An event."},` +
			`{"role":"assistant","content":"Let me look.","tool_calls":[{"id":"a","type":"function","function":{"name":"pager__get_incident","arguments":"{\"id\":\"INC-1\"}"}}]},` +
			`{"role":"tool","content":"no such incident","tool_call_id":"a"}],` +
			`"tools":[{"type":"function","function":{"name":"pager__get_incident","description":"Gets an\nincident.\\u202e","parameters":{"type":"object","properties":{"id":{"type":"string"}}}}}],` +
			`"max_tokens":1000,"stream":true,"stream_options":{"include_usage":true}}`,
		react.WireMessages: `{"model":"stub-1","max_tokens":1000,"system":"Be short.","messages":[{"role":"user","content":[{"type":"text","text":"An event."}]},` +
			`{"role":"assistant","content":[{"type":"text","text":"Let me look."},{"type":"tool_use","id":"a","name":"pager__get_incident","input":{"id":"INC-1"}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"no such incident","is_error":true}]}],` +
			`"tools":[{"name":"pager__get_incident","description":"Gets an\nincident.\\u202e","input_schema":{"type":"object","properties":{"id":{"type":"string"}}}}],"stream":true}`,
	}
	for _, wire := range wires {
		s := modeltest.New(t)
		m := s.Model(wire)
		m.Key = "${STUB_KEY}"
		c := open(t, m, model.Options{Env: func(string) (string, bool) { return "sk-0123456789abcdef", true }})
		for range 3 {
			body, err := c.Body(q)
			if err != nil || string(body) != want[wire] {
				t.Fatalf("%s: %v\n%s\nwant\n%s", wire, err, body, want[wire])
			}
		}
		body, _ := c.Body(q)
		if _, _, _, err := c.Ask(t.Context(), body, nil); err == nil {
			t.Errorf("%s: an answer without anything in it is one", wire)
		}
		asked := s.Asked()
		if len(asked) != 1 || string(asked[0].Body) != string(body) {
			t.Fatalf("%s: what was sent is not what was built", wire)
		}
		path, header, value := "/v1/chat/completions", "Authorization", "Bearer sk-0123456789abcdef"
		if wire == react.WireMessages {
			path, header, value = "/v1/messages", "X-Api-Key", "sk-0123456789abcdef"
		}
		if asked[0].Path != path || asked[0].Header.Get(header) != value {
			t.Errorf("%s: asked at %s with %v", wire, asked[0].Path, asked[0].Header)
		}
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	for _, wire := range wires {
		s := modeltest.New(t)
		s.Play(modeltest.Reply{Hang: true, Stream: "\n"})
		c := open(t, s.Model(wire), model.Options{})
		body, err := c.Body(model.Query{Turns: []model.Turn{{User: "x"}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		heard := s.Heard()
		go func() {
			<-heard
			cancel()
		}()
		_, usage, cost, err := c.Ask(ctx, body, nil)
		bound, most := c.Bound(body)
		if usage != bound || cost != most || cost == 0 {
			t.Errorf("%s: charged %+v, %d for a call of which nobody knows; the bound is %+v, %d", wire, usage, cost, bound, most)
		}
		if !isAll(err, model.ErrUnknown, context.Canceled) {
			t.Errorf("%s: %v", wire, err)
		}
	}
}
