package engine

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// advance moves every run on that is due, and returns when the next one will be.
func (e *Engine) advance() time.Time {
	now := e.now()
	next := now.Add(tickEvery)
	held, coming := e.heldNow()
	for _, r := range e.order {
		due := r.Due
		switch {
		case r.State.Over(), r.busy, r.State == react.Running:
			continue
		case r.State == react.Ready && r.later.After(due):
			due = r.later
		}
		if due.After(now) {
			if due.Before(next) {
				next = due
			}
			continue
		}
		switch r.State {
		case react.Gathering:
			if e.tryLeave(r, held, coming) {
				coming += maxBegun
			}
		case react.Asking:
			e.expire(r)
		case react.Ready:
			e.tryStart(r)
		}
	}
	e.order = slices.DeleteFunc(e.order, func(r *run) bool { return r.State.Over() })
	for _, rs := range e.rules {
		if rs.watch == nil {
			continue
		}
		if due := rs.watch.Due(); !due.IsZero() && due.Before(next) && due.After(now) {
			next = due
		}
	}
	return next
}

// tryLeave makes a run leave gathering, and reports whether it does: not if it must wait for
// other runs, or if waiting runs use as much memory as they may. held are the bytes of runs
// with requests, coming those of runs whose requests are being prepared.
func (e *Engine) tryLeave(r *run, held, coming int) bool {
	switch {
	case r.NS == react.Live && e.behind(r):
		e.waits(r, "another run of its group asks, is ready or runs")
	case r.full && e.asking >= react.MaxAsking:
		e.waits(r, fmt.Sprintf("%d runs wait for an approval already", e.asking))
	case held >= heldBytes:
		e.waits(r, fmt.Sprintf("runs that wait take %d MiB already", heldBytes>>20))
	case held+coming >= heldBytes: // wait until the sizes of those are known
	default:
		e.leave(r)
		return true
	}
	return false
}

// expire ends a run, or its question, that was not approved in time.
func (e *Engine) expire(r *run) {
	const why = "no operator approved it in time"
	if r.Live {
		e.answer(r, answer{Answered: react.Answered{Reason: why}}, "what it asked expired")
	} else {
		e.end(r, react.Expired, why, "")
	}
	e.audit(actor(r), "approval expired", 0, "run "+string(r.ID))
}

// heldNow returns the bytes of runs with requests, and the most that runs whose requests are
// being prepared may take.
func (e *Engine) heldNow() (held, coming int) {
	for _, r := range e.order {
		switch {
		case r.State.Over():
		case r.State == react.Gathering && r.busy:
			coming += maxBegun
		default:
			held += r.held
		}
	}
	return held, coming
}

// behind reports whether a run must wait for another one of its group. Once the rule is armed,
// runs that ask before they begin hold no others back: new ones need no approval.
func (e *Engine) behind(r *run) bool {
	g := e.group(r)
	if m := e.set.Rule(r.Rule); m != nil && m.Rule.Mode == react.ModeAuto {
		if rs := e.ruleState(r.Rule); rs.Armed != "" && rs.Armed == rs.Hash {
			return g.frozen > g.fresh
		}
	}
	return g.frozen > 0
}

// waits records why a run goes on gathering.
func (e *Engine) waits(r *run, why string) {
	if r.Why != why {
		r.Why = why
		e.stageRun(r)
	}
}

// setState changes the state of a run, and the counts of asking and waiting runs and of its
// group.
func (e *Engine) setState(r *run, to react.State, why, line string) {
	g := e.group(r)
	if g.gathering == r && to != react.Gathering {
		g.gathering = nil
	}
	if rs := e.rules[r.Rule]; rs != nil && rs.newest == r && to != react.Gathering {
		rs.newest = nil
	}
	g.frozen += r.frozen(to) - r.frozen(r.State)
	g.fresh += r.fresh(to) - r.fresh(r.State)
	e.asking += asking(to) - asking(r.State)
	e.ruleState(r.Rule).waiting += waiting(to) - waiting(r.State)
	e.waiting += waiting(to) - waiting(r.State)
	r.State, r.Why, r.Line = to, why, line
	e.stageRun(r)
	e.staged.urgent = true
}

// frozen is 1 for a run that keeps others of its group from leaving gathering. Runs created by
// the operator do not.
func (r *run) frozen(s react.State) int {
	if r.NS == react.Live && (s == react.Asking || s == react.Ready || s == react.Running) {
		return 1
	}
	return 0
}

// fresh is 1 for a run that asks before it begins.
func (r *run) fresh(s react.State) int {
	if r.NS == react.Live && s == react.Asking && !r.Goes && !r.Live {
		return 1
	}
	return 0
}

