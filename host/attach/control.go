package attach

import (
	"context"
	"sync"
	"time"

	"eventdeck/host/react"
)

// Controller is a host through which reactions can be controlled, such as a [Client].
type Controller interface {
	Control() react.Control
}

// Control returns the control of the owner's reactions. If the owner runs none, changes fail with
// [react.ErrNotEngine].
func (c *Client) Control() react.Control { return &c.reactions }

// control is the [react.Control] of a client.
type control struct {
	c *Client

	follow sync.Once // begins with the first call of Reactions
	mu     sync.Mutex
	view   react.View
}

// viewEvery is how often the state of the reactions is asked for. The response has a few bytes when
// nothing changed.
const viewEvery = 250 * time.Millisecond

// Reactions implements [react.Control]: the state that was received last.
func (k *control) Reactions() react.View {
	k.follow.Do(func() {
		k.pull()
		k.c.mu.Lock()
		defer k.c.mu.Unlock()
		if k.c.ctx.Err() == nil { // else Close may already wait for all goroutines
			k.c.wg.Go(k.keep)
		}
	})
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.view
}

// keep fetches the state again and again until the connection ends.
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

// pull fetches the state, and notifies the readers if it has changed.
func (k *control) pull() {
	k.mu.Lock()
	since := k.view.Revision
	k.mu.Unlock()
	a, err := askWithTimeout(k.c, verbReactions, since)
	if err != nil || a.View == nil {
		return // the state of the store says that the owner is silent
	}
	k.mu.Lock()
	changed := a.View.Revision != k.view.Revision || a.View.On != k.view.On
	k.view = *a.View
	k.mu.Unlock()
	if changed {
		k.c.readers.notify()
	}
}

// callControl asks for a change; the state of the client shows it afterwards.
func callControl[In, Out any](ctx context.Context, k *control, v verb[In, Out], in In) (Out, error) {
	out, err := ask(ctx, k.c, v, in)
	if k.c.ctx.Err() == nil {
		k.pull()
	}
	return out, err
}

// actControl is callControl for a verb without a result.
func actControl[In any](ctx context.Context, k *control, v verb[In, nothing], in In) error {
	_, err := callControl(ctx, k, v, in)
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
	return ask(ctx, k.c, verbExplain, explainRequest{seq, rule})
}

// Approve implements [react.Control].
func (k *control) Approve(ctx context.Context, id react.RunID, hash string) error {
	return actControl(ctx, k, verbApprove, approval{id, hash})
}

// Deny implements [react.Control].
func (k *control) Deny(ctx context.Context, id react.RunID, reason string) error {
	return actControl(ctx, k, verbDeny, denial{id, reason})
}

// Undeny implements [react.Control].
func (k *control) Undeny(ctx context.Context, id react.RunID) error {
	return actControl(ctx, k, verbUndeny, id)
}

// Grant implements [react.Control].
func (k *control) Grant(ctx context.Context, id react.RunID, hash string, until time.Time) error {
	return actControl(ctx, k, verbGrant, grant{id, hash, until})
}

// Retry implements [react.Control].
func (k *control) Retry(ctx context.Context, id react.RunID) (react.RunID, error) {
	return callControl(ctx, k, verbRetry, id)
}

// Settle implements [react.Control].
func (k *control) Settle(ctx context.Context, id react.RunID, done bool, reason string) error {
	return actControl(ctx, k, verbSettle, settlement{id, done, reason})
}

// Once implements [react.Control].
func (k *control) Once(ctx context.Context, rule string, seq uint64) (react.RunID, error) {
	return callControl(ctx, k, verbOnce, once{rule, seq})
}

// AskModel implements [react.Control].
func (k *control) AskModel(ctx context.Context, q react.Question) (react.RunID, error) {
	return callControl(ctx, k, verbAskModel, q)
}

// Rule implements [react.Control].
func (k *control) Rule(ctx context.Context, name string) (react.RuleView, error) {
	return ask(ctx, k.c, verbRule, name)
}

// ClientRequest implements [react.Control].
func (k *control) ClientRequest(ctx context.Context, w react.ClientRequest) (react.Run, error) {
	return callControl(ctx, k, verbClient, w)
}

// Arm implements [react.Control].
func (k *control) Arm(ctx context.Context, rule string, hash react.Hash) error {
	return actControl(ctx, k, verbArm, arming{rule, hash})
}

// Disarm implements [react.Control].
func (k *control) Disarm(ctx context.Context, rule string) error {
	return actControl(ctx, k, verbDisarm, rule)
}

// Silence implements [react.Control].
func (k *control) Silence(ctx context.Context, rule string, until time.Time) error {
	return actControl(ctx, k, verbSilence, silence{rule, until})
}

// Stop implements [react.Control]. To kill, it first writes the stop file, which works even if the
// owner does not answer.
func (k *control) Stop(ctx context.Context, kill bool) error {
	if kill && !Elsewhere(k.c.dir) {
		if _, err := react.WriteStopFile(k.c.dir); err != nil {
			return err
		}
	}
	return actControl(ctx, k, verbStop, kill)
}

// Go implements [react.Control].
func (k *control) Go(ctx context.Context) error {
	return actControl(ctx, k, verbGo, nothing(false))
}
