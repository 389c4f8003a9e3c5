package engine

import (
	"context"
	"fmt"
	"time"

	"eventdeck/host/react"
)

// maxGivenUp is how many questions the attempts of a run may abandon: each costs a commit, but
// does not count as a step.
const maxGivenUp = 12

// answer is the answer to an attempt that waits for the operator.
type answer struct {
	react.Answered
	err error
}

// Ask implements [react.Steps]. Questions of one attempt are asked one after the other.
func (s *steps) Ask(ctx context.Context, request react.Request, why string) (react.Answered, error) {
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return react.Answered{}, context.Cause(ctx)
	}
	if err := s.stopped(); err != nil {
		return react.Answered{}, err
	}
	reply := make(chan answer, 1)
	if err := s.e.call(ctx, func() error { return s.ask(request, why, reply) }); err != nil {
		if ctx.Err() != nil {
			s.abandon(reply)
		}
		return react.Answered{}, err
	}
	s.e.o.Failpoint("step asks")
	select {
	case a := <-reply:
		return a.Answered, a.err
	case <-ctx.Done():
		s.abandon(reply)
		return react.Answered{}, context.Cause(ctx)
	case <-s.e.ctx.Done():
		return react.Answered{}, fmt.Errorf("run %s: eventdeck ends: %w", s.r.ID, react.ErrStopped)
	}
}

// ask makes the run ask while its attempt goes on.
func (s *steps) ask(request react.Request, why string, reply chan answer) error {
	e, r := s.e, s.r
	switch {
	case !s.current() || r.Live:
		return fmt.Errorf("run %s: the attempt is over: %w", r.ID, react.ErrStopped)
	case r.GivenUp > maxGivenUp:
		return fmt.Errorf("it gave up %d questions before they were answered: %w", r.GivenUp, react.ErrBudget)
	case e.asking >= react.MaxAsking:
		reply <- answer{Answered: react.Answered{Reason: fmt.Sprintf("%d runs wait for an approval already", e.asking)}}
		return nil
	}
	r.restoreFirst() // an earlier approval may be unused
	if r.next(request); !r.fits(maxGoes) {
		r.restoreFirst()
		reply <- answer{Answered: react.Answered{Reason: "it is too long to be kept"}}
		return nil
	}
	r.Live, r.AskWhy, r.reply = true, why, reply
	rule, _ := e.ruleOf(r)
	line := ""
	if rule != nil {
		line = rule.Line("do")
	}
	e.ask(r, why, line)
	return nil
}

// abandon ends the question of an attempt that no longer waits. It returns once the question
// has ended, so that the attempt can ask again.
func (s *steps) abandon(reply chan answer) {
	done := make(chan struct{})
	s.e.post(func() {
		defer close(done)
		if s.r.Live && s.r.reply == reply {
			s.r.GivenUp++
			s.e.answer(s.r, answer{err: react.ErrStopped}, "what asked did not wait any longer")
		}
	})
	select {
	case <-done:
	case <-s.e.ctx.Done():
	}
}

// answer ends the question of a running attempt, which gets its answer after the commit.
func (e *Engine) answer(r *run, a answer, why string) {
	reply := r.reply
	r.reply = nil
	if !a.Approved {
		e.refuseAsked(r, a)
		r.restoreFirst()
	}
	e.setState(r, react.Running, why, "")
	r.Live = false
	r.Due = time.Time{}
	e.afterCommit(func() { reply <- a })
}

// refuseAsked records a refused step for a tool call that the operator denied.
func (e *Engine) refuseAsked(r *run, a answer) {
	if req := r.Request; req.Kind == react.RequestTool && r.steps != nil && a.err == nil && len(r.taken) < react.MaxSteps {
		st := react.Step{Kind: react.StepTool, Server: req.Server, Tool: req.Tool, Class: req.Class, Args: storable(req.Input)}
		why := "the operator said no"
		if a.Reason != "" {
			why += ": " + a.Reason
		}
		e.refuseStep(r.steps, st, -1, react.StepVerdict{Why: why})
	}
}

// answerAll ends the questions of all running attempts, as reactions are stopped.
func (e *Engine) answerAll() {
	for _, r := range e.order {
		if r.Live {
			e.answer(r, answer{err: fmt.Errorf("run %s: %w", r.ID, react.ErrStopped)}, "reactions were stopped while it asked")
		}
	}
}