func waiting(s react.State) int {
	if s == react.Running || s.Over() {
		return 0
	}
	return 1
}

func asking(s react.State) int {
	if s == react.Asking {
		return 1
	}
	return 0
}

// end ends a run.
func (e *Engine) end(r *run, state react.State, why, line string) {
	e.setState(r, state, why, line)
	r.Ended = e.now()
	e.ends[state]++
	delete(e.runs, r.ID)
	e.staged.again = true // another run of the group may go on
}

// endUndone ends a run that the policy suppresses.
func (e *Engine) endUndone(r *run, d react.Decision) {
	if d.State == react.Suppressed {
		e.ruleState(r.Rule).suppress(string(d.Cause), r.Members.Count)
		e.stageRule(r.Rule)
	}
	e.end(r, d.State, d.Why, d.Line)
}

// leave fixes the members of a run, and prepares its request in another goroutine. Records that
// arrive meanwhile go into the next run.
func (e *Engine) leave(r *run) {
	r.busy = true
	if g := e.group(r); g.gathering == r {
		g.gathering = nil
	}
	if rs := e.rules[r.Rule]; rs != nil && rs.newest == r {
		rs.newest = nil
	}
	e.prepare(r, func(req react.Request, err error) {
		r.busy = false
		if err != nil {
			e.unprepared(r, err)
			return
		}
		e.afterPrepare(r, req)
	})
}

// prepare prepares the request of a run in another goroutine, and passes it to done on the
// deciding goroutine.
func (e *Engine) prepare(r *run, done func(react.Request, error)) {
	rule, frozen, members := r.rule, cloneRun(&r.Run), slices.Concat(r.Members.First, r.Members.Last)
	if rs := e.ruleState(r.Rule); rs.Armed != "" && rs.Armed == rs.Hash {
		frozen.Pins = append([]react.Pinned{}, rs.Pins...)
	}
	places := e.prepares
	if listsTools(rule.Do) {
		places = e.listings
	}
	e.wg.Go(func() {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-e.ctx.Done():
			return
		}
		var records []event.Record
		for _, seq := range members {
			rec, err := e.o.Store.Get(seq)
			switch {
			case err == nil:
				records = append(records, rec)
			case !errors.Is(err, event.ErrNotFound): // otherwise it was pruned
				e.o.Log.Error("a member of a run cannot be read, and is left out", "run", frozen.ID, "record", seq, "err", err)
			}
		}
		req, err := e.o.Runner.Prepare(rule, frozen, records)
		e.o.Failpoint("prepared")
		e.post(func() { done(req, err) })
	})
}

// listsTools reports whether preparing the request asks servers for their tools.
func listsTools(do react.Do) bool {
	tools, _ := do.Tools()
	return len(tools) > 0
}

// takeRequest sets the request of a run. It returns false if the run is too long with it; then
// the run has failed.
func (e *Engine) takeRequest(r *run, req react.Request) bool {
	r.Request = &req
	r.Hash = r.rule.Hash(req)
	if !r.fits(maxBegun) {
		r.Request = nil
		e.unprepared(r, errors.New("it is too long to be kept"))
		return false
	}
	if rs := e.ruleState(r.Rule); rs.Unprepared != nil {
		rs.Unprepared = nil
		e.stageRule(r.Rule)
	}
	return true
}

// afterPrepare decides what becomes of a run with its request.
func (e *Engine) afterPrepare(r *run, req react.Request) {
	if !e.takeRequest(r, req) {
		return
	}
	switch d := e.judge(r); d.State {
	case react.Suppressed, react.WouldRun:
		e.endUndone(r, d)
	case react.Asking:
		if r.Typed {
			e.approveTyped(r)
			return
		}
		if e.asking >= react.MaxAsking {
			r.full, r.Request = true, nil // it stays in gathering until fewer runs ask
			return
		}
		e.ask(r, d.Why, d.Line)
	default:
		e.setState(r, react.Ready, d.Why, d.Line)
		r.Due = e.now()
		e.staged.again = true
	}
	e.o.Failpoint("judged")
}

// ask makes a run wait for the operator. An earlier approval becomes void, and the audit log
// says why.
func (e *Engine) ask(r *run, why, line string) {
	if r.Approved != "" {
		if r.Under != e.ruleState(r.Rule).Hash {
			why = "the rule was changed since it was approved"
		}
		e.audit(actor(r), "approval void", 0, fmt.Sprintf("run %s: %s", r.ID, why))
	}
	r.Approved, r.By, r.Under = "", "", ""
	e.setState(r, react.Asking, why, line)
	r.Due = e.now().Add(askFor)
	e.audit(actor(r), "approval asked", 0, "run "+string(r.ID)+", request "+r.Request.Hash())
}

