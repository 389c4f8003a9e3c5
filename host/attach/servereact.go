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
		v.Active = lightened(v.Active)
		return reactions{View: &v}, nil
	}))
	add(asking(verbRuns, react.Control.Runs))
	add(asking(verbRun, react.Control.Run))
	add(asking(verbSteps, react.Control.Steps))
	add(asking(verbExplain, func(c react.Control, ctx context.Context, a explainAsk) ([]react.Verdict, error) {
		return c.Explain(ctx, a.Seq, a.Rule)
	}))
	add(acting(verbApprove, func(c react.Control, ctx context.Context, a approval) error { return c.Approve(ctx, a.Run, a.Hash) }))
	add(acting(verbDeny, func(c react.Control, ctx context.Context, d denial) error { return c.Deny(ctx, d.Run, d.Reason) }))
	add(acting(verbUndeny, react.Control.Undeny))
	add(acting(verbGrant, func(c react.Control, ctx context.Context, g grant) error { return c.Grant(ctx, g.Run, g.Hash, g.Until) }))
	add(asking(verbRetry, react.Control.Retry))
	add(acting(verbSettle, func(c react.Control, ctx context.Context, s settlement) error {
		return c.Settle(ctx, s.Run, s.Done, s.Reason)
	}))
	add(asking(verbOnce, func(c react.Control, ctx context.Context, o once) (react.RunID, error) {
		return c.Once(ctx, o.Rule, o.Seq)
	}))
	add(asking(verbAskModel, react.Control.AskModel))
	add(asking(verbRule, react.Control.Rule))
	add(asking(verbClient, react.Control.ClientRequest))
	add(acting(verbArm, func(c react.Control, ctx context.Context, a arming) error { return c.Arm(ctx, a.Rule, a.Hash) }))
	add(acting(verbDisarm, react.Control.Disarm))
	add(acting(verbSilence, func(c react.Control, ctx context.Context, s silence) error { return c.Silence(ctx, s.Rule, s.Until) }))
	add(acting(verbStop, react.Control.Stop))
	add(acting(verbGo, func(c react.Control, ctx context.Context, _ nothing) error { return c.Go(ctx) }))
}

// asking is changing for what the engine answers. Error: [react.ErrNotEngine] where none
// runs.
func asking[In, Out any](v verb[In, Out], fn func(react.Control, context.Context, In) (Out, error)) (string, handler) {
	return changing(v, func(ctx context.Context, e *session, in In) (Out, error) {
		c := e.server.opts.Control
		if c == nil {
			var none Out
			return none, fmt.Errorf("%w: the process that has the store open runs none", react.ErrNotEngine)
		}
		return fn(c, ctx, in)
	})
}

// acting is asking for what has no answer but its error.
func acting[In any](v verb[In, nothing], fn func(react.Control, context.Context, In) error) (string, handler) {
	return asking(v, func(c react.Control, ctx context.Context, in In) (nothing, error) { return false, fn(c, ctx, in) })
}

// lightened returns runs without their rules and the contents of their requests: there may be
// thousands of them, and a client that wants all of one asks for it.
func lightened(runs []react.Run) []react.Run {
	runs = slices.Clone(runs)
	for i := range runs {
		r := &runs[i]
		r.Frozen, r.Request, r.Began = nil, light(r.Request), light(r.Began)
	}
	return runs
}

// light returns what a request is for, nil for none.
func light(r *react.Request) *react.Request {
	if r == nil {
		return nil
	}
	return &react.Request{Kind: r.Kind, Run: r.Run, Rule: r.Rule, Seq: r.Seq, Count: r.Count, Step: r.Step, Server: r.Server, Tool: r.Tool, Class: r.Class, Act: r.Act}
}
