package model_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"eventdeck/host/model"
	"eventdeck/host/react"
)

func FuzzChatStream(f *testing.F) {
	f.Add([]byte(chatDone))
	f.Add([]byte(chatCalls(`{"index":0,"id":"c","function":{"name":"a__b","arguments":"{\"x\":1}"}}`)))
	f.Add([]byte(chatCalls(`{"function":{"name":"a__b","arguments":{"x":"\ud800"}}}`, `{"id":"d","function":{"name":"a__b"},"extra_content":{"a":1}}`)))
	f.Add([]byte(`data: {"choices":[{"delta":{"content":"x"},"finish_reason":"length"}],"usage":null}` + "\r\n\r\ndata: [DONE]\r\n\r\n"))
	f.Add([]byte(`data: {"error":{"message":"x"}}` + "\n\n"))
	fuzzStream(f, react.WireChat)
}

func FuzzMessagesStream(f *testing.F) {
	f.Add([]byte(messagesStart + messagesCall(0, "c", `{"x":1}`) + messagesDone))
	f.Add([]byte(messagesStart + "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n" + messagesDone))
	f.Add([]byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"message\":\"x\"}}\n\n"))
	fuzzStream(f, react.WireMessages)
}

// fuzzStream: whatever comes, an answer says one thing, within bounds, and can be stored and
// sent again; else it is an error that a caller can tell.
func fuzzStream(f *testing.F, wire react.Wire) {
	const secret = "sk-0123456789"
	client, err := model.Open(react.Model{Name: "m", Wire: wire, URL: "https://a.example/v1", Model: "x", Output: 10}, model.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		a, _, err := model.Read(wire, stream, secret)
		if err != nil {
			if errors.Is(err, io.EOF) {
				t.Errorf("the end of the stream is told as %v", err)
			}
			return
		}
		if strings.Contains(a.Text.Raw(), secret) {
			t.Error("the key is handed on")
		}
		ids := map[string]bool{}
		for _, c := range a.Calls {
			if c.ID == "" || ids[c.ID] || c.Name == "" || a.Cut || len(c.Args) == 0 || c.Args[0] != '{' {
				t.Errorf("call %+v", c)
			}
			ids[c.ID] = true
		}
		stored, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back react.Answer
		if err := json.Unmarshal(stored, &back); err != nil {
			t.Fatal(err)
		}
		q := model.Query{Turns: []model.Turn{{User: "x"}, {Answer: &a}}}
		first, err := client.Body(q)
		if err != nil || !json.Valid(first) {
			t.Fatalf("%s, %v", first, err)
		}
		q.Turns[1].Answer = &back
		if again, err := client.Body(q); err != nil || string(again) != string(first) {
			t.Errorf("after it was stored the answer is sent as %s, %v; before as %s", again, err, first)
		}
	})
}
