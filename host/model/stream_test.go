package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"eventdeck/host/model"
	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
)

// asked is what became of one question.
type asked struct {
	answer react.Answer
	usage  react.Usage
	cost   int64
	err    error

	bound react.Usage
	most  int64
}

// charged says in a word what a call was charged with.
func (a asked) charged() string {
	switch {
	case a.usage == a.bound && a.cost == a.most:
		return "bound"
	case a.usage == react.Usage{} && a.cost == 0:
		return "nothing"
	}
	return "reported"
}

// ask asks a short question.
func ask(t *testing.T, c *model.Client) (a asked) {
	t.Helper()
	body, err := c.Body(model.Query{System: "Be short.", Turns: []model.Turn{{User: "What is it?"}}})
	if err != nil {
		t.Fatal(err)
	}
	a.bound, a.most = c.Bound(body)
	a.answer, a.usage, a.cost, a.err = c.Ask(t.Context(), body, nil)
	return a
}

// reply asks a stub that gives one reply.
func reply(t *testing.T, wire react.Wire, r modeltest.Reply) asked {
	t.Helper()
	s := modeltest.New(t)
	s.Play(r)
	return ask(t, open(t, s.Model(wire), model.Options{}))
}

const (
	chatDone      = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" + `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n"
	messagesStart = `data: {"type":"message_start","message":{"usage":{"input_tokens":9}}}` + "\n\n"
	messagesDone  = `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
)

// chatCalls is a stream with parts of calls, each the object in tool_calls.
func chatCalls(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[%s]}}]}\n\n", p)
	}
	return b.String() + chatDone
}

// messagesCall is a stream with one call.
func messagesCall(index int, id, args string) string {
	return fmt.Sprintf("data: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":{\"type\":\"tool_use\",\"id\":%q,\"name\":\"a__b\",\"input\":{}}}\n\n", index, id) +
		fmt.Sprintf("data: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%q}}\n\n", index, args)
}

func TestAnswersThatCannotBeUsed(t *testing.T) {
	many := make([]string, 100_000)
	for i := range many {
		many[i] = fmt.Sprintf(`{"index":%d,"id":"c%d","function":{"name":"a__b","arguments":"{}"}}`, i, i)
	}
	var manyBlocks strings.Builder
	for i := range many {
		manyBlocks.WriteString(messagesCall(i, fmt.Sprintf("c%d", i), "{}"))
	}
	text := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		wire    react.Wire
		stream  string
		says    string
		charged string
	}{
		"no JSON":                 {react.WireChat, "data: {\n\n", "", "bound"},
		"a list":                  {react.WireChat, "data: []\n\n", "", "bound"},
		"one member twice":        {react.WireChat, `data: {"choices":[],"choices":[{"delta":{"content":"x"}}]}` + "\n\n" + chatDone, "duplicate", "bound"},
		"one member twice within": {react.WireChat, `data: {"choices":[{"delta":{"content":"x","content":"y"}}]}` + "\n\n" + chatDone, "duplicate", "bound"},
		"text that is none":       {react.WireChat, `data: {"choices":[{"delta":{"content":["x"]}}]}` + "\n\n" + chatDone, "content", "bound"},
		"two calls with one id": {react.WireChat, chatCalls(`{"index":0,"id":"c","function":{"name":"a__b","arguments":"{}"}}`,
			`{"index":1,"id":"c","function":{"name":"a__b","arguments":"{}"}}`), "one id", "reported"},
		"one argument twice":             {react.WireChat, chatCalls(`{"index":0,"id":"c","function":{"name":"a__b","arguments":"{\"x\":1,\"x\":2}"}}`), "duplicate", "reported"},
		"arguments that are no object":   {react.WireChat, chatCalls(`{"index":0,"id":"c","function":{"name":"a__b","arguments":"7"}}`), "object", "reported"},
		"arguments with something after": {react.WireChat, chatCalls(`{"index":0,"id":"c","function":{"name":"a__b","arguments":"{}{}"}}`), "arguments", "reported"},
		"a call of no tool":              {react.WireChat, chatCalls(`{"index":0,"id":"c","function":{"arguments":"{}"}}`), "names no tool", "reported"},
		"a call with two names": {react.WireChat, chatCalls(`{"index":0,"id":"c","function":{"name":"a__b"}}`,
			`{"index":0,"function":{"name":"a__c","arguments":"{}"}}`), "two names", "bound"},
		"an index below zero":    {react.WireChat, chatCalls(`{"index":-1,"id":"c","function":{"name":"a__b","arguments":"{}"}}`), "index", "bound"},
		"a long id":              {react.WireChat, chatCalls(`{"index":0,"id":"` + text(300) + `","function":{"name":"a__b","arguments":"{}"}}`), "256", "reported"},
		"100,000 calls":          {react.WireChat, chatCalls(many...), "64 tools", "bound"},
		"100,000 calls at once":  {react.WireChat, chatCalls(strings.Join(many, ",")), "bytes", "bound"},
		"long arguments":         {react.WireChat, chatCalls(`{"index":0,"id":"c","function":{"name":"a__b","arguments":"` + text(model.MaxArgs+1) + `"}}`), "arguments", "bound"},
		"long extras":            {react.WireChat, chatCalls(`{"index":0,"id":"c","function":{"name":"a__b"},"extra_content":{"x":"` + text(70_000) + `"}}`), "goes with a call", "bound"},
		"a long text":            {react.WireChat, strings.Repeat(`data: {"choices":[{"delta":{"content":"`+text(1000)+`"}}]}`+"\n\n", 1100) + chatDone, "text", "bound"},
		"a long line":            {react.WireChat, "data: " + text(model.MaxLine+10), "too large", "bound"},
		"long data":              {react.WireChat, strings.Repeat("data: "+text(1000)+"\n", model.MaxLine/1000+1), "too large", "bound"},
		"deep JSON":              {react.WireChat, "data: " + strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100) + "\n\n", "", "bound"},
		"withheld":               {react.WireChat, `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"content_filter"}]}` + "\n\n" + chatDone, "filter", "reported"},
		"usage of -1":            {react.WireChat, `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1,"completion_tokens":1}}` + "\n\ndata: [DONE]\n\n", "cannot be", "bound"},
		"usage beyond all":       {react.WireChat, `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":9223372036854775807}}` + "\n\ndata: [DONE]\n\n", "cannot be", "bound"},
		"usage that is a number": {react.WireChat, `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1e3,"completion_tokens":1}}` + "\n\ndata: [DONE]\n\n", "cannot be", "bound"},
		"nothing":                {react.WireChat, chatDone, "empty", "reported"},

		"messages: no JSON":              {react.WireMessages, "data: {\n\n", "", "bound"},
		"messages: one member twice":     {react.WireMessages, `data: {"type":"ping","type":"message_stop"}` + "\n\n", "duplicate", "bound"},
		"messages: two calls, one id":    {react.WireMessages, messagesStart + messagesCall(0, "c", "{}") + messagesCall(1, "c", "{}") + messagesDone, "one id", "reported"},
		"messages: two calls, one index": {react.WireMessages, messagesStart + messagesCall(0, "c", "{}") + messagesCall(0, "d", "{}") + messagesDone, "one index", "bound"},
		"messages: one argument twice":   {react.WireMessages, messagesStart + messagesCall(0, "c", `{"x":1,"x":2}`) + messagesDone, "duplicate", "reported"},
		"messages: 100,000 calls":        {react.WireMessages, messagesStart + manyBlocks.String() + messagesDone, "64 tools", "bound"},
		"messages: declined":             {react.WireMessages, strings.Replace(messagesStart+messagesDone, "end_turn", "refusal", 1), "declines", "reported"},
		"messages: usage of -1":          {react.WireMessages, messagesStart + strings.Replace(messagesDone, "2}}", "-1}}", 1), "cannot be", "bound"},
		"messages: usage that adds up": {react.WireMessages, `data: {"type":"message_start","message":{"usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807}}}` + "\n\n" +
			messagesCall(0, "c", "{}") + messagesDone, "cannot be", "bound"},
	} {
		t.Run(name, func(t *testing.T) {
			got := reply(t, c.wire, modeltest.Reply{Stream: c.stream})
			if !errors.Is(got.err, model.ErrAnswer) || !strings.Contains(fmt.Sprint(got.err), c.says) {
				t.Errorf("%v; want %q in it", got.err, c.says)
			}
			if got.charged() != c.charged {
				t.Errorf("charged %s: %+v, %d", got.charged(), got.usage, got.cost)
			}
			if !got.answer.Text.IsZero() || got.answer.Calls != nil {
				t.Errorf("%+v was handed on", got.answer)
			}
		})
	}
}

