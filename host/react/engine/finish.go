package engine

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"eventdeck/host/react"
)

// prepareAgain prepares the request of a run again after Ready failed: what was approved may
// have changed.
func (e *Engine) prepareAgain(r *run, cause error) {
	if e.ctx.Err() != nil {
		return
	}
	if errors.Is(cause, react.ErrScarce) {
		e.later(r, cause.Error())
		return
	}
	if r.Goes { // it was done in part: a new request would not fit
		e.failed(r, "it cannot go on: "+cause.Error())
		return
	}
	r.busy = true
	e.prepare(r, func(req react.Request, err error) {
		r.busy = false
		switch {
		case err != nil:
			e.unprepared(r, err)
		case req.Hash() == r.Request.Hash():
			e.failed(r, "the act cannot be begun: "+cause.Error())
		case e.takeRequest(r, req):
			e.ask(r, "it is not what was approved: "+cause.Error(), "")
		}
	})
}

// failed ends a run whose act failed, or could not begin.
func (e *Engine) failed(r *run, why string) {
	e.breaker(r, true)
	e.end(r, react.Failed, why, "")
}

// unprepared ends a run whose request could not be prepared, unless it can wait. After repeated
// failures the rule's records are only counted.
func (e *Engine) unprepared(r *run, err error) {
	if errors.Is(err, react.ErrScarce) {
		e.later(r, err.Error())
		return
	}
	e.failed(r, "the act cannot be made: "+err.Error())
	if rs := e.ruleState(r.Rule); rs.Failures >= react.Breaker {
		rs.Unprepared = &unprepared{err.Error(), e.now()}
	}
}

// breaker counts the failures of a rule in a row.
func (e *Engine) breaker(r *run, failed bool) {
	rs := e.ruleState(r.Rule)
	if rs.Failures++; !failed {
		rs.Failures = 0
	}
	e.stageRule(r.Rule)
}

// finish takes the result of an attempt. The crash table of docs/reactions.md is here and
// in adopt.
func (e *Engine) finish(r *run, res react.Result) {
	e.stopSwitch.leave(r.ID)
	e.reserve(r, -1)
	if res.Ended.IsZero() {
		res.Ended = e.now()
	}
	r.Result = &res
	if res.Outcome != react.OutcomeScarce {
		r.pause = 0
	}
	e.leaveSteps(r)
	unknown, unread := e.unknownCalls(r)
	if res.Outcome != react.OutcomeAsks && r.Request.Act == "" {
		r.restoreFirst()
	}
	if res.Flagged {
		r.Flagged = true
		e.breaker(r, true)
	}
	switch {
	case unread != nil && r.stepped():
		e.parkCalls(r, r.writing(), unread.Error())
	case len(unknown) > 0:
		tools := toolsOf(unknown)
		e.parkCalls(r, tools, fmt.Sprintf("it is not known whether %s was carried out", strings.Join(tools, ", ")))
	case res.Outcome == react.OutcomeAsks:
		e.proceed(r, res)
	case res.Outcome == react.OutcomeUnknown && r.inProcess() && r.Attempt-r.Base < resumes:
		e.resume(r, "it goes on: "+cmp.Or(res.Why, "what happened is not known"))
	case res.Outcome == react.OutcomeDone:
		e.breaker(r, false)
		e.end(r, react.Done, res.Why, "")
	case res.Outcome == react.OutcomeKilled:
		e.end(r, react.Killed, cmp.Or(res.Why, "the stop switch ended it"), "")
	case res.Outcome == react.OutcomeScarce:
		r.Goes = r.Goes || r.Steps > 0
		e.later(r, res.Why)
	case res.Outcome == react.OutcomeNever:
		e.neverBegan(r, res)
	case res.Outcome == react.OutcomeUnknown && r.inProcess():
		e.failed(r, cmp.Or(res.Why, "what happened is not known"))
	case res.Outcome == react.OutcomeRetry, res.Outcome == react.OutcomeUnknown && r.repeatable():
		e.retry(r, res)
	case res.Outcome == react.OutcomeUnknown:
		e.breaker(r, true)
		e.end(r, react.Parked, cmp.Or(res.Why, "it is not known whether it was done"), "")
	default:
		e.failed(r, cmp.Or(res.Why, "it failed"))
	}
	e.audit(actor(r), "act ended", 0, fmt.Sprintf("run %s, attempt %d: %s", r.ID, r.Attempt, res.Outcome))
	e.afterCommit(func() { r.steps, r.taken = nil, nil })
	if h := r.Handle; h != nil {
		handle := *h
		r.Handle = nil
		e.afterCommit(func() {
			e.wg.Go(func() {
				e.o.Failpoint("settled")
				if err := e.o.Runner.Forget(handle); err != nil {
					e.o.Log.Warn("what an act left cannot be removed", "run", r.ID, "err", err)
				}
				e.o.Failpoint("forgotten")
			})
		})
	}
}

