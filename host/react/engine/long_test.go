package engine

import (
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// A run that is too long for the journal fails, and affects no other, also after a restart.
func TestARunThatIsTooLongToBeKeptFailsAlone(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("long"), noteRule("other"))
		w.input = func(rule string) []byte {
			if rule == "long" {
				return make([]byte, maxEntry)
			}
			return nil
		}
		states := func(e *Engine) string {
			var all []string
			for _, r := range runsOf(t, e, react.Query{}) {
				if all = append(all, r.Rule+" "+string(r.State)); r.Rule == "long" && !strings.Contains(r.Why, "too long to be kept") {
					t.Errorf("it failed because %q", r.Why)
				}
			}
			slices.Sort(all)
			return strings.Join(all, ", ")
		}
		e, _ := w.open("", 0)
		arm(t, e)
		w.happens(`{}`, 2*time.Second)
		if got := states(e); got != "long failed, other done" {
			t.Errorf("runs: %s", got)
		}
		closed(t, e)
		e = w.opened()
		if got := states(e); got != "long failed, other done" {
			t.Errorf("runs after a restart: %s", got)
		}
	})
}

// A run whose later request is too long fails; one whose answer is too long is done.
func TestALaterRequestIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		last  planned
		state react.State
	}{
		"a request":       {planned{next: &react.Request{Kind: react.RequestNote, Act: "look", Note: "look", Input: make([]byte, maxEntry)}}, react.Failed},
		"an answer":       {planned{end: &react.Result{Outcome: react.OutcomeDone, Answer: trust.Untrusted(strings.Repeat("x", maxEntry))}}, react.Done},
		"a failed answer": {planned{end: &react.Result{Outcome: react.OutcomeFailed, Answer: trust.Untrusted(strings.Repeat("<", maxEntry))}}, react.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				w := newWorld(t, choiceRule("page"))
				w.plan = does(asksModel, c.last)
				e := w.armed()
				w.happens(`{}`, 2*time.Second)
				only(t, e, c.state)
			})
		})
	}
}

// A file with a rule that is too long for a run is refused.
func TestARuleThatIsTooLongToBeKeptIsRefused(t *testing.T) {
	rule := noteRule("page")
	rule.Do.Note = strings.Repeat("<", 50<<10) // six bytes each, as they are stored
	w := newWorld(t, rule)
	e := w.opened()
	if v := e.Reactions(); !strings.Contains(v.Fault, `rule "page"`) || len(v.Rules) != 0 {
		t.Errorf("%q, %+v", v.Fault, v.Rules)
	}
}

// An entry that the journal would refuse does not keep others from being committed.
func TestAnEntryThatIsTooLongIsLeftOut(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.opened()
		must(t, e.call(t.Context(), func() error {
			e.stagePut(event.TableReact, "long", make([]byte, maxEntry+1))
			e.stagePut(event.TableReact, "short", []byte("kept"))
			return nil
		}))
		if w.entry("long") != nil || string(w.entry("short")) != "kept" {
			t.Error("the change was not committed without what is too long")
		}
	})
}
