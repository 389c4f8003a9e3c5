package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Limits of runs of [Engine.AskModel].
const (
	askSpend  = 500_000 // micro-dollars
	askTokens = 100_000
	askTime   = 5 * time.Minute
)

// AskModel implements [react.Control].
func (e *Engine) AskModel(ctx context.Context, q react.Question) (id react.RunID, err error) {
	rec, err := e.o.Store.Get(q.Seq)
	if err != nil {
		return "", err
	}
	var made react.RunID
	err = e.call(ctx, func() error {
		rule, err := e.askRule(q, rec.Server)
		if err != nil {
			return err
		}
		var members react.Members
		members.Add(&rec)
		made, err = e.manual(rule, e.ruleState(react.AskRule).Hash, "", members, fmt.Sprintf("record %d", q.Seq))
		if err == nil {
			e.runs[made].Typed = q.Typed
		}
		return err
	})
	return made, err
}

// askRule returns a rule that asks a model of the file, without tools.
func (e *Engine) askRule(q react.Question, server string) (react.Rule, error) {
	models := e.set.File.Models
	i := slices.IndexFunc(models, func(m react.Model) bool { return m.Name == q.Model })
	if i < 0 {
		return react.Rule{}, fmt.Errorf("model %q: %w", q.Model, react.ErrNoModel)
	}
	rule := react.Rule{
		Name: react.AskRule, On: react.Source{Server: server}, Mode: react.ModeAsk, Where: models[i].Where,
		Limits: react.Limits{Tokens: askTokens, Time: askTime}, Do: react.Do{Task: &react.Task{Model: models[i], Task: q.Task}},
	}
	if models[i].Price != nil {
		rule.Limits.Spend = askSpend
	}
	return rule, nil
}

// approveTyped approves the run of a typed question, once its exact request is known.
func (e *Engine) approveTyped(r *run) {
	e.audit(event.ActorOperator, "approval allowed", 0, fmt.Sprintf("run %s, request %s: the operator typed it", r.ID, r.Request.Hash()))
	r.Approved, r.By, r.Under = r.Request.Hash(), "operator", e.ruleState(r.Rule).Hash
	e.setState(r, react.Ready, "the operator typed it", "")
	r.Due = e.now()
	e.staged.again = true
}
