package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"eventdeck/host/acp"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
	"eventdeck/host/trust"
)

// attempt is one conversation with an agent.
type attempt struct {
	*act.Talk
	r       *Runner
	req     react.Request
	sockets []string
	ctx     context.Context // ends with Kill, and with the conversation
	cancel  context.CancelFunc
	done    chan struct{} // closed when result is there
	result  react.Result

	asking      chan struct{}          // one slot, held from a question until its answer was used
	longPermits atomic.Int32           // requests for permission that were too long
	spent       atomic.Pointer[string] // why the agent may ask nothing more
	unknown     atomic.Pointer[string] // a tool call with unknown outcome
}

var _ react.Attempt = (*attempt)(nil)

// errNoSteps: Go was called without Steps.
var errNoSteps = errors.New("an agent cannot be begun without what judges its steps")

// Go implements [react.Attempt]. The goroutine ends with the conversation, which Kill cuts
// short.
func (a *attempt) Go(steps react.Steps) error {
	if steps == nil {
		return errNoSteps
	}
	if err := a.Talk.Go(nil); err != nil {
		return err
	}
	go a.run(steps)
	return nil
}

// Abort implements [react.Attempt].
func (a *attempt) Abort() {
	a.cancel()
	a.Talk.Abort()
}

// Kill implements [react.Attempt].
func (a *attempt) Kill() {
	a.Talk.Kill()
	a.cancel()
}

// Wait implements [react.Attempt].
func (a *attempt) Wait(ctx context.Context) (react.Result, error) {
	select {
	case <-a.done:
		return a.result, nil
	case <-ctx.Done():
		return react.Result{}, context.Cause(ctx)
	}
}

// run prompts the agent, ends it, and returns the result.
func (a *attempt) run(steps react.Steps) {
	defer close(a.done)
	res, err := a.converse(steps)
	if errors.Is(err, acp.ErrUnasked) {
		a.Talk.Kill()
	}
	a.cancel()
	// The input of the agent has ended, so its supervisor ends it.
	left, waited := a.Talk.Wait(context.Background())
	if waited != nil {
		left = react.Result{Why: "what its process left cannot be read: " + waited.Error()}
	}
	a.result = a.summedUp(res, err, left)
	if a.result.Outcome != react.OutcomeUnknown {
		if err := a.r.settled(a.req); err != nil {
			a.result.Why = joined(a.result.Why, err.Error())
		}
	}
}

func joined(words ...string) string {
	var all []string
	for _, w := range words {
		if w != "" {
			all = append(all, w)
		}
	}
	return strings.Join(all, "; ")
}

// errUnknown: what an agent did in an earlier attempt is unknown.
var errUnknown = errors.New("what the agent did is not known")

// summedUp returns the result of an attempt, from how its conversation and its process ended.
func (a *attempt) summedUp(res react.Result, err error, left react.Result) react.Result {
	res.Ended, res.Boundary = a.r.o.Now(), left.Boundary
	res.Output.Stderr = left.Output.Stderr
	unknown := a.unknown.Load()
	if n := a.longPermits.Load(); n > 0 {
		res.Why = joined(res.Why, fmt.Sprintf("%d requests for permission had more than %d bytes and were denied", n, maxPermit))
	}
	switch {
	case unknown != nil:
		res.Outcome, res.Why = react.OutcomeUnknown, *unknown
	case a.spent.Load() != nil:
		res.Outcome, res.Why = react.OutcomeFailed, *a.spent.Load()
	case err == nil:
	case errors.Is(err, acp.ErrUnasked):
		res.Outcome, res.Flagged, res.Why = react.OutcomeKilled, true, err.Error()
	case errors.Is(err, errUnknown):
		res.Outcome, res.Why = react.OutcomeUnknown, err.Error()
	case left.Outcome == react.OutcomeNever, left.Outcome == react.OutcomeScarce, left.Outcome == react.OutcomeKilled:
		res.Outcome, res.Why = left.Outcome, left.Why
	case errors.Is(err, react.ErrStopped), errors.Is(err, context.Canceled):
		res.Outcome, res.Why = react.OutcomeKilled, "the operator stopped it"
	case errors.Is(err, acp.ErrGone):
		res.Outcome, res.Exit, res.Why = react.OutcomeFailed, left.Exit, joined(err.Error(), left.Why)
	default:
		res.Outcome, res.Why = react.OutcomeFailed, err.Error()
	}
	return res
}

// converse prompts the agent, and returns how the turn ended. Then the streams are closed.
func (a *attempt) converse(steps react.Steps) (react.Result, error) {
	in, out := a.Streams()
	release, err := a.r.take(a.ctx, a.req)
	if err != nil {
		return react.Result{}, errors.Join(err, in.Close(), out.Close())
	}
	defer release()
	conn, err := acp.Open(a.ctx, in, out, acp.Options{
		Version: a.r.o.Version, Said: steps.Progress,
		Permit: func(ctx context.Context, p acp.Permission) (bool, error) { return a.permit(ctx, steps, p) },
	})
	if err != nil {
		return react.Result{}, errors.Join(err, in.Close(), out.Close())
	}
	defer func() { _ = conn.Close() }() // why it ended was said before
	servers, shut := a.serve(steps)
	defer shut()
	session, again, err := a.session(conn, steps, servers)
	if err != nil {
		return react.Result{}, err
	}
	return a.prompt(conn, session, again, steps)
}