// leaveSteps ends the question, the output and the reservations of an attempt that is over.
func (e *Engine) leaveSteps(r *run) {
	e.says.clear(r.ID)
	if r.Live {
		e.answer(r, answer{err: fmt.Errorf("run %s: the attempt is over: %w", r.ID, react.ErrStopped)}, r.Why)
	}
	for id := range e.spent.out {
		if id.run == r.ID {
			delete(e.spent.out, id)
		}
	}
}

// resumes is how many attempts of a run of a model may end with an unknown outcome.
const resumes = 6

// neverBegan makes a run ready again whose attempt certainly did not begin.
func (e *Engine) neverBegan(r *run, res react.Result) {
	if r.Never >= neverTries {
		e.failed(r, cmp.Or(res.Why, "it could not be begun"))
		return
	}
	e.uncount(r)
	r.Goes = r.Goes || r.Steps > 0
	e.setState(r, react.Ready, "it was not begun: "+res.Why, "")
	r.Due = e.now().Add(time.Duration(r.Never) * time.Second)
}

// retry schedules a further attempt of an act that may be repeated, up to a limit.
func (e *Engine) retry(r *run, res react.Result) {
	r.Goes = r.Goes || r.Steps > 0
	tries := r.Attempt - r.Base
	due := e.now().Add(max(res.After, backoff(tries)))
	if tries >= react.WebhookTries || due.Sub(r.First) > triesFor {
		e.breaker(r, true)
		e.end(r, react.Dead, fmt.Sprintf("%d tries failed, the last: %s", tries, res.Why), "")
		return
	}
	e.setState(r, react.Ready, "it is tried again: "+res.Why, "")
	r.Due = due
}

// backoff returns the wait after a failed attempt: 5 s, 20 s, 80 s and so on.
func backoff(attempt int) time.Duration { return 5 * time.Second << (2 * min(attempt-1, 4)) }

// adoptAll takes over the attempts of an earlier process.
func (e *Engine) adoptAll() {
	for _, r := range e.order {
		if r.State == react.Running {
			e.reserve(r, 1)
			e.adopt(r)
		}
	}
}

func (e *Engine) adopt(r *run) {
	if r.inProcess() { // it ended with the earlier process
		e.o.Failpoint("adopted")
		e.finish(r, react.Result{Outcome: react.OutcomeUnknown, Why: "eventdeck ended meanwhile", Ended: e.now()})
		return
	}
	if r.stepped() {
		r.restoreFirst() // an agent that goes on asks again
	}
	req, h := *r.Request, react.Handle{Attempt: r.Attempt}
	if r.Handle != nil {
		h = *r.Handle
	}
	e.wg.Go(func() {
		a, err := e.o.Runner.Adopt(e.ctx, req, h)
		e.o.Failpoint("adopted")
		if err != nil {
			if e.ctx.Err() == nil {
				e.post(func() {
					e.finish(r, react.Result{Outcome: react.OutcomeUnknown, Why: err.Error(), Ended: e.now()})
				})
			}
			return
		}
		e.stopSwitch.adopt(r.ID, a)
		e.await(r, a)
	})
}

// abortAll aborts prepared attempts whose start was not committed.
func (e *Engine) abortAll() {
	e.cancel()
	for _, a := range e.staged.aborts {
		a.Abort()
	}
}
