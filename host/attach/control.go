package attach

import (
	"context"
	"sync"
	"time"

	"eventdeck/host/react"
)

// Controller is a host whose reactions can be controlled through it, as a [Client] is.
type Controller interface {
	Control() react.Control
}

// Control returns the reactions of the owner. Where that runs none, what would
// change something is refused with [react.ErrNotEngine].
func (c *Client) Control() react.Control { return &c.reactions }

// control is the [react.Control] of a client.
type control struct {
	c *Client

	follow sync.Once // begun when the state is first looked at
	mu     sync.Mutex
	view   react.View
}

// viewEvery is how often the state of the reactions is asked for. An answer that nothing
// changed is a few bytes.
const viewEvery = 250 * time.Millisecond

// Reactions implements [react.Control]: the state as it was told last.
func (k *control) Reactions() react.View {
	k.follow.Do(func() {
		k.pull()
		k.c.mu.Lock()
		defer k.c.mu.Unlock()
		if k.c.ctx.Err() == nil { // else Close may wait for the end of all goroutines already
			k.c.wg.Go(k.keep)
		}
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.view
}

// keep asks for the state until the connection ends.
func (k *control) keep() {
	every := time.NewTicker(viewEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
			k.pull()
		case <-k.c.ctx.Done():
			return
		}
	}
}

// pull asks for the state and raises the flags of the readers when it is another one.
func (k *control) pull() {
	k.mu.Lock()
	since := k.view.Revision
	k.mu.Unlock()
	a, err := askWithTimeout(k.c, verbReactions, since)
	if err != nil || a.View == nil {
		return // that the host is silent stands in the state of the store
	}
	k.mu.Lock()
	changed := a.View.Revision != k.view.Revision || a.View.On != k.view.On
	k.view = *a.View
	k.mu.Unlock()
	if changed {
		k.c.readers.raise()
	}
}

// did asks for a change; what is shown here has it afterwards.
func did[In, Out any](ctx context.Context, k *control, v verb[In, Out], in In) (Out, error) {
	out, err := ask(ctx, k.c, v, in)
	if k.c.ctx.Err() == nil {
		k.pull()
	}
	return out, err
}

// does is did for what answers nothing.
func does[In any](ctx context.Context, k *control, v verb[In, nothing], in In) error {
	_, err := did(ctx, k, v, in)
	return err
}

// Runs implements [react.Control].
func (k *control) Runs(ctx context.Context, q react.Query) ([]react.Run, error) {
	return ask(ctx, k.c, verbRuns, q)
}

// Run implements [react.Control].
func (k *control) Run(ctx context.Context, id react.RunID) (react.Run, error) {
	return ask(ctx, k.c, verbRun, id)
}

// Steps implements [react.Control].
func (k *control) Steps(ctx context.Context, id react.RunID) ([]react.Step, error) {
	return ask(ctx, k.c, verbSteps, id)
}

// Explain implements [react.Control].
func (k *control) Explain(ctx context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	return ask(ctx, k.c, verbExplain, explainAsk{seq, rule})
}

// Approve implements [react.Control].
func (k *control) Approve(ctx context.Context, id react.RunID, hash string) error {
	return does(ctx, k, verbApprove, approval{id, hash})
}

// Deny implements [react.Control].
func (k *control) Deny(ctx context.Context, id react.RunID, reason string) error {
	return does(ctx, k, verbDeny, denial{id, reason})
}

// Undeny implements [react.Control].
func (k *control) Undeny(ctx context.Context, id react.RunID) error {
	return does(ctx, k, verbUndeny, id)
}

// Grant implements [react.Control].
func (k *control) Grant(ctx context.Context, id react.RunID, hash string, until time.Time) error {
	return does(ctx, k, verbGrant, grant{id, hash, until})
}

// Retry implements [react.Control].
func (k *control) Retry(ctx context.Context, id react.RunID) (react.RunID, error) {
	return did(ctx, k, verbRetry, id)
}

// Settle implements [react.Control].
func (k *control) Settle(ctx context.Context, id react.RunID, done bool, reason string) error {
	return does(ctx, k, verbSettle, settlement{id, done, reason})
}

// Once implements [react.Control].
func (k *control) Once(ctx context.Context, rule string, seq uint64) (react.RunID, error) {
	return did(ctx, k, verbOnce, once{rule, seq})
}

// AskModel implements [react.Control].
func (k *control) AskModel(ctx context.Context, q react.Question) (react.RunID, error) {
	return did(ctx, k, verbAskModel, q)
}

// Rule implements [react.Control].
func (k *control) Rule(ctx context.Context, name string) (react.RuleView, error) {
	return ask(ctx, k.c, verbRule, name)
}

// ClientRequest implements [react.Control].
func (k *control) ClientRequest(ctx context.Context, w react.ClientRequest) (react.Run, error) {
	return did(ctx, k, verbClient, w)
}

// Arm implements [react.Control].
func (k *control) Arm(ctx context.Context, rule string, hash react.Hash) error {
	return does(ctx, k, verbArm, arming{rule, hash})
}

// Disarm implements [react.Control].
func (k *control) Disarm(ctx context.Context, rule string) error {
	return does(ctx, k, verbDisarm, rule)
}

// Silence implements [react.Control].
func (k *control) Silence(ctx context.Context, rule string, until time.Time) error {
	return does(ctx, k, verbSilence, silence{rule, until})
}

// Stop implements [react.Control].
func (k *control) Stop(ctx context.Context, kill bool) error {
	return does(ctx, k, verbStop, kill)
}

// Go implements [react.Control].
func (k *control) Go(ctx context.Context) error {
	return does(ctx, k, verbGo, nothing(false))
}
