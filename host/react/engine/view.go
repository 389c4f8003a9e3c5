package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Reactions implements [react.Control].
func (e *Engine) Reactions() react.View { return *e.view.Load() }

// showSoon updates the view if something changed, but not too often. It returns when to call it
// again for a change that is not shown yet, the zero time for none.
func (e *Engine) showSoon() (due time.Time) {
	if !e.stale && !e.says.changed() {
		return time.Time{}
	}
	if since := e.now().Sub(e.shown); since < viewEvery && since >= 0 { // negative: the clock was set back
		return e.shown.Add(viewEvery)
	}
	e.show()
	return time.Time{}
}

// show updates the view.
func (e *Engine) show() {
	e.stale, e.shown = false, e.now()
	e.revision++
	v := &react.View{On: true, Path: e.o.Path, Fault: e.file.fault, Stopped: e.stopSwitch.stopped(), Held: e.lagging(), Blocked: e.blocked(), Revision: e.revision, SpendLimit: e.spendLimit(), Says: e.says.take(), Ended: maps.Clone(e.ends)}
	_, v.Spent = e.spent.on(dayOf(e.shown), "")
	for i := range e.set.File.Rules {
		v.Rules = append(v.Rules, e.ruleView(&e.set.File.Rules[i]))
	}
	for _, m := range e.set.File.Models {
		v.Models = append(v.Models, m.Name)
	}
	for _, r := range e.order {
		switch r.State {
		case react.Asking:
			v.Asking++
			v.Waiting = append(v.Waiting, cloneRun(&r.Run))
		case react.Running:
			v.Running++
			fallthrough
		case react.Gathering, react.Ready:
			if len(v.Active) < viewActive {
				v.Active = append(v.Active, cloneRun(&r.Run))
			}
		}
	}
	e.view.Store(v)
}

// held says why nothing may start; "": it may.
func (e *Engine) held() string { return cmp.Or(e.fault, e.file.writable, e.lagging()) }

// lagging says why nothing may start until the operator calls Go; "": it may.
func (e *Engine) lagging() string {
	if e.lag == "" {
		return ""
	}
	return "acts may have been done that are not known here: " + e.lag
}

// blocked says what cannot be read or written, or is used up; "": nothing.
func (e *Engine) blocked() string { return cmp.Or(e.fault, e.unread.why, e.shortage.why) }

func (e *Engine) ruleView(r *react.Rule) react.RuleView {
	rs := e.ruleState(r.Name)
	f := e.facts(r, rs)
	f.Stopped, f.Held, f.RunningAll, f.Started, f.StartedAll = false, "", 0, 0, 0
	d := react.Judge(f)
	v := react.RuleView{
		Rule: *r, Hash: rs.Hash, Armed: rs.Armed != "" && rs.Armed == rs.Hash, Silenced: rs.Silenced, Disarmed: rs.Disarmed,
		Why: d.Why, Line: d.Line, Letters: react.CapabilitiesOf(r.Do, r.On.Server).Letters, Boundary: rs.made.req.Boundary,
		Since: rs.Since, Matched: rs.Matched, Suppressed: maps.Clone(rs.Dropped), Last: rs.Last, Approved: rs.approved,
	}
	v.Spent, _ = e.spent.on(dayOf(f.Now), r.Name)
	for tool, runs := range e.unknown[r.Name] {
		if v.Unknown == nil {
			v.Unknown = map[string]react.RunID{}
		}
		v.Unknown[tool] = runs[0]
	}
	for _, g := range e.grants {
		if g.Rule == r.Name && g.Under == rs.Hash && g.Until.After(f.Now) && g.Until.After(v.Granted) {
			v.Granted = g.Until
		}
	}
	switch d.State {
	case react.Ready:
		v.Effective = react.ModeAuto
	case react.Asking:
		v.Effective = react.ModeAsk
	default:
		v.Effective = react.ModeShadow
	}
	if rs.made.err != nil {
		v.Effective, v.Why = react.ModeShadow, rs.made.err.Error()
	}
	return v
}

// cloneRun returns a copy that shares nothing that the engine still changes.
func cloneRun(r *react.Run) react.Run {
	c := *r
	c.Members.First, c.Members.Last = slices.Clone(r.Members.First), slices.Clone(r.Members.Last)
	c.Members.Top = make(map[string][]react.Count, len(r.Members.Top))
	for path, counts := range r.Members.Top {
		c.Members.Top[path] = slices.Clone(counts)
	}
	return c
}

var (
	_ react.Control = (*Engine)(nil)
	_ Store         = event.Store(nil)
)