// tryStart starts a ready run, if the policy still allows it.
func (e *Engine) tryStart(r *run) {
	d := e.judge(r)
	switch {
	case d.State == react.Suppressed, d.State == react.WouldRun:
		e.endUndone(r, d)
		return
	case d.State == react.Asking:
		if e.asking < react.MaxAsking {
			e.ask(r, d.Why, d.Line)
		}
		return
	case !d.Now:
		r.later = d.Until
		if r.Why != d.Why {
			r.Why, r.Line = d.Why, d.Line
			e.stageRun(r)
			e.stale = true
		}
		return
	}
	e.lookAtRules()
	if e.lookAtStopFile(); e.stopSwitch.blocks() || e.file.writable != "" {
		return
	}
	r.Why, r.Line = d.Why, d.Line
	e.reserve(r, 1)
	r.busy = true
	req, attempt := *r.Request, r.Attempt+1
	e.wg.Go(func() {
		a, err := e.o.Runner.Ready(e.ctx, req, attempt)
		e.o.Failpoint("ready")
		if !e.post(func() { e.readied(r, a, attempt, err) }) && err == nil {
			a.Abort()
		}
	})
}

// reserve adds n to the numbers of acts that are starting or running.
func (e *Engine) reserve(r *run, n int) {
	e.busy += n
	e.group(r).running += n
}

// readied stages the start of an attempt, which begins after the commit.
func (e *Engine) readied(r *run, a react.Attempt, attempt int, err error) {
	r.busy = false
	e.reserve(r, -1)
	if err != nil {
		e.prepareAgain(r, err)
		return
	}
	if err := e.loadSteps(r); err != nil && r.stepped() {
		e.wg.Go(a.Abort)
		e.failed(r, err.Error())
		return
	}
	// Much may have changed while the attempt was prepared.
	if d := e.judge(r); d.State != react.Ready || !d.Now || e.stopSwitch.blocks() {
		e.wg.Go(a.Abort)
		return
	}
	e.reserve(r, 1)
	now, h := e.now(), a.Handle()
	h.Attempt = attempt
	r.Attempt, r.Handle, r.Started = attempt, &h, now
	if r.First.IsZero() {
		r.First = now
	}
	e.setState(r, react.Running, r.Why, r.Line)
	e.recent[r.ID] = now
	if attempt == 1 {
		e.charge(r)
	}
	if !r.Goes {
		rs := e.ruleState(r.Rule)
		rs.starts, e.starts = append(rs.starts, now), append(e.starts, now)
		e.stageStarts(r.Rule)
		e.stageStarts(allRules)
	}
	e.audit(actor(r), "act started", 0, fmt.Sprintf("run %s, attempt %d, request %s", r.ID, attempt, r.Request.Hash()))
	e.staged.aborts = append(e.staged.aborts, a)
	steps := e.stepsFor(r, attempt)
	e.afterCommit(func() { e.perform(r, a, steps) })
}

// perform begins an attempt whose start is committed, and waits for its result.
func (e *Engine) perform(r *run, a react.Attempt, steps react.Steps) {
	id, inside := r.ID, r.inProcess()
	e.wg.Go(func() {
		e.o.Failpoint("running")
		e.stopSwitch.setFile(e.stopFile())
		if e.ctx.Err() != nil || !e.stopSwitch.enter(id, a) {
			a.Abort()
			e.post(func() {
				e.finish(r, react.Result{Outcome: react.OutcomeNever, Why: "reactions were stopped", Ended: e.now()})
			})
			return
		}
		if err := a.Go(steps); err != nil {
			e.post(func() {
				r.Never++
				e.finish(r, react.Result{Outcome: react.OutcomeNever, Why: err.Error(), Ended: e.now()})
			})
			return
		}
		e.o.Failpoint("begun")
		e.await(r, a)
		if inside && e.ctx.Err() != nil {
			a.Kill() // its steps are stored, and the next engine continues from them
		}
	})
}

// await waits for the result of an attempt, and posts it.
func (e *Engine) await(r *run, a react.Attempt) {
	res, err := a.Wait(e.ctx)
	if err != nil && e.ctx.Err() != nil {
		return // it goes on, and the next engine takes it over
	}
	if err != nil {
		res = react.Result{Outcome: react.OutcomeUnknown, Why: err.Error(), Ended: e.now()}
	}
	e.o.Failpoint("ended")
	e.post(func() { e.finish(r, res) })
}
