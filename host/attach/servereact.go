package attach

import (
	"context"
	"fmt"
	"slices"

	"eventdeck/host/react"
)

// addReactions adds the verbs of [react.Control].
func addReactions(add func(string, handler)) {
	add(answer(verbReactions, func(_ context.Context, e *session, since uint64) (reactions, error) {
		if e.server.opts.Control == nil {
			return reactions{View: &react.View{}}, nil
		}
		v := e.server.opts.Control.Reactions()
		if v.Revision == since && since != 0 {
			return reactions{}, nil
		}
		v.Active = summaries(v.Active)
		return reactions{View: &v}, nil
	}))
	add(handleControl(verbRuns, react.Control.Runs))
	add(handleControl(verbRun, react.Control.Run))
	add(handleControl(verbSteps, react.Control.Steps))
	add(handleControl(verbExplain, func(c react.Control, ctx context.Context, a explainRequest) ([]react.Verdict, error) {
		return c.Explain(ctx, a.Seq, a.Rule)
	}))
	add(handleControlAct(verbApprove, func(c react.Control, ctx context.Context, a approval) error { return c.Approve(ctx, a.Run, a.Hash) }))
	add(handleControlAct(verbDeny, func(c react.Control, ctx context.Context, d denial) error { return c.Deny(ctx, d.Run, d.Reason) }))
	add(handleControlAct(verbUndeny, react.Control.Undeny))
	add(handleControlAct(verbGrant, func(c react.Control, ctx context.Context, g grant) error { return c.Grant(ctx, g.Run, g.Hash, g.Until) }))
	add(handleControl(verbRetry, react.Control.Retry))
	add(handleControlAct(verbSettle, func(c react.Control, ctx context.Context, s settlement) error {
		return c.Settle(ctx, s.Run, s.Done, s.Reason)
	}))
	add(handleControl(verbOnce, func(c react.Control, ctx context.Context, o once) (react.RunID, error) {
		return c.Once(ctx, o.Rule, o.Seq)
	}))
	add(handleControl(verbAskModel, react.Control.AskModel))
	add(handleControl(verbRule, react.Control.Rule))
	add(handleControl(verbClient, react.Control.ClientRequest))
	add(handleControlAct(verbArm, func(c react.Control, ctx context.Context, a arming) error { return c.Arm(ctx, a.Rule, a.Hash) }))
	add(handleControlAct(verbDisarm, react.Control.Disarm))
	add(handleControlAct(verbSilence, func(c react.Control, ctx context.Context, s silence) error { return c.Silence(ctx, s.Rule, s.Until) }))
	add(handleControlAct(verbStop, react.Control.Stop))
	add(handleControlAct(verbGo, func(c react.Control, ctx context.Context, _ nothing) error { return c.Go(ctx) }))
}

// handleControl is handleChange for methods of the engine. Error: [react.ErrNotEngine] if none
// runs.
func handleControl[In, Out any](v verb[In, Out], fn func(react.Control, context.Context, In) (Out, error)) (string, handler) {
	return handleChange(v, func(ctx context.Context, e *session, in In) (Out, error) {
		c := e.server.opts.Control
		if c == nil {
			var none Out
			return none, fmt.Errorf("%w: the process that has the store open runs none", react.ErrNotEngine)
		}
		return fn(c, ctx, in)
	})
}

// handleControlAct is handleControl for methods without a result.
func handleControlAct[In any](v verb[In, nothing], fn func(react.Control, context.Context, In) error) (string, handler) {
	return handleControl(v, func(c react.Control, ctx context.Context, in In) (nothing, error) { return false, fn(c, ctx, in) })
}

// summaries returns runs without their rules and the contents of their requests: there may be
// thousands, and a client can fetch a whole run.
func summaries(runs []react.Run) []react.Run {
	runs = slices.Clone(runs)
	for i := range runs {
		r := &runs[i]
		r.Frozen, r.Request, r.Began = nil, summary(r.Request), summary(r.Began)
	}
	return runs
}

// summary returns the members of a request that say what it is for, nil for nil.
func summary(r *react.Request) *react.Request {
	if r == nil {
		return nil
	}
	return &react.Request{Kind: r.Kind, Run: r.Run, Rule: r.Rule, Seq: r.Seq, Count: r.Count, Step: r.Step, Server: r.Server, Tool: r.Tool, Class: r.Class, Act: r.Act}
}
