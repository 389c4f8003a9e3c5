package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

func TestARunOfStepsAsksForWhatWritesAndGoesOn(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, taskRule("page"))
		w.plan = does(asksModel, reads, asksModel, writes, asksModel)
		e := w.armed()
		w.happens(`{}`, 2*time.Second)
		r := only(t, e, react.Asking)
		if r.Began == nil || r.Began.Kind != react.RequestModel || r.Request.Kind != react.RequestTool || r.Request.Tool != "undo" || r.Steps != 3 {
			t.Fatalf("%+v", r)
		}
		if v := e.Reactions(); v.Running != 0 || v.Spent != 800 || v.SpendLimit != react.DaySpend || v.Rules[0].Spent != 800 || !slices.Equal(v.Models, []string{theModel().Name}) {
			t.Errorf("view: %+v", v)
		}
		must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
		rest(2 * time.Second)
		r = only(t, e, react.Done)
		all, err := e.Steps(t.Context(), r.ID)
		if err != nil || len(all) != 5 || w.called[string(r.ID)+"/4"] != 1 || w.called[string(r.ID)+"/2"] != 1 {
			t.Errorf("called %v; %+v, %v", w.called, all, err)
		}
		if slices.ContainsFunc(all, func(s react.Step) bool { return s.State != react.StepDone }) || r.Spend != 1200 || w.paid[r.ID] != 1200 || r.Request.Kind != react.RequestModel {
			t.Errorf("spent %d of %d, %+v", r.Spend, w.paid[r.ID], all)
		}
		for action, n := range map[string]int{"tool called": 2, "model asked": 3, "approval asked": 1} {
			got := 0
			for _, a := range w.audit() {
				if a.Action == action {
					got++
				}
				if strings.Contains(a.Result, `"id"`) {
					t.Errorf("the audit log has what was sent: %q", a.Result)
				}
			}
			if got != n {
				t.Errorf("%d entries %q, not %d", got, action, n)
			}
		}
		if n := len(w.tables[event.TableReact]); n < 5 {
			t.Errorf("%d entries", n)
		}
	})
}

// Content that is too long is not stored, but the outcome is: it stays known what a tool did.
func TestAStepIsBounded(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, taskRule("page"))
		w.plan, w.said = does(asksModel, reads), strings.Repeat("x", maxStep)
		e := w.armed()
		w.happens(`{}`, 2*time.Second)
		r := only(t, e, react.Done)
		all, err := e.Steps(t.Context(), r.ID)
		if err != nil || len(all) != 2 || all[0].State != react.StepFailed || all[0].Answer != nil || all[0].Cost != 400 || all[1].State != react.StepDone {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// Arguments of a model can be stored, or are refused.
func TestArgumentsThatAreNoJSONAreRefused(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, taskRule("page"))
		bad := reads
		bad.args = `{"id":`
		w.plan, w.calls = does(asksModel, bad, reads), []react.Call{{ID: "1", Name: "look", Args: []byte(`{"id"`)}}
		e := w.armed()
		w.happens(`{}`, 2*time.Second)
		r := only(t, e, react.Done)
		all, err := e.Steps(t.Context(), r.ID)
		if err != nil || len(all) != 3 || all[1].State != react.StepRefused || all[2].State != react.StepDone || len(w.called) != 1 || all[0].Answer.Calls[0].ID != "1" {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// A run whose attempts keep ending with an unknown outcome fails.
func TestRunWithRepeatedlyUnknownOutcomeFails(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, taskRule("page"))
		w.plan = does(planned{end: &react.Result{Outcome: react.OutcomeUnknown, Why: "lost"}})
		e := w.armed()
		w.happens(`{}`, time.Minute)
		if r := only(t, e, react.Failed); r.Attempt != resumes || !strings.Contains(r.Why, "lost") {
			t.Errorf("%+v", r)
		}
	})
}

// A call of a tool that the run does not have is refused, and counts. The name, which the model
// made up, is stored quoted.
func TestACallOfAnUnknownToolIsRefusedAndCounts(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, taskRule("page"))
		made := planned{kind: react.StepTool, tool: "x\x1b[2J\u202e"}
		w.plan = does(slices.Repeat([]planned{made}, 20)...)
		e := w.armed()
		w.happens(`{}`, 2*time.Second)
		r := only(t, e, react.Failed)
		all, err := e.Steps(t.Context(), r.ID)
		if err != nil || len(all) != react.MaxSteps || all[0].State != react.StepRefused || all[0].Tool != `"x\x1b[2J\u202e"` || len(w.called) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
		for _, a := range w.audit() {
			if strings.Contains(a.Result, "[2J") {
				t.Errorf("the audit log has it: %q", a.Result)
			}
		}
	})
}
