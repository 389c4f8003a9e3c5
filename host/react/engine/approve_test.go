package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// A change right after a view is in the next one, even if nothing else happens.
func TestTheViewIsNeverLate(t *testing.T) {
	for range 50 { // the order of goroutines differs each time
		simulated(t, func(t *testing.T) {
			w := newWorld(t, asked(commandRule("page")))
			e := w.opened()
			w.happens(`{}`, 3*viewEvery)
			if v := e.Reactions(); v.Asking != 1 {
				t.Fatalf("of what asks the view has %d, revision %d", v.Asking, v.Revision)
			}
		})
	}
}

func TestARunAsksAndActsOnceApproved(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, asked(commandRule("page")))
		e := w.opened()
		w.happens(`{}`, time.Second)
		r := only(t, e, react.Asking)
		if w.acts() != 0 || e.Reactions().Asking != 1 {
			t.Fatalf("begun %v, view %+v", w.begun, e.Reactions())
		}
		if err := e.Approve(t.Context(), r.ID, "another"); !errors.Is(err, react.ErrChanged) {
			t.Error(err)
		}
		must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
		rest(time.Second)
		only(t, e, react.Done)
		if err := e.Approve(t.Context(), r.ID, r.Request.Hash()); !errors.Is(err, react.ErrState) {
			t.Error(err)
		}
		if w.times(string(r.ID)+"/1") != 1 {
			t.Error(w.begun)
		}
		if last := e.Reactions().Rules[0].Approved; last == nil || last.ActHash() != r.Request.ActHash() || last.Input != nil {
			t.Errorf("approved last: %+v", last)
		}
		for _, action := range []string{"approval asked", "approval allowed", "act started", "act ended"} {
			if !slices.ContainsFunc(w.audit(), func(a event.AuditEntry) bool { return a.Action == action }) {
				t.Errorf("the audit log has no %q", action)
			}
		}
	})
}

// A request that changes between its approval and its start asks again.
func TestChangeAfterApprovalAsksAgain(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"program": func(w *world) { w.mu.Lock(); w.program = "v2"; w.mu.Unlock() },
		"rule": func(w *world) {
			rule := commandRule("page")
			rule.Mode, rule.Wait = react.ModeAsk, 7*time.Second
			w.rules(rule)
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				w := newWorld(t, asked(commandRule("page")))
				e := w.opened()
				w.happens(`{}`, time.Second)
				r := only(t, e, react.Asking)
				must(t, e.Stop(t.Context(), false))
				must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
				rest(time.Second)
				change(w)
				rest(3 * time.Second)
				must(t, e.Go(t.Context()))
				rest(3 * time.Second)
				again := only(t, e, react.Asking)
				if w.acts() != 0 || again.Approved != "" {
					t.Errorf("begun %v, approved %q", w.begun, again.Approved)
				}
				void := slices.IndexFunc(w.audit(), func(a event.AuditEntry) bool {
					return a.Action == "approval void" && strings.Contains(a.Result, again.Why)
				})
				if void < 0 || again.Why == "" {
					t.Errorf("the audit log does not say why it asks again; the run says %q", again.Why)
				}
				must(t, e.Approve(t.Context(), again.ID, again.Request.Hash()))
				rest(time.Second)
				only(t, e, react.Done)
			})
		})
	}
}

// The view follows changes of programs, without a change of rules.json.
func TestARuleWhoseProgramChangedCanBeArmed(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, commandRule("page"))
		e := w.opened()
		shown := e.Reactions().Rules[0].Hash
		w.change(func() { w.program = "v2" })
		if err := e.Arm(t.Context(), "page", shown); !errors.Is(err, react.ErrChanged) {
			t.Errorf("another program than was shown: %v", err)
		}
		rest(time.Second)
		must(t, e.Arm(t.Context(), "page", e.Reactions().Rules[0].Hash))
		w.happens(`{}`, 2*time.Second)
		only(t, e, react.Done)
	})
}

func TestApprovalsExpireAlsoOverARestart(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, asked(grouped(commandRule("page"))))
		e, _ := w.open("", 0)
		w.happens(`{"k":1}`, 30*time.Minute)
		w.happens(`{"k":2}`, time.Minute)
		if n := len(runsIn(t, e, react.Asking)); n != 2 {
			t.Fatalf("%d ask", n)
		}
		closed(t, e)
		rest(35 * time.Minute)
		e, _ = w.open("", 0)
		rest(time.Second)
		expired := runsIn(t, e, react.Expired)
		waits := runsIn(t, e, react.Asking)
		if len(expired) != 1 || len(waits) != 1 || expired[0].Key != "1" {
			t.Fatalf("%d expired, %d wait", len(expired), len(waits))
		}
		must(t, e.Approve(t.Context(), waits[0].ID, waits[0].Request.Hash()))
		rest(time.Second)
		if w.acts() != 1 {
			t.Error(w.begun)
		}
		closed(t, e)
	})
}

func TestDenialIsChargedAndCanBeTakenBack(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := commandRule("page")
		rule.Mode, rule.Once = react.ModeAsk, react.Once{By: []string{".id"}, For: 6 * time.Hour}
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		defer func() { closed(t, e) }()
		w.happens(`{"id":1}`, time.Second)
		r := only(t, e, react.Asking)
		must(t, e.Deny(t.Context(), r.ID, "not now"))
		w.happens(`{"id":1}`, time.Second)
		if r := only(t, e, react.Denied); r.Reason != "not now" {
			t.Error(r.Reason)
		}
		if n := e.Reactions().Rules[0].Suppressed["once"]; n != 1 {
			t.Errorf("suppressed: %v", e.Reactions().Rules[0].Suppressed)
		}
		closed(t, e)
		e, _ = w.open("", 0)
		must(t, e.Undeny(t.Context(), r.ID))
		rest(time.Second)
		again := only(t, e, react.Asking)
		must(t, e.Approve(t.Context(), again.ID, again.Request.Hash()))
		rest(time.Second)
		only(t, e, react.Done)
		w.happens(`{"id":1}`, time.Second)
		only(t, e, react.Done)
	})
}

