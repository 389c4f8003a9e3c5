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

// chosen makes the model choose an act by its name.
func chosen(name, note string) func(react.Request) []planned {
	return does(asksModel, planned{next: &react.Request{Kind: react.RequestNote, Act: name, Note: note, Input: []byte("1 ")}})
}

// An act that a model chose needs no approval if its own mode is auto and the rule is armed.
func TestAnActThatAModelChoseHasItsOwnMode(t *testing.T) {
	for name, c := range map[string]struct {
		act   string
		rule  func(*react.Rule)
		after func(*testing.T, *Engine)
		asks  string // why; "" if it does not
	}{
		"auto":                     {"look", nil, nil, ""},
		"asks":                     {"call", nil, nil, "mode is ask"},
		"auto in a rule of ask":    {"look", func(r *react.Rule) { r.Mode = react.ModeAsk }, nil, ""},
		"auto, disarmed meanwhile": {"look", nil, func(t *testing.T, e *Engine) { must(t, e.Disarm(t.Context(), "page")) }, "not armed"},
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				rule := choiceRule("page")
				if c.rule != nil {
					c.rule(&rule)
				}
				w := newWorld(t, rule)
				w.plan, w.lasts = chosen(c.act, c.act), time.Second
				e := w.armed()
				w.happens(`{}`, 500*time.Millisecond)
				if r := only(t, e, react.Asking, react.Running); r.State == react.Asking {
					must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
				}
				if c.after != nil {
					c.after(t, e)
				}
				rest(5 * time.Second)
				if c.asks != "" {
					r := only(t, e, react.Asking)
					if !strings.Contains(r.Why, c.asks) || r.Request.Act != c.act || r.Began.Kind != react.RequestChoice {
						t.Fatalf("%q, %+v", r.Why, r)
					}
					must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
					rest(5 * time.Second)
				}
				r := only(t, e, react.Done)
				if r.Request.Act != c.act || r.Began == nil || r.Attempt != 2 {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// Only acts of the rule are carried out, whatever a runner says that the model chose.
func TestActOutsideTheRuleIsNotDone(t *testing.T) {
	for name, next := range map[string]react.Request{
		"another name":  {Kind: react.RequestNote, Act: "erase", Note: "look"},
		"another act":   {Kind: react.RequestNote, Act: "look", Note: "call"},
		"another kind":  {Kind: react.RequestCommand, Act: "look", Argv: []string{"/bin/rm"}},
		"a tool":        {Kind: react.RequestTool, Server: "pager", Tool: "undo"},
		"no act at all": {Kind: react.RequestCommand, Argv: []string{"/bin/rm"}},
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				w := newWorld(t, choiceRule("page"))
				w.plan = does(asksModel, planned{next: &next})
				e := w.armed()
				w.happens(`{}`, 5*time.Second)
				if r := only(t, e, react.Failed); r.Attempt != 1 || r.Request.Kind != react.RequestChoice {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// killedInCall returns a world with a run that called a write tool, in an engine that died at a
// failpoint of that call. In later runs the model also calls a read tool.
func killedInCall(t *testing.T, failpoint string) (*world, react.RunID) {
	t.Helper()
	rule := taskRule("page")
	rule.Key = []string{".k"}
	w := newWorld(t, rule)
	w.plan = does(writes, reads)
	e, _ := w.open("", 0)
	arm(t, e)
	w.happens(`{"k":1}`, 2*time.Second)
	r := only(t, e, react.Asking)
	closed(t, e)
	e, l := w.open(failpoint, 0)
	must(t, e.Approve(t.Context(), r.ID, r.Request.Hash()))
	rest(2 * time.Second)
	if !l.isDead() {
		t.Fatal("it was not killed")
	}
	closed(t, e)
	return w, r.ID
}

// unblocked settles a parked run, and checks that no tool stays blocked.
func unblocked(t *testing.T, e *Engine, id react.RunID) {
	t.Helper()
	must(t, e.Settle(t.Context(), id, true, "seen"))
	rest(time.Second)
	if v := e.Reactions().Rules[0]; len(v.Unknown) != 0 {
		t.Errorf("blocked still: %v", v.Unknown)
	}
}

// After a tool call with unknown outcome the rule cannot call that tool until the operator settles
// the run.
func TestAnUnknownCallIsParkedAndItsToolBlocked(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, _ := killedInCall(t, "calling")
		e, _ := w.open("", 0)
		rest(2 * time.Second)
		r := only(t, e, react.Parked)
		if !strings.Contains(r.Why, "pager/undo") || w.written() != 0 {
			t.Errorf("%q, called %v", r.Why, w.called)
		}
		w.happens(`{"k":2}`, 2*time.Second)
		closed(t, e) // it is known over a restart
		e = w.opened()
		if v := e.Reactions().Rules[0]; v.Unknown["pager/undo"] != r.ID {
			t.Errorf("the rule's view does not tell: %v", v.Unknown)
		}
		other := runsIn(t, e, react.Done)
		if len(other) != 1 {
			t.Fatalf("%+v", runsOf(t, e, react.Query{}))
		}
		all, err := e.Steps(t.Context(), other[0].ID)
		if err != nil || len(all) != 2 || all[0].State != react.StepRefused || !strings.Contains(all[0].Why, "settle") || all[1].State != react.StepDone {
			t.Errorf("%+v, %v", all, err)
		}
		unblocked(t, e, r.ID)
		if all, err = e.Steps(t.Context(), r.ID); err != nil || all[0].State != react.StepDone {
			t.Errorf("%+v, %v", all, err)
		}
		w.happens(`{"k":3}`, 2*time.Second)
		if n := e.Reactions().Asking; n != 1 {
			t.Errorf("%d ask", n)
		}
	})
}

// A run whose steps cannot be read may have called write tools: it is parked, and its rule calls
// none of its write tools until the run is settled.
func TestARunWhoseStepsCannotBeReadIsParked(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, id := killedInCall(t, "called")
		if w.written() != 1 {
			t.Fatalf("called %v", w.called)
		}
		w.tables[event.TableReact][stepKey(id, 1)] = []byte("{")
		e := w.opened()
		rest(2 * time.Second)
		r := only(t, e, react.Parked)
		if !strings.Contains(r.Why, "cannot be read") || w.written() != 1 {
			t.Errorf("%q, called %v", r.Why, w.called)
		}
		w.happens(`{"k":2}`, 2*time.Second)
		if v := e.Reactions().Rules[0]; v.Unknown["pager/undo"] != r.ID || w.written() != 1 {
			t.Errorf("the next run called %v; not known are %v", w.called, v.Unknown)
		}
		unblocked(t, e, r.ID)
	})
}

func TestTheOperatorAsksAModelOnce(t *testing.T) {
	for name, typed := range map[string]bool{"typed here": true, "from elsewhere": false} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				w := newWorld(t, noteRule("page"))
				w.plan = does(asksModel)
				e, _ := w.open("", 0)
				defer func() { closed(t, e) }()
				seq := w.submit(record("other", "type", `{}`))
				if _, err := e.AskModel(t.Context(), react.Question{Seq: seq, Model: "gone", Task: "why?"}); !errors.Is(err, react.ErrNoModel) {
					t.Error(err)
				}
				if _, err := e.AskModel(t.Context(), react.Question{Seq: 99, Model: "local"}); !errors.Is(err, event.ErrNotFound) {
					t.Error(err)
				}
				id, err := e.AskModel(t.Context(), react.Question{Seq: seq, Model: "local", Task: "why?", Typed: typed})
				must(t, err)
				rest(2 * time.Second)
				r, err := e.Run(t.Context(), id)
				must(t, err)
				if !typed {
					if r.State != react.Asking || w.paid[id] != 0 {
						t.Fatalf("%+v", r)
					}
					closed(t, e) // it is the operator's still
					e, _ = w.open("", 0)
					must(t, e.Approve(t.Context(), id, r.Request.Hash()))
					rest(2 * time.Second)
					r, err = e.Run(t.Context(), id)
					must(t, err)
				}
				if r.State != react.Done || r.NS != react.Manual || r.Rule != react.AskRule || r.Request.Task != "why?" || r.Request.Spend != askSpend || r.Request.Tokens != askTokens || len(r.Request.Tools) != 0 || r.By != "operator" {
					t.Errorf("%+v", r)
				}
				if !slices.ContainsFunc(w.audit(), func(a event.AuditEntry) bool { return a.Action == "approval allowed" && a.Actor == event.ActorOperator }) {
					t.Error("the audit log does not tell who approved it")
				}
			})
		})
	}
}

