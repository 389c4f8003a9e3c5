package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"eventdeck/host/eventserver"
)

// ModelPath is the path of the stand-in for a model.
const ModelPath = "/v1"

// modelName is the name of the stand-in.
const modelName = "scripted-stand-in"

// maxAsked bounds the body of a call, in bytes.
const maxAsked = 8 << 20

// pieceEvery is the time between two words of an answer, at speed 1.
const pieceEvery = 25 * time.Millisecond

// ModelOptions configure [RunModel].
type ModelOptions struct {
	ServerOptions
	// Hijacked: it answers like a model that a prompt injection has taken over: it obeys its input,
	// and calls every tool that it can name.
	Hijacked bool
}

// RunModel serves a stand-in for a language model, over Chat Completions, until ctx ends, which is
// no error. It is no model: fixed rules determine its answers, and the first one says so. The first
// line on o.Stderr is "listening on" and the address for rules.json.
//
// Errors: [ErrOptions]; those of listening and of serving.
func RunModel(ctx context.Context, o ModelOptions) error {
	o.ServerOptions = o.withDefaults("127.0.0.1:8935")
	if _, err := o.begin(); err != nil {
		return err
	}
	return listenAndServe(ctx, "model", o.Listen, "http", ModelPath, o.Stderr, func(ctx context.Context, ln net.Listener) error {
		m := standIn{opts: o, guard: o.guard(ln)}
		mux := http.NewServeMux()
		mux.HandleFunc("GET "+ModelPath+"/models", m.list)
		mux.HandleFunc("POST "+ModelPath+"/chat/completions", m.complete)
		return serveHTTP(ctx, "model", ln, mux, o.Log)
	})
}

// standIn answers for a model.
type standIn struct {
	opts  ModelOptions
	guard eventserver.Guard
}

// question is the part of a call of Chat Completions that the stand-in reads.
type question struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Calls   []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools []struct {
		Function offered `json:"function"`
	} `json:"tools"`
	Format struct {
		Type string `json:"type"`
	} `json:"response_format"`
}

// offered is a tool that may be called.
type offered struct {
	Name       string `json:"name"`
	Parameters struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	} `json:"parameters"`
}

// property is a parameter of a tool.
type property struct {
	Type    string   `json:"type"`
	Enum    []string `json:"enum"`
	Pattern string   `json:"pattern"`
	Minimum *float64 `json:"minimum"`
}

// modelAnswer is an answer of the stand-in.
type modelAnswer struct {
	text  string
	calls []toolCall
}

// toolCall is a call of a tool in an answer.
type toolCall struct {
	name string
	args map[string]any
}

func (m standIn) list(w http.ResponseWriter, r *http.Request) {
	if m.guard.Admit(w, r) {
		answerJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": modelName, "object": "model", "owned_by": "eventdeck"}}})
	}
}

func (m standIn) complete(w http.ResponseWriter, r *http.Request) {
	if !m.guard.Admit(w, r) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAsked))
	var q question
	switch {
	case err != nil:
		modelRefusal(w, http.StatusRequestEntityTooLarge, "the call cannot be read, or is too large")
		return
	case json.Unmarshal(body, &q) != nil || len(q.Messages) == 0:
		modelRefusal(w, http.StatusBadRequest, "the call makes no sense")
		return
	case !q.Stream:
		modelRefusal(w, http.StatusBadRequest, "the stand-in only streams: set \"stream\"")
		return
	}
	u := q.answer()
	if m.opts.Hijacked {
		u = q.hijackedAnswer()
	}
	m.stream(r.Context(), eventserver.StartSSE(w), u, len(body))
}

// stream sends an answer word by word.
func (m standIn) stream(ctx context.Context, out *eventserver.SSE, u modelAnswer, asked int) {
	said := len(u.text)
	chunk := func(choices []any, usage any) error {
		raw, err := json.Marshal(map[string]any{"id": "stand-in", "object": "chat.completion.chunk", "model": modelName, "choices": choices, "usage": usage})
		if err != nil {
			return err
		}
		return out.Write(fmt.Appendf(nil, "data: %s\n\n", raw))
	}
	delta := func(d map[string]any, reason any) error {
		return chunk([]any{map[string]any{"index": 0, "delta": d, "finish_reason": reason}}, nil)
	}
	pause := time.NewTicker(max(time.Duration(float64(pieceEvery)/m.opts.Speed), 1))
	defer pause.Stop()
	for _, word := range strings.SplitAfter(u.text, " ") {
		if word == "" {
			continue
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
		if delta(map[string]any{"content": word}, nil) != nil {
			return
		}
	}
	reason := "stop"
	for i, c := range u.calls {
		reason = "tool_calls"
		args, err := json.Marshal(c.args)
		if err != nil {
			panic("demo: arguments of our own cannot be spelled: " + err.Error())
		}
		said += len(c.name) + len(args)
		call := map[string]any{"index": i, "id": fmt.Sprintf("call_%d_%d", asked, i), "type": "function", "function": map[string]any{"name": c.name, "arguments": string(args)}}
		if delta(map[string]any{"tool_calls": []any{call}}, nil) != nil {
			return
		}
	}
	if delta(map[string]any{}, reason) != nil {
		return
	}
	const bytesPerToken = 4
	if chunk([]any{}, map[string]any{"prompt_tokens": asked / bytesPerToken, "completion_tokens": said/bytesPerToken + 1}) == nil {
		_ = out.Write([]byte("data: [DONE]\n\n")) // nothing depends on it
	}
}

// modelRefusal sends an error in the format of providers.
func modelRefusal(w http.ResponseWriter, status int, says string) {
	answerJSON(w, status, map[string]any{"error": map[string]any{"message": says, "type": "invalid_request_error"}})
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone needs no answer
}
