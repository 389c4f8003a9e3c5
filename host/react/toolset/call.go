package toolset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"eventdeck/host/react"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// ErrArguments: the arguments of a tool call are not accepted; the text says why.
var ErrArguments = errors.New("the arguments cannot be taken")

// Bounds of a call, in bytes.
const (
	MaxArguments = 64 << 10
	maxError     = 1000 // of the reason why a call failed
)

// Arguments returns the arguments of a tool call, sorted by name: the given ones and those that
// the operator fixed. The given ones must match the run's schema of the tool, and set nothing
// that the operator fixed or dropped.
//
// Error: [ErrArguments].
func Arguments(p react.Pinned, given json.RawMessage) (json.RawMessage, error) {
	if len(given) == 0 || string(given) == "null" {
		given = json.RawMessage("{}")
	}
	members, err := strict.ParseObject(given, strict.Limits{Bytes: MaxArguments})
	if err != nil {
		return nil, fmt.Errorf("%w: they are no JSON object of at most %d bytes", ErrArguments, MaxArguments)
	}
	all := map[string]json.RawMessage{}
	for _, m := range members {
		if withheld(p.Tool, m.Key.Raw()) {
			return nil, fmt.Errorf("%w: the operator does not let %q be set", ErrArguments, trust.Line(m.Key).Plain())
		}
		all[m.Key.Raw()] = m.Value
	}
	if err := schema.CheckStrictly(p.Name, p.Schema, given); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	for name, value := range p.Fix {
		all[name] = value
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	return text, nil
}

// withheld reports whether the operator fixed or dropped a parameter. Letter case is ignored, as
// some servers do.
func withheld(t react.Tool, name string) bool {
	same := func(other string) bool { return strings.EqualFold(name, other) }
	for fixed := range t.Fix {
		if same(fixed) {
			return true
		}
	}
	return slices.ContainsFunc(t.Drop, same)
}

// Request returns the exact request of a call, with class and pin of the tool as the server
// describes it now; the pin is "" if the server no longer lists it. changed says in our own
// words what differs from the run's description, "" for nothing. first is the request with which
// the run began.
//
// Errors: [ErrArguments], those of [react.Toolbox.ToolsOf].
func Request(ctx context.Context, box react.Toolbox, first react.Request, p react.Pinned, given json.RawMessage) (req react.Request, changed string, err error) {
	args, err := Arguments(p, given)
	if err != nil {
		return req, "", err
	}
	list, err := box.ToolsOf(ctx, p.Server)
	if err != nil {
		return req, "", fmt.Errorf("tools of %s: %w", p.Server, err)
	}
	def, there := find(list, p.Name)
	class := p.Class
	if def.MayWrite {
		class = react.ToolWrite
	}
	return react.Request{
		Kind: react.RequestTool, Run: first.Run, Rule: first.Rule, Seq: first.Seq, Count: first.Count,
		Server: p.Server, Tool: p.Name, Class: class, Pin: def.Pin, Input: args, Time: first.Time,
	}, differs(p, def, there), nil
}

// differs says what changed in the description of a tool, "" for nothing.
func differs(p react.Pinned, def react.ToolDef, there bool) string {
	switch {
	case !there:
		return "its server lists it no more"
	case def.Pin == p.Pin:
		return ""
	}
	var what []string
	if def.Description != p.Description {
		what = append(what, "description")
	}
	if now, err := without(def.Schema, p.Tool); err != nil || !bytes.Equal(trust.AppendCompactJSON(nil, now), trust.AppendCompactJSON(nil, p.Schema)) {
		what = append(what, "arguments")
	}
	if def.MayWrite && p.Class == react.ToolRead {
		what = append(what, "hint that it changes nothing")
	}
	if len(what) == 0 {
		what = []string{"hints"}
	}
	return "its server changed its " + strings.Join(what, " and its ")
}

// Refusal says in our own words why [Request] failed.
func Refusal(err error) string {
	if errors.Is(err, ErrArguments) {
		return cut(err.Error()) // it may quote the arguments
	}
	return "its server cannot be asked for its tools now"
}

// Call calls the tool of a begun step, and returns the step as it ended. Text of the server,
// errors included, is only in the result. known is false if the call may have changed something
// and its outcome is unknown: such a step must not be ended.
func Call(ctx context.Context, box react.Toolbox, s react.Step) (ended react.Step, known bool) {
	result, err := box.CallTool(ctx, s.Server, s.Tool, s.Args)
	refused := errors.Is(err, react.ErrToolRefused)
	switch {
	case err == nil && !result.Failed:
		s.State = react.StepDone
	case err == nil:
		s.State, s.Why = react.StepFailed, "the tool says that it failed"
	case !refused && s.Class != react.ToolRead:
		return s, false
	default:
		s.State, s.Why = react.StepFailed, "the server did not answer"
		if refused {
			s.Why = "the server did not carry it out"
		}
		result = react.ToolResult{Content: trust.Untrusted(cut(err.Error())), Failed: true}
	}
	s.Result = &result
	return s, true
}

func cut(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxError)], "") }

// Unknown says what happened in a step whose outcome [Call] does not know.
func Unknown(s react.Step) string {
	return fmt.Sprintf("it is not known whether %s/%s was carried out", s.Server, s.Tool)
}
