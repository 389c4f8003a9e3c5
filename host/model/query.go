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

// Query is what a model is asked. What others wrote stands in it within envelopes only.
type Query struct {
	// System is the instruction, ours and the operator's. Nothing of an event goes here.
	System string
	Turns  []Turn // the first is the user's
	// Tools are what the model may call for. They are told as the operator was shown them:
	// nothing in a description is hidden from a person.
	Tools []react.Pinned
	// JSON asks for an answer that is one JSON object, where the wire knows such a thing.
	// The instruction must say so too.
	JSON bool
}

// Turn is a part of a conversation: exactly one of its members is set.
type Turn struct {
	User    string        // sealed envelopes, and words of ours
	Answer  *react.Answer // what the model answered, as it was returned
	Results []Result      // of the calls of the answer before, each of them once
}

// Result is what became of a call.
type Result struct {
	Call   string // its id
	Text   string // a sealed envelope, or words of ours
	Failed bool
}

// check refuses what no provider takes.
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

// function is a tool as both wires describe it, but for the names of the members.
type function struct {
	name, description string
	schema            json.RawMessage
}

// functions returns the tools as they are told to the model.
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

// shown returns a description as a person sees it: nothing in it is hidden.
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

// limits are those of a message and of arguments.
var limits = jsontext.Limits{Depth: maxDepth, Bytes: maxLine}