// session begins a session, or loads an earlier one. again: an interrupted attempt of this run
// had the session.
func (a *attempt) session(conn *acp.Conn, steps react.Steps, servers []acp.Server) (session trust.Text, again bool, err error) {
	known, ok := a.r.recall(a.req)
	cutOff := ok && known.cutOff(a.req)
	if !cutOff && begun(steps) != 0 {
		return session, false, fmt.Errorf("%w: its conversation is not remembered", errUnknown)
	}
	next := conversation{Session: known.Session, Loads: conn.Info().Loads, Act: a.req.ActHash(), Run: a.req.Run}
	if ok && next.Loads && (cutOff || known.Act == next.Act) {
		switch err := conn.Load(a.ctx, known.Session, a.Dir(), servers); {
		case err == nil:
			return known.Session, cutOff, a.r.remember(a.req, next)
		case cutOff:
			return session, false, fmt.Errorf("%w: its conversation cannot be loaded: %w", errUnknown, err)
		case !errors.Is(err, acp.ErrRefused):
			return session, false, err
		}
		// The agent has forgotten the conversation: begin a new one.
	} else if cutOff {
		return session, false, fmt.Errorf("%w: it cannot load its conversation", errUnknown)
	}
	if next.Session, err = conn.New(a.ctx, a.Dir(), servers); err != nil {
		return session, false, err
	}
	return next.Session, false, a.r.remember(a.req, next)
}

// begun returns the number of the step in which an earlier attempt prompted; 0: none.
func begun(steps react.Steps) int {
	for _, s := range steps.All() {
		if s.Kind == react.StepPrompt && s.State == react.StepBegun {
			return s.N
		}
	}
	return 0
}

// cutOffNote is the prompt for an agent whose turn was interrupted.
const cutOffNote = "You were interrupted while you worked on the task below. Find out first what you have done already, do nothing twice, and finish it."

// prompt sends the agent the task and the data, as one step.
func (a *attempt) prompt(conn *acp.Conn, session trust.Text, again bool, steps react.Steps) (react.Result, error) {
	blocks := []string{a.req.Task, string(a.req.Input)}
	if again {
		blocks = append([]string{cutOffNote}, blocks...)
	}
	sent, err := json.Marshal(blocks)
	if err != nil {
		return react.Result{}, err
	}
	step := react.Step{Kind: react.StepPrompt, N: begun(steps), Sent: react.Digest(sent)}
	if step.N, err = steps.Begin(a.ctx, step, nil); err != nil {
		return react.Result{}, err
	}
	turn, err := conn.Prompt(a.ctx, session, blocks)
	res := resultOf(turn)
	step.State, step.Why = react.StepDone, string(turn.Stop)
	step.Answer, step.Usage = &react.Answer{Text: turn.Text}, react.Usage{In: turn.In, Out: turn.Out}
	if err != nil || res.Outcome != react.OutcomeDone {
		step.State = react.StepFailed
	}
	if err != nil {
		step.Why = err.Error()
	}
	// Even if the run was stopped: what it did so far must be stored.
	return res, errors.Join(err, steps.End(context.WithoutCancel(a.ctx), step))
}

// resultOf returns the result of a turn.
func resultOf(turn acp.Turn) react.Result {
	res := react.Result{Outcome: react.OutcomeDone, Answer: turn.Text, Why: joined(turn.Notes...)}
	why := ""
	switch turn.Stop {
	case acp.StopEnd:
		return res
	case acp.StopTokens:
		why = "the agent ended with all its tokens used"
	case acp.StopRequests:
		why = "the agent ended with all its requests used"
	case acp.StopRefusal:
		why = "the agent refused"
	default:
		why = "the agent cancelled its turn"
	}
	res.Outcome, res.Why = react.OutcomeFailed, joined(why, res.Why)
	return res
}

// maxPermit is the largest request for permission, in bytes: what cannot be shown whole cannot be
// approved.
const maxPermit = 64 << 10

// permit asks the operator to decide the agent's request for permission.
func (a *attempt) permit(ctx context.Context, steps react.Steps, p acp.Permission) (bool, error) {
	if len(p.Call) > maxPermit {
		a.longPermits.Add(1)
		return false, nil
	}
	asked, err := a.ask(ctx)
	if err != nil {
		return false, err
	}
	defer asked()
	answered, err := a.put(ctx, steps, react.Request{
		Kind: react.RequestPermit, Run: a.req.Run, Rule: a.req.Rule, Seq: a.req.Seq, Count: a.req.Count,
		Title: p.Title, Input: p.Call, Time: a.req.Time,
	}, "the agent asks for permission, in its own words")
	return answered.Approved, err
}

// put asks the operator a question, and pauses the agent's time limit meanwhile. An agent that
// may ask nothing more is ended.
func (a *attempt) put(ctx context.Context, steps react.Steps, req react.Request, why string) (react.Answered, error) {
	resume, err := a.Pause()
	if err != nil {
		return react.Answered{}, err
	}
	answered, err := steps.Ask(ctx, req, why)
	if failed := resume(); failed != nil && err == nil {
		err = failed // its time limit would stay paused
	}
	if errors.Is(err, react.ErrBudget) {
		why := err.Error()
		a.spent.Store(&why)
		a.Kill()
	}
	return answered, err
}

// ask waits for its turn: only one question may be open, as an approval is for the last one.
func (a *attempt) ask(ctx context.Context) (done func(), err error) {
	select {
	case a.asking <- struct{}{}:
		return func() { <-a.asking }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
