package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Explain implements [react.Control].
func (e *Engine) Explain(ctx context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	rec, err := e.o.Store.Get(seq)
	if err != nil {
		return nil, err
	}
	runs, err := e.Runs(ctx, react.Query{Rule: rule, Seq: seq})
	if err != nil {
		return nil, err
	}
	var out []react.Verdict
	err = e.query(ctx, func() error {
		if rule != "" && e.set.Rule(rule) == nil {
			return noRule(rule)
		}
		for i := range e.set.File.Rules {
			if r := &e.set.File.Rules[i]; rule == "" || r.Name == rule {
				out = append(out, e.explain(e.set.Rule(r.Name), &rec, runs))
			}
		}
		return nil
	})
	return out, err
}

func (e *Engine) explain(m *react.Matcher, rec *event.Record, runs []react.Run) react.Verdict {
	r := m.Rule
	v := react.Verdict{Rule: r.Name, Seq: rec.Seq, State: react.Suppressed, Line: r.Where}
	for i := range runs {
		if runs[i].Rule == r.Name {
			v.State, v.Why, v.Line, v.Key, v.Run = runs[i].State, runs[i].Why, runs[i].Line, runs[i].Key, runs[i].ID
			return v
		}
	}
	rs := e.ruleState(r.Name)
	matched, ok := false, true
	listens := slices.Contains(e.set.Listening(rec), m)
	if listens {
		matched, ok = e.matches(m, rec)
		v.Key = m.Key(rec)
	}
	switch {
	case !listens:
		v.Elsewhere = true
		v.Why, v.Line = fmt.Sprintf("the rule listens to %s of %s", r.On.Types, r.On.Server), r.Line("on")
		if r.On.Covers(rec) {
			v.Why = fmt.Sprintf("the rule listens to %ss of %s of %s, and the record is of the kind %s", cmp.Or(r.On.Kind, event.KindEvent), r.On.Types, r.On.Server, rec.Kind)
		}
	case !ok:
		v.Why, v.Line = "its filter failed on this record", r.Line("when")
	case !matched:
		v.Why, v.Line = "its filter does not match the record", r.Line("when")
	case rec.Seq <= rs.Since:
		v.Why = fmt.Sprintf("the rule as it stands judges records after %d", rs.Since)
	case rec.Seq > e.position:
		v.State, v.Why = react.Gathering, cmp.Or(e.unread.why, "it is not decided yet")
	case rs.watch != nil:
		v.Why, v.Line = "it counts in the rule's window, which was not true, or was true already", r.Line("window")
	default:
		d := react.Judge(e.facts(r, rs))
		v.State, v.Why, v.Line = d.State, "what was decided is no longer stored; now it would be: "+d.Why, d.Line
	}
	return v
}
