package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/react"
	"eventdeck/host/react/toolset"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// Query is a question to a model with the conversation so far. Foreign text is only in envelopes.
type Query struct {
	// System is the instruction: our own text and the operator's, nothing of an event.
	System string
	Turns  []Turn // the first is the user's
	// Tools are those that the model may call. Their descriptions are sent as the operator saw
	// them, with hidden characters made visible.
	Tools []react.Pinned
	// JSON asks for an answer that is one JSON object, if the protocol supports that. The
	// instruction must say so too.
	JSON bool
}

// Turn is a part of a conversation. Exactly one member is set.
type Turn struct {
	User    string        // envelopes and our own text
	Answer  *react.Answer // an answer of the model, as it was returned
	Results []Result      // one for each call in the answer before
}

// Result is the result of a call.
type Result struct {
	Call   string // its id
	Text   string // an envelope, or our own text
	Failed bool
}

// check refuses queries that no provider accepts.
func (q Query) check() error {
	if len(q.Turns) == 0 || q.Turns[0].User == "" {
		return errors.New("a conversation begins with the user")
	}
	for _, t := range q.Turns {
		if t.User == "" && t.Answer == nil && len(t.Results) == 0 {
			return errors.New("a turn is empty")
		}
	}
	names := map[string]bool{}
	for _, t := range q.Tools {
		name := toolset.Name(t.Server, t.Name)
		if names[name] {
			return fmt.Errorf("two tools are called %s", name)
		}
		names[name] = true
	}
	return nil
}

// function is the description of a tool, the same in both protocols but for member names.
type function struct {
	name, description string
	schema            json.RawMessage
}

// functions returns the tools as they are described to the model.
func (q Query) functions() ([]function, error) {
	all := make([]function, 0, len(q.Tools))
	for _, t := range q.Tools {
		f := function{name: toolset.Name(t.Server, t.Name), description: shown(t.Description), schema: json.RawMessage(`{"type":"object","properties":{}}`)}
		if len(f.description) > maxDescription {
			f.description = strings.ToValidUTF8(f.description[:maxDescription], "") + "…"
		}
		if len(t.Schema) > 0 {
			if _, err := strict.ParseObject(t.Schema, strict.Limits{}); err != nil {
				return nil, fmt.Errorf("schema of %s/%s: %w", t.Server, t.Name, err)
			}
			f.schema = trust.AppendCompactJSON(nil, t.Schema)
		}
		all = append(all, f)
	}
	return all, nil
}

// shown returns a description with hidden characters made visible.
func shown(description trust.Text) string {
	var lines []string
	for _, line := range trust.Block(description, 0) {
		lines = append(lines, line.Plain())
	}
	return strings.Join(lines, "\n")
}

// args returns the arguments of a call as a JSON object.
func args(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage(`{}`)
	}
	return raw
}

// limits bound a message, and the arguments of a call.
var limits = jsontext.Limits{Depth: maxDepth, Bytes: maxLine}
