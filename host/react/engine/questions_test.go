package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
)

// askingWorld opens a world with one run that asks for a tool call: one of a model, whose attempt
// is over, or a live one of an agent, whose attempt goes on.
func askingWorld(t *testing.T, live bool) (*world, *Engine, react.Run) {
	t.Helper()
	rule := taskRule("page")
	plan := []planned{asksModel, writes, asksModel}
	if live {
		rule = agentRule("page")
		asked := writes
		asked.ask = true
		plan = []planned{{kind: react.StepPrompt}, asked, {kind: react.StepPrompt}}
	}
	rule.Once = react.Once{By: []string{".id"}, For: time.Hour}
	rule.Limits.Runs = react.Rate{N: 1, Per: time.Hour}
	w := newWorld(t, rule)
	w.plan = does(plan...)
	e, _ := w.open("", 0)
	arm(t, e)
	w.happens(`{"id":1}`, 2*time.Second)
	if live { // an agent asks before it begins, even in an armed rule
		if r := only(t, e, react.Asking); r.Request.Kind == react.RequestAgent {
			must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
			rest(2 * time.Second)
		}
	}
	r := only(t, e, react.Asking)
	if r.Request.Kind != react.RequestTool {
		t.Fatalf("%+v", r)
	}
	return w, e, r
}

func both(t *testing.T, test func(t *testing.T, live bool)) {
	for name, live := range map[string]bool{"the attempt is over": false, "the attempt goes on": true} {
		t.Run(name, func(t *testing.T) { simulated(t, func(t *testing.T) { test(t, live) }) })
	}
}

func (w *world) written() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.wrote)
}

func (w *world) answered(id react.RunID) []react.Answered {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answers[id]
}

// An approved call is done once, and neither the rate nor Once counts it as a new start.
func TestToolCallIsApprovedOnce(t *testing.T) {
	both(t, func(t *testing.T, live bool) {
		w, e, r := askingWorld(t, live)
		defer closed(t, e)
		if err := e.Approve(t.Context(), r.ID, r.Began.Hash()); !errors.Is(err, react.ErrChanged) {
			t.Errorf("approved as what it began with: %v", err)
		}
		if err := e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(time.Hour)); !errors.Is(err, react.ErrState) {
			t.Errorf("granted: %v", err)
		}
		if w.written() != 0 {
			t.Fatal("it was called before")
		}
		must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
		rest(2 * time.Second)
		r = only(t, e, react.Done)
		if w.written() != 1 || r.Request.Kind == react.RequestTool || r.Began != nil {
			t.Errorf("called %v, %+v", w.called, r)
		}
		starts, charged := 0, 0
		must(t, e.query(t.Context(), func() error { starts, charged = len(e.rules["page"].starts), len(e.once); return nil }))
		if starts != 1 || charged != 1 {
			t.Errorf("%d starts, %d charged", starts, charged)
		}
	})
}

func TestDeniedToolCall(t *testing.T) {
	both(t, func(t *testing.T, live bool) {
		w, e, r := askingWorld(t, live)
		defer closed(t, e)
		must(t, e.Deny(t.Context(), r.ID, "not today"))
		rest(2 * time.Second)
		if live { // the agent is told, and goes on without it
			r = only(t, e, react.Done)
			all, _ := e.Steps(t.Context(), r.ID)
			if a := w.answered(r.ID); len(a) != 1 || a[0].Approved || a[0].Reason != "not today" || len(all) != 3 || all[1].State != react.StepRefused || !strings.Contains(all[1].Why, "not today") {
				t.Errorf("%+v, %+v", a, all)
			}
		} else if r = only(t, e, react.Denied); r.Reason != "not today" {
			t.Errorf("%+v", r)
		} else {
			must(t, e.Undeny(t.Context(), r.ID))
			rest(time.Second)
			r = only(t, e, react.Asking)
			must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
			rest(2 * time.Second)
			only(t, e, react.Done)
		}
		if n := w.written(); n != map[bool]int{false: 1, true: 0}[live] {
			t.Errorf("called %v", w.called)
		}
	})
}

func TestToolCallExpiresWithoutApproval(t *testing.T) {
	both(t, func(t *testing.T, live bool) {
		w, e, r := askingWorld(t, live)
		defer closed(t, e)
		rest(askFor + time.Minute)
		r = only(t, e, map[bool]react.State{false: react.Expired, true: react.Done}[live])
		if a := w.answered(r.ID); w.written() != 0 || live && (len(a) != 1 || a[0].Approved || !strings.Contains(a[0].Reason, "in time")) {
			t.Errorf("called %v, %+v", w.called, a)
		}
	})
}

