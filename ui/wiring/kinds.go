package wiring

import (
	"context"
	"fmt"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
	"eventdeck/host/react/agent"
	"eventdeck/host/react/converse"
)

// kinds joins the runners of all kinds of acts to one [react.Runner].
type kinds struct {
	acts   *act.Runner
	models *converse.Runner
	agents *agent.Runner
}

var (
	_ react.Runner = kinds{}
	_ react.Pinner = kinds{}
)

// of returns the runner of a kind of request.
func (k kinds) of(kind react.RequestKind) (react.Runner, error) {
	switch kind {
	case react.RequestCommand, react.RequestWebhook, react.RequestNote, react.RequestClient:
		return k.acts, nil
	case react.RequestModel, react.RequestChoice, react.RequestTool:
		return k.models, nil
	case react.RequestAgent:
		return k.agents, nil
	}
	return nil, fmt.Errorf("nothing here carries out a %s", kind)
}

// kindOf returns the kind of the first request of an act.
func kindOf(do react.Do) react.RequestKind {
	switch {
	case do.Task != nil:
		return react.RequestModel
	case do.Choice != nil:
		return react.RequestChoice
	case do.Agent != nil:
		return react.RequestAgent
	case do.Webhook != nil:
		return react.RequestWebhook
	case do.Command != nil:
		return react.RequestCommand
	}
	return react.RequestNote // client requests too have this runner
}

// Prepare implements [react.Runner].
func (k kinds) Prepare(rule react.Rule, run react.Run, members []event.Record) (react.Request, error) {
	r, err := k.of(kindOf(rule.Do))
	if err != nil {
		return react.Request{}, err
	}
	return r.Prepare(rule, run, members)
}

// Pin implements [react.Pinner].
func (k kinds) Pin(ctx context.Context, rule react.Rule) []react.Pinned {
	return k.models.Pin(ctx, rule)
}

// Ready implements [react.Runner].
func (k kinds) Ready(ctx context.Context, req react.Request, attempt int) (react.Attempt, error) {
	r, err := k.of(req.Kind)
	if err != nil {
		return nil, err
	}
	return r.Ready(ctx, req, attempt)
}

// Adopt implements [react.Runner].
func (k kinds) Adopt(ctx context.Context, req react.Request, h react.Handle) (react.Attempt, error) {
	r, err := k.of(req.Kind)
	if err != nil {
		return nil, err
	}
	return r.Adopt(ctx, req, h)
}

// Forget implements [react.Runner]. The handle says what an act left on the disk.
func (k kinds) Forget(h react.Handle) error { return k.acts.Forget(h) }
