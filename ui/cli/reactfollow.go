package cli

import (
	"context"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/react"
)

// following is the control of the reactions of the process that a screen is attached to at the
// moment: that process may end, and this one or another take its store over. If no reactions
// run, every method but Reactions returns [react.ErrNotEngine].
type following struct{ of attach.Controller }

var _ react.Control = following{}

// withControl calls the present control.
func withControl[T any](f following, call func(react.Control) (T, error)) (T, error) {
	if c := f.of.Control(); c != nil {
		return call(c)
	}
	var none T
	return none, react.ErrNotEngine
}

// do is withControl for a call that returns only an error.
func (f following) do(call func(react.Control) error) error {
	_, err := withControl(f, func(c react.Control) (struct{}, error) { return struct{}{}, call(c) })
	return err
}

func (f following) Reactions() react.View {
	v, _ := withControl(f, func(c react.Control) (react.View, error) { return c.Reactions(), nil }) // none run: an empty view
	return v
}

func (f following) Runs(ctx context.Context, q react.Query) ([]react.Run, error) {
	return withControl(f, func(c react.Control) ([]react.Run, error) { return c.Runs(ctx, q) })
}

func (f following) Run(ctx context.Context, id react.RunID) (react.Run, error) {
	return withControl(f, func(c react.Control) (react.Run, error) { return c.Run(ctx, id) })
}

func (f following) Steps(ctx context.Context, id react.RunID) ([]react.Step, error) {
	return withControl(f, func(c react.Control) ([]react.Step, error) { return c.Steps(ctx, id) })
}

func (f following) AskModel(ctx context.Context, q react.Question) (react.RunID, error) {
	return withControl(f, func(c react.Control) (react.RunID, error) { return c.AskModel(ctx, q) })
}

func (f following) ClientRequest(ctx context.Context, r react.ClientRequest) (react.Run, error) {
	return withControl(f, func(c react.Control) (react.Run, error) { return c.ClientRequest(ctx, r) })
}

func (f following) Explain(ctx context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	return withControl(f, func(c react.Control) ([]react.Verdict, error) { return c.Explain(ctx, seq, rule) })
}

func (f following) Approve(ctx context.Context, id react.RunID, hash string) error {
	return f.do(func(c react.Control) error { return c.Approve(ctx, id, hash) })
}

func (f following) Deny(ctx context.Context, id react.RunID, reason string) error {
	return f.do(func(c react.Control) error { return c.Deny(ctx, id, reason) })
}

func (f following) Undeny(ctx context.Context, id react.RunID) error {
	return f.do(func(c react.Control) error { return c.Undeny(ctx, id) })
}

func (f following) Grant(ctx context.Context, id react.RunID, hash string, until time.Time) error {
	return f.do(func(c react.Control) error { return c.Grant(ctx, id, hash, until) })
}

func (f following) Retry(ctx context.Context, id react.RunID) (react.RunID, error) {
	return withControl(f, func(c react.Control) (react.RunID, error) { return c.Retry(ctx, id) })
}

func (f following) Settle(ctx context.Context, id react.RunID, done bool, reason string) error {
	return f.do(func(c react.Control) error { return c.Settle(ctx, id, done, reason) })
}

func (f following) Once(ctx context.Context, rule string, seq uint64) (react.RunID, error) {
	return withControl(f, func(c react.Control) (react.RunID, error) { return c.Once(ctx, rule, seq) })
}

func (f following) Rule(ctx context.Context, name string) (react.RuleView, error) {
	return withControl(f, func(c react.Control) (react.RuleView, error) { return c.Rule(ctx, name) })
}

func (f following) Arm(ctx context.Context, rule string, hash react.Hash) error {
	return f.do(func(c react.Control) error { return c.Arm(ctx, rule, hash) })
}

func (f following) Disarm(ctx context.Context, rule string) error {
	return f.do(func(c react.Control) error { return c.Disarm(ctx, rule) })
}

func (f following) Silence(ctx context.Context, rule string, until time.Time) error {
	return f.do(func(c react.Control) error { return c.Silence(ctx, rule, until) })
}

func (f following) Stop(ctx context.Context, kill bool) error {
	return f.do(func(c react.Control) error { return c.Stop(ctx, kill) })
}

func (f following) Go(ctx context.Context) error {
	return f.do(func(c react.Control) error { return c.Go(ctx) })
}