// A question of a model survives a restart. An agent asks again if its conversation can be
// continued; otherwise its run is parked.
func TestToolCallAsksAgainAfterRestart(t *testing.T) {
	both(t, func(t *testing.T, live bool) {
		w, e, r := askingWorld(t, live)
		closed(t, e)
		rest(time.Minute)
		e, _ = w.open("", 0)
		defer func() { closed(t, e) }()
		rest(5 * time.Second)
		again := only(t, e, react.Asking)
		if !live && again.Request.Hash() != r.Request.Hash() || again.Request.Kind != react.RequestTool {
			t.Errorf("%+v", again.Request)
		}
		must(t, e.Approve(t.Context(), again.ID, again.Request.Hash()))
		closed(t, e)
		e, _ = w.open("", 0)
		rest(5 * time.Second)
		if r := runsOf(t, e, react.Query{})[0]; r.State == react.Asking { // the agent had not called yet
			must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
			rest(5 * time.Second)
		}
		only(t, e, react.Done, react.Parked)
		if w.written() > 1 {
			t.Errorf("called %v", w.called)
		}
	})
}

func TestAnAgentWhoseConversationIsGoneIsParked(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, e, _ := askingWorld(t, true)
		closed(t, e)
		w.cut = true
		e = w.opened()
		rest(5 * time.Second)
		if r := only(t, e, react.Parked); r.Request.Kind != react.RequestAgent || e.Reactions().Asking != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// A change of the rule voids the approval of a tool call, as it does for a command.
func TestARuleThatChangedVoidsTheApprovalOfACall(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, e, r := askingWorld(t, false)
		defer closed(t, e)
		must(t, e.Stop(t.Context(), false))
		must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
		rule := taskRule("page")
		rule.Age = time.Hour
		w.rules(rule)
		rest(3 * time.Second)
		must(t, e.Go(t.Context()))
		rest(3 * time.Second)
		r = only(t, e, react.Asking)
		if w.written() != 0 || r.Approved != "" || !strings.Contains(r.Why, "changed since it was approved") {
			t.Errorf("called %v, %+v", w.called, r)
		}
		must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
		rest(3 * time.Second)
		for range 2 { // as the rule changed, the rest of the run asks too
			if r := runsOf(t, e, react.Query{})[0]; r.State == react.Asking {
				must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
				rest(3 * time.Second)
			}
		}
		only(t, e, react.Done)
	})
}

func TestAStopAnswersAndEndsWhatTakesSteps(t *testing.T) {
	for name, stop := range map[string]func(*testing.T, *world, *Engine){
		"verb": func(t *testing.T, _ *world, e *Engine) { must(t, e.Stop(t.Context(), true)) },
		"file": func(t *testing.T, w *world, _ *Engine) {
			must(t, os.WriteFile(filepath.Join(w.dir, react.StopFile), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, live bool) {
				w, e, r := askingWorld(t, live)
				defer closed(t, e)
				stop(t, w, e)
				rest(1100 * time.Millisecond)
				r = only(t, e, map[bool]react.State{false: react.Asking, true: react.Killed}[live])
				if live {
					return
				}
				must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
				rest(5 * time.Second)
				only(t, e, react.Ready)
				must(t, e.Go(t.Context()))
				rest(5 * time.Second)
				only(t, e, react.Done)
			})
		})
	}
}

// A stop without kill refuses every further step.
func TestAStopRefusesTheNextStep(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, taskRule("page"))
		w.plan, w.lasts = does(asksModel, asksModel, asksModel), time.Minute
		e := w.armed()
		w.happens(`{}`, 30*time.Second)
		only(t, e, react.Running)
		must(t, e.Stop(t.Context(), false))
		rest(2 * time.Minute)
		r := only(t, e, react.Failed)
		if !strings.Contains(r.Why, react.ErrStopped.Error()) || r.Steps != 1 || r.Spend != 400 {
			t.Errorf("%+v", r)
		}
	})
}

// An agent that abandons question after question is ended.
func TestQuestionsThatAreGivenUpAreBounded(t *testing.T) {
	for name, gives := range map[string]int{"some": maxGivenUp, "no end of them": 1000} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				asked := writes
				asked.ask, asked.gives = true, gives
				w := newWorld(t, agentRule("page"))
				w.plan = does(planned{kind: react.StepPrompt}, asked)
				e := w.armed()
				w.happens(`{"id":1}`, 2*time.Second)
				r := only(t, e, react.Asking)
				must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
				rest(time.Minute)
				if gives == maxGivenUp {
					if r := only(t, e, react.Asking); r.Request.Kind != react.RequestTool {
						t.Errorf("%+v", r)
					}
					return
				}
				if r := only(t, e, react.Failed); !strings.Contains(r.Why, "it gave up 13 questions") {
					t.Errorf("%+v", r)
				}
				n := 0
				for _, a := range w.audit() {
					if a.Action == "approval asked" {
						n++
					}
				}
				if n != 1+maxGivenUp+1 { // the first one is about its start
					t.Errorf("%d times the audit log has that it asked", n)
				}
			})
		})
	}
}

// Arming a rule applies to later runs: those that ask already go on asking.
func TestARunThatAsksIsNotArmedWithItsRule(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e := w.opened()
		w.happens(`{}`, 2*time.Second)
		first := only(t, e, react.Asking)
		arm(t, e)
		rest(time.Minute)
		w.happens(`{}`, 2*time.Second)
		asks := runsIn(t, e, react.Asking)
		if len(asks) != 1 || asks[0].ID != first.ID || asks[0].Hash != first.Hash || w.acts() != 1 {
			t.Errorf("begun %v, asks %+v", w.begun, asks)
		}
	})
}
