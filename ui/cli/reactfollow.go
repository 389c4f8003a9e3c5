package cli

import (
	"context"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/react"
)

// following is the control of whatever process a screen is on now: that one may end, and
// this process or another take its store over.
type following struct{ of attach.Controller }

var _ react.Control = following{}

// now returns the control of now; one that refuses where no reactions run.
func (f following) now() react.Control {
	if c := f.of.Control(); c != nil {
		return c
	}
	return nowhere{}
}

func (f following) Reactions() react.View { return f.now().Reactions() }

func (f following) Runs(ctx context.Context, q react.Query) ([]react.Run, error) {
	return f.now().Runs(ctx, q)
}

func (f following) Run(ctx context.Context, id react.RunID) (react.Run, error) {
	return f.now().Run(ctx, id)
}

func (f following) Steps(ctx context.Context, id react.RunID) ([]react.Step, error) {
	return f.now().Steps(ctx, id)
}

func (f following) AskModel(ctx context.Context, q react.Question) (react.RunID, error) {
	return f.now().AskModel(ctx, q)
}

func (f following) ClientRequest(ctx context.Context, w react.ClientRequest) (react.Run, error) {
	return f.now().ClientRequest(ctx, w)
}

func (f following) Explain(ctx context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	return f.now().Explain(ctx, seq, rule)
}

func (f following) Approve(ctx context.Context, id react.RunID, hash string) error {
	return f.now().Approve(ctx, id, hash)
}

func (f following) Deny(ctx context.Context, id react.RunID, reason string) error {
	return f.now().Deny(ctx, id, reason)
}

func (f following) Undeny(ctx context.Context, id react.RunID) error { return f.now().Undeny(ctx, id) }

func (f following) Grant(ctx context.Context, id react.RunID, hash string, until time.Time) error {
	return f.now().Grant(ctx, id, hash, until)
}

func (f following) Retry(ctx context.Context, id react.RunID) (react.RunID, error) {
	return f.now().Retry(ctx, id)
}

func (f following) Settle(ctx context.Context, id react.RunID, done bool, reason string) error {
	return f.now().Settle(ctx, id, done, reason)
}

func (f following) Once(ctx context.Context, rule string, seq uint64) (react.RunID, error) {
	return f.now().Once(ctx, rule, seq)
}

func (f following) Rule(ctx context.Context, name string) (react.RuleView, error) {
	return f.now().Rule(ctx, name)
}

func (f following) Arm(ctx context.Context, rule string, hash react.Hash) error {
	return f.now().Arm(ctx, rule, hash)
}

func (f following) Disarm(ctx context.Context, rule string) error { return f.now().Disarm(ctx, rule) }

func (f following) Silence(ctx context.Context, rule string, until time.Time) error {
	return f.now().Silence(ctx, rule, until)
}

func (f following) Stop(ctx context.Context, kill bool) error { return f.now().Stop(ctx, kill) }

func (f following) Go(ctx context.Context) error { return f.now().Go(ctx) }

// nowhere refuses everything: no reactions run.
type nowhere struct{}

func (nowhere) Reactions() react.View { return react.View{} }

func (nowhere) Runs(context.Context, react.Query) ([]react.Run, error) {
	return nil, react.ErrNotEngine
}

func (nowhere) Run(context.Context, react.RunID) (react.Run, error) {
	return react.Run{}, react.ErrNotEngine
}

func (nowhere) Steps(context.Context, react.RunID) ([]react.Step, error) {
	return nil, react.ErrNotEngine
}

func (nowhere) AskModel(context.Context, react.Question) (react.RunID, error) {
	return "", react.ErrNotEngine
}

func (nowhere) ClientRequest(context.Context, react.ClientRequest) (react.Run, error) {
	return react.Run{}, react.ErrNotEngine
}

func (nowhere) Explain(context.Context, uint64, string) ([]react.Verdict, error) {
	return nil, react.ErrNotEngine
}

func (nowhere) Approve(context.Context, react.RunID, string) error { return react.ErrNotEngine }

func (nowhere) Deny(context.Context, react.RunID, string) error { return react.ErrNotEngine }

func (nowhere) Undeny(context.Context, react.RunID) error { return react.ErrNotEngine }

func (nowhere) Grant(context.Context, react.RunID, string, time.Time) error {
	return react.ErrNotEngine
}

func (nowhere) Retry(context.Context, react.RunID) (react.RunID, error) {
	return "", react.ErrNotEngine
}

func (nowhere) Settle(context.Context, react.RunID, bool, string) error { return react.ErrNotEngine }

func (nowhere) Once(context.Context, string, uint64) (react.RunID, error) {
	return "", react.ErrNotEngine
}

func (nowhere) Rule(context.Context, string) (react.RuleView, error) {
	return react.RuleView{}, react.ErrNotEngine
}

func (nowhere) Arm(context.Context, string, react.Hash) error { return react.ErrNotEngine }

func (nowhere) Disarm(context.Context, string) error { return react.ErrNotEngine }

func (nowhere) Silence(context.Context, string, time.Time) error { return react.ErrNotEngine }

func (nowhere) Stop(context.Context, bool) error { return react.ErrNotEngine }

func (nowhere) Go(context.Context) error { return react.ErrNotEngine }