// What providers do that the definition does not say: no index, no ids, an index that is
// always 0, arguments at once or as an object, no end mark.
func TestStreamsOfSeveralProviders(t *testing.T) {
	for name, c := range map[string]struct{ stream, want string }{
		"no index, as Gemini": {chatCalls(`{"id":"a","type":"function","function":{"name":"s__x","arguments":"{\"n\":1}"},"extra_content":{"google":{"thought_signature":"s1"}}}`,
			`{"id":"b","type":"function","function":{"name":"s__x","arguments":"{\"n\":2}"}}`),
			`[{"id":"a","name":"s__x","args":{"n":1},"extra":{"google":{"thought_signature":"s1"}}},{"id":"b","name":"s__x","args":{"n":2}}]`},
		"parts without an index":         {chatCalls(`{"id":"a","function":{"name":"s__x","arguments":"{\"n\""}}`, `{"function":{"arguments":":1}"}}`), `[{"id":"a","name":"s__x","args":{"n":1}}]`},
		"neither index nor id":           {chatCalls(`{"function":{"name":"s__x","arguments":"{\"n\":1}"}}`, `{"function":{"name":"s__y","arguments":"{\"n\":2}"}}`), `[{"id":"call_1","name":"s__x","args":{"n":1}},{"id":"call_2","name":"s__y","args":{"n":2}}]`},
		"an index alone, as Ollama":      {chatCalls(`{"index":0,"function":{"name":"s__x","arguments":"{\"n\":1}"}}`, `{"index":1,"function":{"name":"s__x","arguments":"{}"}}`), `[{"id":"call_1","name":"s__x","args":{"n":1}},{"id":"call_2","name":"s__x","args":{}}]`},
		"always the same index":          {chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"s__y","arguments":"{}"}}`), `[{"id":"a","name":"s__x","args":{}},{"id":"b","name":"s__y","args":{}}]`},
		"no arguments":                   {chatCalls(`{"index":0,"id":"a","function":{"name":"s__x"}}`, `{"index":1,"id":"b","function":{"name":"s__x","arguments":""}}`), `[{"id":"a","name":"s__x","args":{}},{"id":"b","name":"s__x","args":{}}]`},
		"arguments as an object":         {chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":{"n":1}}}`), `[{"id":"a","name":"s__x","args":{"n":1}}]`},
		"the name with each part":        {chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":"{\"n\":"}}`, `{"index":0,"id":"a","function":{"name":"s__x","arguments":"1}"}}`), `[{"id":"a","name":"s__x","args":{"n":1}}]`},
		"calls in turn":                  {chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":"{"}}`, `{"index":1,"id":"b","function":{"name":"s__y","arguments":"{"}}`, `{"index":0,"function":{"arguments":"}"}}`, `{"index":1,"function":{"arguments":"}"}}`), `[{"id":"a","name":"s__x","args":{}},{"id":"b","name":"s__y","args":{}}]`},
		"comments and CRLF":              {strings.ReplaceAll(": OPENROUTER PROCESSING\n\n"+chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":"{}"}}`), "\n", "\r\n"), `[{"id":"a","name":"s__x","args":{}}]`},
		"no end mark and no empty line":  {strings.TrimSuffix(strings.Replace(chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":"{}"}}`), "data: [DONE]\n\n", "", 1), "\n\n"), `[{"id":"a","name":"s__x","args":{}}]`},
		"usage in each chunk, as vLLM":   {`data: {"choices":[{"delta":{"role":"assistant","content":null,"reasoning_content":"hm"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}` + "\n\n" + chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":"{}"}}`), `[{"id":"a","name":"s__x","args":{}}]`},
		"something behind the end mark":  {chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":"{}"}}`) + "data: {no JSON\n\n", `[{"id":"a","name":"s__x","args":{}}]`},
		"a call with blanks, compacted":  {chatCalls(`{"index":0,"id":"a","function":{"name":"s__x","arguments":" { \"n\" : 1 } "}}`), `[{"id":"a","name":"s__x","args":{"n":1}}]`},
		"a member that is there by case": {chatCalls(`{"index":0,"id":"a","ID":"z","function":{"name":"s__x","Name":"evil","arguments":"{}"}}`), `[{"id":"a","name":"s__x","args":{}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			got := reply(t, react.WireChat, modeltest.Reply{Stream: c.stream})
			if got.err != nil {
				t.Fatal(got.err)
			}
			if calls, err := json.Marshal(got.answer.Calls); err != nil || string(calls) != c.want {
				t.Errorf("%s, %v", calls, err)
			}
			if got.usage != (react.Usage{In: 9, Out: 2}) || got.cost != 57 {
				t.Errorf("used %+v for %d", got.usage, got.cost)
			}
		})
	}
}

func TestAnswersThatAreCut(t *testing.T) {
	for _, wire := range wires {
		got := reply(t, wire, modeltest.Reply{Text: "It is", Cut: true, Calls: []react.Call{{ID: "a", Name: "x", Args: json.RawMessage(`{}`)}}})
		if got.err != nil || !got.answer.Cut || got.answer.Text.Raw() != "It is" || len(got.answer.Calls) != 0 {
			t.Errorf("%s: %+v, %v", wire, got.answer, got.err)
		}
	}
}

// An answer that is there as a whole is good without its usage, which is charged at the
// bound.
func TestAnswersWithoutUsage(t *testing.T) {
	for _, wire := range wires {
		got := reply(t, wire, modeltest.Reply{Text: "It is a deploy.", NoUsage: true})
		if got.err != nil || got.answer.Text.Raw() != "It is a deploy." || got.charged() != "bound" || !got.usage.Estimated {
			t.Errorf("%s: %+v, charged %s %+v, %v", wire, got.answer, got.charged(), got.usage, got.err)
		}
	}
}

// Wherever the connection ends before the answer does, nobody knows what was spent.
func TestConnectionsThatEndEarly(t *testing.T) {
	for _, wire := range wires {
		for _, at := range []int{1, 50, 150, 300} {
			got := reply(t, wire, modeltest.Reply{Text: "It is a deploy, and a long one at that.", Close: at})
			if !errors.Is(got.err, model.ErrUnknown) || got.charged() != "bound" {
				t.Errorf("%s, closed after %d bytes: %v, charged %s", wire, at, got.err, got.charged())
			}
		}
		got := reply(t, wire, modeltest.Reply{Stream: "\n"})
		if !errors.Is(got.err, model.ErrUnknown) || got.charged() != "bound" {
			t.Errorf("%s: an empty stream: %v, charged %s", wire, got.err, got.charged())
		}
	}
}

func TestErrorsInTheMiddle(t *testing.T) {
	for name, c := range map[string]struct {
		wire   react.Wire
		stream string
	}{
		"chat":       {react.WireChat, `data: {"choices":[{"delta":{"content":"It"}}]}` + "\n\n" + `data: {"error":{"message":"upstream broke","code":502},"choices":[{"delta":{},"finish_reason":"error"}]}` + "\n\n"},
		"chat, text": {react.WireChat, `data: {"error":"upstream broke"}` + "\n\n"},
		"messages":   {react.WireMessages, messagesStart + "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"upstream broke"}}` + "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := reply(t, c.wire, modeltest.Reply{Stream: c.stream})
			if !errors.Is(got.err, model.ErrUnknown) || !strings.Contains(got.err.Error(), "upstream broke") || got.charged() != "bound" {
				t.Errorf("%v, charged %s", got.err, got.charged())
			}
		})
	}
}
