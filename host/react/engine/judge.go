package engine

import (
	"errors"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// facts gathers what is known of a rule at this moment.
func (e *Engine) facts(rule *react.Rule, rs *ruleState) react.Facts {
	f := react.Facts{Now: e.now(), Rule: rule, NS: react.Live, Stopped: e.stopSwitch.stopped(), Held: e.held(), File: e.set.File}
	if rs != nil {
		f.Armed = rs.Armed != "" && rs.Armed == rs.Hash
		f.Silenced, f.Failures = rs.Silenced, rs.Failures
		if errors.Is(rs.made.err, react.ErrBoundary) {
			f.Unbounded = rs.made.err.Error()
		}
		f.Unprepared = rs.unprepared(f.Now)
		rs.starts, f.Started, f.StartedUntil = rule.Limits.Runs.Counted(rs.starts, f.Now)
	}
	e.starts, f.StartedAll, f.StartedAllDue = f.File.Limits.Runs.Counted(e.starts, f.Now)
	f.RunningAll = e.busy
	return f
}

// judge asks the policy about a run with a request, with the rule and all other facts as they
// are now. The act itself is that of the frozen rule; if the rule changed, the run asks.
func (e *Engine) judge(r *run) react.Decision {
	rs := e.ruleState(r.Rule)
	now, rule := e.ruleOf(r)
	f := e.facts(rule, rs)
	f.Gone, f.NS, f.Goes = now == nil, r.NS, r.Goes
	f.Armed = rs.Armed != "" && rs.Armed == r.Hash
	f.Stale, f.Flagged, f.Unsigned, f.AfterGap, f.Loop = r.Stale, r.Flagged, r.Unsigned, r.AfterGap, r.Loop
	f.OnceUntil = e.onceUntil(r)
	f.Running = e.group(r).running
	f.Approved, f.Granted = approved(r, rs), e.granted(r, rs)
	d := react.Judge(f)
	if r.Began != nil && r.Request.Act == "" && !f.Approved && d.State == react.Ready { // a tool call
		d = react.Decision{State: react.Asking, Cause: react.CauseShape, Why: r.AskWhy, Line: rule.Line("do")}
	}
	if r.Lag && !f.Approved && d.State == react.Ready {
		d = react.Decision{State: react.Asking, Cause: react.CauseHeld, Why: "it was made while the journal may not have known what was done"}
	}
	return d
}

// approved reports whether the operator approved exactly this request under the present rule.
func approved(r *run, rs *ruleState) bool {
	return r.Request != nil && r.Approved != "" && r.Approved == r.Request.Hash() && r.Under == rs.Hash
}

// granted reports whether a grant under the present rule covers the act. No grant covers what a
// model or an agent chose.
func (e *Engine) granted(r *run, rs *ruleState) bool {
	if r.Request == nil || r.Began != nil {
		return false
	}
	g, ok := e.grants[r.Request.ActHash()]
	return ok && g.Rule == r.Rule && g.Under == rs.Hash && g.Until.After(e.now())
}

// onceUntil returns until when other runs have charged all once values of a run; zero if one
// value is free.
func (e *Engine) onceUntil(r *run) time.Time {
	var until time.Time
	for i, hash := range r.Once {
		c, ok := e.once[onceKey(r.Rule, hash)]
		if !ok || c.Run == r.ID {
			return time.Time{}
		}
		if i == 0 || c.Until.Before(until) {
			until = c.Until
		}
	}
	return until
}

func onceKey(rule, hash string) string { return rule + "/" + hash }

// charge keeps the act of a run from being repeated for its once values.
func (e *Engine) charge(r *run) {
	for _, hash := range r.Once {
		key := onceKey(r.Rule, hash)
		c := onceCharge{Until: e.now().Add(r.rule.Once.For), Run: r.ID}
		e.once[key] = c
		e.stagePut(event.TableReact, prefixOnce+key, encode(c))
	}
}

// uncharge undoes charge.
func (e *Engine) uncharge(r *run) {
	for _, hash := range r.Once {
		key := onceKey(r.Rule, hash)
		if e.once[key].Run == r.ID {
			delete(e.once, key)
			e.stageDelete(event.TableReact, prefixOnce+key)
		}
	}
}
