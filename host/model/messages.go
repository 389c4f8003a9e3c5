package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// messages is Anthropic Messages.
type messages struct{}

// path accepts addresses with and without the version.
func (messages) path(base string) string {
	if strings.HasSuffix(strings.TrimSuffix(base, "/"), "/v1") {
		return "messages"
	}
	return "v1/messages"
}

// messagesVersion is the version of the protocol.
const messagesVersion = "2023-06-01"

func (messages) headers(key string) map[string]string {
	h := map[string]string{"Anthropic-Version": messagesVersion}
	if key != "" {
		h["X-Api-Key"] = key
	}
	return h
}

type messagesBody struct {
	Model     string         `json:"model"`
	MaxTokens int            `json:"max_tokens"`
	System    string         `json:"system,omitempty"`
	Messages  []message      `json:"messages"`
	Tools     []messagesTool `json:"tools,omitempty"`
	Stream    bool           `json:"stream"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a part of a message: text, tool_use or tool_result.
type block struct {
	Type  string          `json:"type"`
	Text  string          `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	CallID  string `json:"tool_use_id,omitempty"`
	Content string `json:"content,omitempty"`
	IsError bool   `json:"is_error,omitempty"`
}

type messagesTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

func (messages) body(m react.Model, q Query, tools []function) ([]byte, error) {
	b := messagesBody{Model: m.Model, MaxTokens: m.Output, System: q.System, Stream: true}
	for _, t := range q.Turns {
		b.Messages = append(b.Messages, messagesTurn(t))
	}
	for _, f := range tools {
		b.Tools = append(b.Tools, messagesTool{f.name, f.description, f.schema})
	}
	return json.Marshal(b)
}

func messagesTurn(t Turn) message {
	switch {
	case t.Answer != nil:
		m := message{Role: "assistant"}
		if text := t.Answer.Text.Raw(); strings.TrimSpace(text) != "" { // the provider refuses empty ones
			m.Content = append(m.Content, block{Type: "text", Text: text})
		}
		for _, c := range t.Answer.Calls {
			m.Content = append(m.Content, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: args(c.Args)})
		}
		return m
	case len(t.Results) > 0:
		m := message{Role: "user"}
		for _, r := range t.Results {
			m.Content = append(m.Content, block{Type: "tool_result", CallID: r.Call, Content: r.Text, IsError: r.Failed})
		}
		return m
	}
	return message{Role: "user", Content: []block{{Type: "text", Text: t.User}}}
}

func (messages) read(events events, a *answer) error {
	open := map[int]*call{} // by the index of the block
	for {
		data, err := events.next()
		switch {
		case errors.Is(err, io.EOF):
			return errCut
		case err != nil:
			return err
		}
		m, err := read(data)
		if err != nil {
			return err
		}
		var r reading
		kind := r.text(m, "type")
		if r.err != nil {
			return r.err
		}
		switch kind {
		case "message_start":
			err = messagesStart(m, a)
		case "content_block_start":
			err = messagesBlock(m, open, a)
		case "content_block_delta":
			err = messagesDelta(m, open, a)
		case "message_delta":
			err = messagesEnd(m, a)
		case "message_stop":
			a.ended = true
			return nil
		case "error":
			return broken{trust.Untrusted(errorText(data))}
		} // others, such as ping, do not matter
		if err != nil {
			return err
		}
	}
}

// messagesStart reads the number of input tokens. The number of output tokens is not final yet.
func messagesStart(m object, a *answer) error {
	var r reading
	usage := r.object(r.object(m, "message"), "usage")
	if r.err == nil {
		messagesRead(usage, a)
	}
	return r.err
}

// messagesRead reads the number of input tokens, if reported. Tokens that were read from or
// written to the provider's cache count too.
func messagesRead(usage object, a *answer) {
	if usage["input_tokens"] == nil {
		return
	}
	a.usage.In = 0
	for _, name := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"} {
		n := usage.tokens(name)
		if n < 0 || a.usage.In < 0 {
			a.usage.In = -1
			continue
		}
		a.usage.In = react.Sum(a.usage.In, n)
	}
}

// messagesBlock reads the beginning of a block.
func messagesBlock(m object, open map[int]*call, a *answer) error {
	var r reading
	index, _ := r.index(m, "index")
	b := r.object(m, "content_block")
	kind := r.text(b, "type")
	if kind == "text" {
		if text := r.text(b, "text"); r.err == nil {
			return a.addText(text)
		}
	}
	if r.err != nil || kind != "tool_use" { // others are reasoning, and tools of the provider
		return r.err
	}
	id, name := r.text(b, "id"), r.text(b, "name")
	if r.err != nil {
		return r.err
	}
	if open[index] != nil {
		return fmt.Errorf("%w: two of its blocks have one index", ErrAnswer)
	}
	c, err := a.newCall(index, id, name)
	if err != nil {
		return err
	}
	open[index] = c
	if input := b["input"]; len(input) > 0 && string(input) != "{}" { // complete at once
		return c.addArgs(input)
	}
	return nil
}

// messagesDelta reads a part of a block.
func messagesDelta(m object, open map[int]*call, a *answer) error {
	var r reading
	index, _ := r.index(m, "index")
	delta := r.object(m, "delta")
	switch r.text(delta, "type") {
	case "text_delta":
		if text := r.text(delta, "text"); r.err == nil {
			return a.addText(text)
		}
	case "input_json_delta":
		if part := r.text(delta, "partial_json"); r.err == nil && open[index] != nil {
			return open[index].addArgs([]byte(part))
		}
	}
	return r.err
}

// messagesEnd reads why the answer ends, and what it used.
func messagesEnd(m object, a *answer) error {
	var r reading
	reason := r.text(r.object(m, "delta"), "stop_reason")
	usage := r.object(m, "usage")
	if r.err != nil {
		return r.err
	}
	switch reason {
	case "max_tokens", "model_context_window_exceeded":
		a.cut = true
	case "refusal":
		a.refused = "the model declines to answer"
	}
	messages{}.usage(usage, a)
	return nil
}

// usage reads what the call used.
func (messages) usage(told object, a *answer) {
	messagesRead(told, a)
	a.usage.Out = told.tokens("output_tokens")
}
