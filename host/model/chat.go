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

// chat is Chat Completions, as OpenAI defines it and others speak it.
type chat struct{}

func (chat) path(string) string { return "chat/completions" }

func (chat) headers(key string) map[string]string {
	if key == "" {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + key}
}

type chatBody struct {
	Model    string        `json:"model"`
	Messages []chatMessage `json:"messages"`
	Tools    []chatTool    `json:"tools,omitempty"`
	Format   *chatType     `json:"response_format,omitempty"`
	// One of these is the limit of output: newer models of OpenAI know only the second, most
	// other providers only the first.
	MaxTokens           int         `json:"max_tokens,omitempty"`
	MaxCompletionTokens int         `json:"max_completion_tokens,omitempty"`
	Stream              bool        `json:"stream"`
	StreamOptions       chatOptions `json:"stream_options"`
}

type chatType struct {
	Type string `json:"type"`
}

type chatOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatMessage struct {
	Role    string     `json:"role"`
	Content *string    `json:"content"`
	Calls   []chatCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function chatFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type chatFunction struct {
	Name string `json:"name"`
	Args string `json:"arguments"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatDeclared `json:"function"`
}

type chatDeclared struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (chat) body(m react.Model, q Query, tools []function) ([]byte, error) {
	b := chatBody{Model: m.Model, MaxTokens: m.Output, Stream: true, StreamOptions: chatOptions{true}}
	if u, err := react.ParseModelURL(m.URL); err == nil && (u.Hostname() == "api.openai.com" || strings.HasSuffix(u.Hostname(), ".openai.azure.com")) {
		b.MaxTokens, b.MaxCompletionTokens = 0, m.Output
	}
	if q.JSON {
		b.Format = &chatType{"json_object"}
	}
	if q.System != "" {
		b.Messages = append(b.Messages, chatMessage{Role: "system", Content: &q.System})
	}
	for _, t := range q.Turns {
		b.Messages = append(b.Messages, chatTurn(t)...)
	}
	for _, f := range tools {
		b.Tools = append(b.Tools, chatTool{"function", chatDeclared{f.name, f.description, f.schema}})
	}
	return json.Marshal(b)
}

func chatTurn(t Turn) (all []chatMessage) {
	switch {
	case t.Answer != nil:
		m := chatMessage{Role: "assistant"}
		if text := t.Answer.Text.Raw(); text != "" {
			m.Content = &text
		}
		for _, c := range t.Answer.Calls {
			m.Calls = append(m.Calls, chatCall{c.ID, "function", chatFunction{c.Name, string(args(c.Args))}, c.Extra})
		}
		return []chatMessage{m}
	case len(t.Results) > 0:
		for _, r := range t.Results {
			all = append(all, chatMessage{Role: "tool", Content: &r.Text, CallID: r.Call})
		}
		return all
	}
	return []chatMessage{{Role: "user", Content: &t.User}}
}

func (chat) read(events events, a *answer) error {
	for {
		data, err := events.next()
		switch {
		case errors.Is(err, io.EOF) && !a.ended:
			return errCut
		case errors.Is(err, io.EOF):
			return nil // some providers do not mark the end
		case err != nil:
			return err
		case string(data) == "[DONE]":
			a.ended = true
			return nil
		}
		if err := chatChunk(data, a); err != nil {
			return err
		}
	}
}

// chatChunk reads one chat.completion.chunk.
func chatChunk(data []byte, a *answer) error {
	chunk, err := read(data)
	if err != nil {
		return err
	}
	if chunk["error"] != nil {
		return broken{trust.Untrusted(errorText(data))}
	}
	var r reading
	usage := r.object(chunk, "usage")
	if usage != nil {
		chat{}.usage(usage, a)
	}
	choices := r.list(chunk, "choices")
	if r.err != nil || len(choices) == 0 {
		return r.err
	}
	choice, err := read(choices[0]) // the request asked for one
	if err != nil {
		return err
	}
	if err := chatDelta(choice, a); err != nil {
		return err
	}
	return chatReason(choice, a)
}

// usage reads what the call used. Some providers count reasoning tokens only in the total; they
// are charged as output.
func (chat) usage(told object, a *answer) {
	a.usage = react.Usage{In: told.tokens("prompt_tokens"), Out: told.tokens("completion_tokens")}
	if a.usage.In > 0 && a.usage.Out > 0 {
		a.usage.Out = max(a.usage.Out, told.tokens("total_tokens")-a.usage.In)
	}
}

// chatReason reads why the answer ends, if it ends.
func chatReason(choice object, a *answer) error {
	var r reading
	reason := r.text(choice, "finish_reason")
	if r.err != nil || reason == "" {
		return r.err
	}
	a.ended = true
	switch reason {
	case "length":
		a.cut = true
	case "content_filter":
		a.refused = "the provider's filter withheld it"
	case "error":
		return broken{trust.Untrusted("error")}
	}
	return nil
}

// chatDelta reads the text and the parts of calls in a chunk.
func chatDelta(choice object, a *answer) error {
	var r reading
	delta := r.object(choice, "delta")
	for _, name := range []string{"content", "refusal"} {
		text := r.text(delta, name)
		if r.err != nil {
			return r.err
		}
		if err := a.addText(text); err != nil {
			return err
		}
	}
	for _, raw := range r.list(delta, "tool_calls") {
		if err := chatCallPart(raw, a); err != nil {
			return err
		}
	}
	return r.err
}

// chatCallPart reads a part of a call. Parts of a call have the same index. Some providers
// (Gemini, Ollama before 2025) send no index, or always the same: there a new id begins a new
// call, and a part without an id belongs to the last call.
func chatCallPart(raw []byte, a *answer) error {
	part, err := read(raw)
	if err != nil {
		return err
	}
	var r reading
	index, indexed := r.index(part, "index")
	id := r.text(part, "id")
	function := r.object(part, "function")
	name := r.text(function, "name")
	if r.err != nil {
		return r.err
	}
	c := a.chatCall(index, indexed, id, name)
	if c == nil {
		if !indexed {
			index = -1
		}
		if c, err = a.newCall(index, id, name); err != nil {
			return err
		}
	}
	if c.name == "" {
		c.name = name
	} else if name != "" && name != c.name {
		return fmt.Errorf("%w: a call has two names", ErrAnswer)
	}
	if extra := part["extra_content"]; extra != nil {
		if len(extra) > maxExtra {
			return fmt.Errorf("%w: what goes with a call has more than %d bytes", ErrAnswer, maxExtra)
		}
		c.extra = append(json.RawMessage(nil), extra...)
	}
	return chatArgs(function, c)
}

// chatCall returns the call that a part belongs to, nil if the part begins a new one.
func (a *answer) chatCall(index int, indexed bool, id, name string) *call {
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		if indexed && c.index != index {
			continue
		}
		if id == "" || id == c.id || c.id == "" {
			if c.id == "" && name != "" && c.name != "" && !indexed {
				return nil // a complete call without index and id
			}
			if c.id == "" {
				c.id = id
			}
			return c
		}
		return nil
	}
	return nil
}

// chatArgs adds to the arguments: text of JSON or, from some providers, the object itself.
func chatArgs(function object, c *call) error {
	value := function["arguments"]
	if len(value) > 0 && value[0] == '{' {
		return c.addArgs(value)
	}
	var r reading
	text := r.text(function, "arguments")
	if r.err != nil {
		return r.err
	}
	return c.addArgs([]byte(text))
}