// Streamed output of a model is shown while it streams, bounded, and removed afterwards.
func TestStreamedOutputIsShownAndBounded(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, taskRule("page"))
		w.plan, w.lasts, w.words = does(asksModel), 10*time.Second, strings.Repeat("word ", transcriptBytes)
		e := w.armed()
		w.happens(`{}`, 5*time.Second)
		r := only(t, e, react.Running)
		if said := e.Reactions().Says[r.ID]; said.Len() != transcriptBytes {
			t.Errorf("%d bytes are shown", said.Len())
		}
		rest(10 * time.Second)
		if says := e.Reactions().Says; len(says) != 0 {
			t.Errorf("%d runs say something still", len(says))
		}
	})
}

// Acts that a model chose are approved one by one; an existing grant does not cover them.
func TestAnActThatAModelChoseIsNotGranted(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, choiceRule("page"))
		w.plan = chosen("call", "call")
		e := w.armed()
		w.happens(`{}`, 2*time.Second)
		r := only(t, e, react.Asking)
		if err := e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(time.Hour)); err == nil || !strings.Contains(err.Error(), "one by one") {
			t.Errorf("granted: %v", err)
		}
		only(t, e, react.Asking)
		must(t, e.query(t.Context(), func() error {
			e.grants[r.Request.ActHash()] = grant{Rule: "page", Under: e.rules["page"].Hash, Until: time.Now().Add(time.Hour)}
			if e.granted(e.runs[r.ID], e.rules["page"]) {
				t.Error("a grant covers arguments that a model chooses")
			}
			return nil
		}))
	})
}
