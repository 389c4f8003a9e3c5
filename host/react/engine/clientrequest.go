package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// clientTime is the time limit for carrying out a client request.
const clientTime = time.Minute

// ClientRequest implements [react.Control]. The same request begins again in the same run once
// its earlier answer no longer stands.
func (e *Engine) ClientRequest(ctx context.Context, w react.ClientRequest) (out react.Run, err error) {
	err = e.call(ctx, func() error {
		id := w.Run()
		if r := e.runs[id]; r != nil {
			out = cloneRun(&r.Run)
			return nil
		}
		switch old, err := e.Run(ctx, id); {
		case err == nil && old.Stands(e.now()):
			out = old
			return nil
		case err != nil && !errors.Is(err, react.ErrNoRun):
			return err
		}
		r, err := e.requested(id, w)
		if err != nil {
			return err
		}
		e.forget(id)
		e.add(r)
		action := string(w.Act) + " wished"
		if w.Act == react.ClientBegin {
			action = "subscription wished"
		}
		e.staged.audit = append(e.staged.audit, event.AuditEntry{At: r.Created, Actor: actor(r), Action: action, Server: w.Server, Type: w.Type, Sub: w.Sub, Result: "run " + string(id)})
		out = cloneRun(&r.Run)
		return nil
	})
	return out, err
}

// requested returns a new run for a client request. Error: [react.ErrClientRequests] if too many
// wait.
func (e *Engine) requested(id react.RunID, w react.ClientRequest) (*run, error) {
	name, err := json.Marshal(w.Client.Raw())
	if err != nil {
		return nil, err
	}
	key := react.Key(name)
	all, own := 0, 0
	for _, r := range e.runs {
		if r.Rule == react.ClientRule {
			if all++; r.Key == key {
				own++
			}
		}
	}
	switch {
	case all >= react.MaxClientRequests:
		return nil, fmt.Errorf("%w: %d of all clients; the operator decides them first", react.ErrClientRequests, all)
	case own >= react.MaxRequestsOfClient:
		return nil, fmt.Errorf("%w: %d of this client; the operator decides them first", react.ErrClientRequests, own)
	}
	rule := react.Rule{
		Name: react.ClientRule, On: react.Source{Server: w.Server, Types: react.Types{w.Type.Raw()}}, Mode: react.ModeAsk,
		Limits: react.Limits{Time: clientTime}, Do: react.Do{Wish: &w},
	}
	as, err := frozen(&rule)
	if err != nil {
		return nil, err
	}
	now := e.now()
	return &run{Run: react.Run{
		ID: id, NS: react.Client, Rule: rule.Name, Hash: e.ruleState(rule.Name).Hash, Frozen: as, Key: key,
		State: react.Gathering, Created: now, Due: now,
	}, rule: rule}, nil
}

// actor returns what the audit log names as the actor of a run: its rule, or the client that
// asked for it.
func actor(r *run) event.Actor {
	if w := r.rule.Do.Wish; w != nil {
		return event.Actor("client:" + w.Client.Raw())
	}
	return event.Actor("rule:" + r.Rule)
}
