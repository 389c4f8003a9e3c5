package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"eventdeck/host/react"
)

// usage returns what is reported.
func (r Reply) usage() react.Usage {
	if r.Usage != nil {
		return *r.Usage
	}
	return react.Usage{In: 10, Out: 5}
}

// chat returns the reply as Chat Completions stream it.
func (r Reply) chat() string {
	var b strings.Builder
	chunk := func(choices, usage any) {
		fmt.Fprintf(&b, "data: %s\n\n", encoded(map[string]any{"id": "stub", "object": "chat.completion.chunk", "choices": choices, "usage": usage}))
	}
	delta := func(delta, reason any) {
		chunk([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}}, nil)
	}
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, word := range strings.SplitAfter(r.Text, " ") {
		if word != "" {
			delta(map[string]any{"content": word}, nil)
		}
	}
	reason := "stop"
	for i, c := range r.Calls {
		reason = "tool_calls"
		begin := map[string]any{"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}}
		if c.Extra != nil {
			begin["extra_content"] = c.Extra
		}
		delta(map[string]any{"tool_calls": []any{begin}}, nil)
		for _, part := range halves(string(c.Args)) {
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": part}}}}, nil)
		}
	}
	if r.Cut {
		reason = "length"
	}
	delta(map[string]any{}, reason)
	if u := r.usage(); !r.NoUsage {
		chunk([]any{}, map[string]any{"prompt_tokens": u.In, "completion_tokens": u.Out, "total_tokens": u.In + u.Out})
	}
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

// messages returns the reply as Anthropic Messages stream it.
func (r Reply) messages() string {
	var b strings.Builder
	event := func(kind string, members map[string]any) {
		members["type"] = kind
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, encoded(members))
	}
	start := map[string]any{"id": "stub", "type": "message", "role": "assistant", "content": []any{}}
	u := r.usage()
	if !r.NoUsage {
		start["usage"] = map[string]any{"input_tokens": u.In, "output_tokens": 1}
	}
	event("message_start", map[string]any{"message": start})
	event("ping", map[string]any{})
	index := 0
	if r.Text != "" {
		event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "text", "text": ""}})
		for _, word := range strings.SplitAfter(r.Text, " ") {
			event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "text_delta", "text": word}})
		}
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	reason := "end_turn"
	for _, c := range r.Calls {
		reason = "tool_use"
		event("content_block_start", map[string]any{"index": index, "content_block": map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}}})
		for _, part := range halves(string(c.Args)) {
			event("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": "input_json_delta", "partial_json": part}})
		}
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	if r.Cut {
		reason = "max_tokens"
	}
	end := map[string]any{"delta": map[string]any{"stop_reason": reason}}
	if !r.NoUsage {
		end["usage"] = map[string]any{"output_tokens": u.Out}
	}
	event("message_delta", end)
	event("message_stop", map[string]any{})
	return b.String()
}

// halves splits a text in two, so that no reader gets by with one part.
func halves(text string) []string { return []string{text[:len(text)/2], text[len(text)/2:]} }

func encoded(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // a reply with something else than JSON in it
	}
	return raw
}