func TestGrantsApproveTheSameActUntilTheyEnd(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, asked(commandRule("page")))
		e := w.opened()
		w.happens(`{}`, 2*time.Second)
		r := only(t, e, react.Asking)
		if err := e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(25*time.Hour)); err == nil {
			t.Error("a grant of more than a day")
		}
		must(t, e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(2*time.Hour)))
		w.happens(`{}`, 2*time.Second)
		if w.acts() != 2 {
			t.Errorf("begun %v", w.begun)
		}
		rest(2 * time.Hour)
		w.happens(`{}`, 2*time.Second)
		if w.acts() != 2 {
			t.Errorf("begun %v", w.begun)
		}
	})
}

// A grant covers an act of the unchanged rule. Questions about the records, and manual runs, still
// ask.
func TestAGrantAnswersForItsRuleOnly(t *testing.T) {
	for name, c := range map[string]struct {
		after func(t *testing.T, w *world, e *Engine)
		acts  int
	}{
		"the same again": {func(*testing.T, *world, *Engine) {}, 2},
		"disarmed":       {func(t *testing.T, _ *world, e *Engine) { must(t, e.Disarm(t.Context(), "page")) }, 1},
		"the rule was changed": {func(_ *testing.T, w *world, _ *Engine) {
			rule := askingCommand()
			rule.Age = time.Hour
			w.rules(rule)
		}, 1},
		"the rule was changed, and changed back": {func(_ *testing.T, w *world, _ *Engine) {
			rule := askingCommand()
			rule.Age = time.Hour
			w.rules(rule)
			rest(5 * time.Second)
			w.rules(askingCommand())
		}, 1},
		"the rule was taken out, and put in again": {func(_ *testing.T, w *world, _ *Engine) {
			w.rules()
			rest(5 * time.Second)
			w.rules(askingCommand())
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				w, e := grantedWorld(t)
				defer closed(t, e)
				c.after(t, w, e)
				rest(5 * time.Second)
				w.happens(`{}`, 2*time.Second)
				if w.acts() != c.acts {
					t.Errorf("begun %v", w.begun)
				}
				if granted := !e.Reactions().Rules[0].Granted.IsZero(); granted != (c.acts == 2) {
					t.Errorf("the rule is granted: %v", granted)
				}
			})
		})
	}
	t.Run("made by hand", func(t *testing.T) {
		simulated(t, func(t *testing.T) {
			w, e := grantedWorld(t)
			defer closed(t, e)
			_, err := e.Once(t.Context(), "page", 1)
			must(t, err)
			rest(2 * time.Second)
			if v := e.Reactions(); v.Asking != 1 || w.acts() != 1 {
				t.Errorf("%d ask, begun %v", v.Asking, w.begun)
			}
		})
	})
}

func askingCommand() react.Rule {
	rule := commandRule("page")
	rule.Mode = react.ModeAsk
	return rule
}

// grantedWorld returns a world with one run that is done, and its act granted for two hours.
func grantedWorld(t *testing.T) (*world, *Engine) {
	t.Helper()
	w := newWorld(t, askingCommand())
	e, _ := w.open("", 0)
	w.happens(`{}`, 2*time.Second)
	r := only(t, e, react.Asking)
	must(t, e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(2*time.Hour)))
	rest(2 * time.Second)
	return w, e
}

// A rule that was removed from the file and added again must be armed again.
func TestRemovedRuleIsNotArmed(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, commandRule("page"))
		e := w.armed()
		w.rules()
		rest(5 * time.Second)
		w.rules(commandRule("page"))
		rest(5 * time.Second)
		w.happens(`{}`, 2*time.Second)
		only(t, e, react.Asking)
		if w.acts() != 0 {
			t.Errorf("begun %v", w.begun)
		}
	})
}

// Flows are judged by the source of the rule, so records of other sources are refused.
func TestOnceRefusesRecordsOfOtherSources(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e := w.opened()
		for _, from := range [][2]string{{"vault", "incident"}, {"pager", "secret"}} {
			_, err := e.Once(t.Context(), "page", w.submit(record(from[0], from[1], `{"secret":"canary"}`)))
			if !errors.Is(err, react.ErrSource) {
				t.Errorf("%s of %s: %v", from[1], from[0], err)
			}
		}
		rest(2 * time.Second)
		if v := e.Reactions(); v.Asking != 0 {
			t.Errorf("%d ask", v.Asking)
		}
	})
}

func TestOnceActsOnOneRecordAndAsks(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.When = ".never=1"
		w := newWorld(t, rule)
		e := w.armed()
		seq := w.submit(record("pager", "incident", `{}`))
		id, err := e.Once(t.Context(), "page", seq)
		must(t, err)
		rest(2 * time.Second)
		r, err := e.Run(t.Context(), id)
		if err != nil || r.State != react.Asking {
			t.Fatalf("%+v, %v", r, err)
		}
		must(t, e.Approve(t.Context(), id, r.Request.Hash()))
		rest(2 * time.Second)
		if r, err = e.Run(t.Context(), id); r.State != react.Done {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
