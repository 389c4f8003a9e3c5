package model_test

import (
	"errors"
	"strings"
	"testing"

	"eventdeck/host/model"
	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
)

// A token takes at least a byte of what a tokenizer reads: of the text as it is sent, or of its
// compatibility form, in which one character may become eighteen.
func TestBounds(t *testing.T) {
	c := open(t, react.Model{Name: "m", Wire: react.WireChat, URL: "https://a.example/v1", Model: "x", Output: 100, Price: &react.Price{In: 1_000_000, Out: 2_000_000}}, model.Options{})
	for text, read := range map[string]int64{
		strings.Repeat("7", 300):        2_300,
		strings.Repeat("\ufdfa", 1_000): 2_000 + 33*1_000, // 3 bytes each as they are sent
		"":                              2_000,
	} {
		if u, cost := c.Bound([]byte(text)); u != (react.Usage{In: read, Out: 100, Estimated: true}) || cost != read+200 {
			t.Errorf("bound of %.10q: %+v, %d", text, u, cost)
		}
	}
}

// Only what names both numbers is a report; all else is charged at the bound, and the answer
// is good all the same.
func TestUsageCountsWhenBothNumbersAreThere(t *testing.T) {
	chat := func(usage string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}` + "\n\n" +
			`data: {"choices":[],"usage":` + usage + "}\n\ndata: [DONE]\n\n"
	}
	messages := func(start, end string) string {
		return `data: {"type":"message_start","message":{"usage":` + start + "}}\n\n" +
			`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}` + "\n\n" +
			`data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":` + end + "}\n\n" + `data: {"type":"message_stop"}` + "\n\n"
	}
	bound := react.Usage{}
	for name, c := range map[string]struct {
		wire   react.Wire
		stream string
		want   react.Usage
	}{
		"both":                       {react.WireChat, chat(`{"prompt_tokens":9,"completion_tokens":2}`), react.Usage{In: 9, Out: 2}},
		"none":                       {react.WireChat, chat(`{}`), bound},
		"null":                       {react.WireChat, chat(`null`), bound},
		"nulls":                      {react.WireChat, chat(`{"prompt_tokens":null,"completion_tokens":null}`), bound},
		"read only":                  {react.WireChat, chat(`{"prompt_tokens":9}`), bound},
		"written only":               {react.WireChat, chat(`{"completion_tokens":2}`), bound},
		"nothing was read":           {react.WireChat, chat(`{"prompt_tokens":0,"completion_tokens":2}`), bound},
		"nothing was written":        {react.WireChat, chat(`{"prompt_tokens":9,"completion_tokens":0}`), bound},
		"a total alone":              {react.WireChat, chat(`{"total_tokens":1}`), bound},
		"thought is in the total":    {react.WireChat, chat(`{"prompt_tokens":9,"completion_tokens":2,"total_tokens":31}`), react.Usage{In: 9, Out: 22}},
		"a total that is too small":  {react.WireChat, chat(`{"prompt_tokens":9,"completion_tokens":2,"total_tokens":1}`), react.Usage{In: 9, Out: 2}},
		"a report taken back":        {react.WireChat, `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}` + "\n\n" + chat(`{}`), bound},
		"messages: both":             {react.WireMessages, messages(`{"input_tokens":9,"output_tokens":1}`, `{"output_tokens":2}`), react.Usage{In: 9, Out: 2}},
		"messages: both at the end":  {react.WireMessages, messages(`{}`, `{"input_tokens":9,"output_tokens":2}`), react.Usage{In: 9, Out: 2}},
		"messages: none":             {react.WireMessages, messages(`{}`, `{}`), bound},
		"messages: read only":        {react.WireMessages, messages(`{"input_tokens":9}`, `{}`), bound},
		"messages: as it began only": {react.WireMessages, messages(`{"input_tokens":9,"output_tokens":1}`, `{}`), bound},
		"messages: written only":     {react.WireMessages, messages(`{}`, `{"output_tokens":2}`), bound},
		"messages: from the cache":   {react.WireMessages, messages(`{"cache_read_input_tokens":5}`, `{"output_tokens":2}`), bound},
		"messages: and the cache":    {react.WireMessages, messages(`{"input_tokens":4,"cache_read_input_tokens":5}`, `{"output_tokens":2}`), react.Usage{In: 9, Out: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			got := reply(t, c.wire, modeltest.Reply{Stream: c.stream})
			want := c.want
			if want == bound {
				want = got.bound
			}
			if got.err != nil || got.answer.Text.Raw() != "x" || got.usage != want {
				t.Errorf("used %+v, want %+v; %v", got.usage, want, got.err)
			}
		})
	}
}

// What is believed is charged as it is reported, also above the bound: a provider may let a
// model think beyond the cap.
func TestUsageAboveTheBoundIsCharged(t *testing.T) {
	for out, void := range map[string]bool{"1500": false, "4000000": true} {
		got := reply(t, react.WireChat, modeltest.Reply{Stream: `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":` + out + "}}\n\ndata: [DONE]\n\n"})
		if void != errors.Is(got.err, model.ErrAnswer) || void != (got.charged() == "bound") || !void && got.usage.Out != 1500 {
			t.Errorf("%s tokens: charged %+v, %v", out, got.usage, got.err)
		}
	}
}

// A call that was refused costs nothing, unless the provider reports that it does.
func TestUsageOfARefusedCall(t *testing.T) {
	for _, c := range []struct {
		usage   string
		charged string
	}{
		{`null`, "nothing"}, {`{}`, "nothing"}, {`7`, "nothing"},
		{`{"prompt_tokens":9,"input_tokens":9}`, "nothing"}, // half a report is none
		{`{"prompt_tokens":10,"completion_tokens":5,"input_tokens":10,"output_tokens":5}`, "reported"},
		{`{"prompt_tokens":-1,"completion_tokens":5,"input_tokens":-1,"output_tokens":5}`, "bound"},
	} {
		for _, wire := range wires {
			got := reply(t, wire, modeltest.Reply{Status: 429, Body: `{"error":"slow down","usage":` + c.usage + `}`})
			if !errors.Is(got.err, model.ErrRefused) || got.charged() != c.charged {
				t.Errorf("%s, %s: charged %s, %v", wire, c.usage, got.charged(), got.err)
			}
		}
	}
}
