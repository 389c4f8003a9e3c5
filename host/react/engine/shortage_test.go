package engine

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
)

// A full disk, or no more descriptors, processes or memory before an act begins is no failure of
// its rule: the run waits, and acts once there is room again.
func TestActsWaitForWhatIsUsedUp(t *testing.T) {
	for _, at := range []string{"prepare", "ready", "supervisor"} {
		t.Run(at, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				rule := grouped(commandRule("page"))
				rule.Limits.Runs = react.Rate{N: 6, Per: time.Hour}
				w := newWorld(t, rule)
				e := w.armed()
				full := func(is bool) {
					w.change(func() {
						w.lacks, w.outcome = "", func(react.RunID, int) react.Outcome { return react.OutcomeDone }
						switch {
						case is && at == "supervisor":
							w.outcome = func(react.RunID, int) react.Outcome { return react.OutcomeScarce }
						case is:
							w.lacks = at
						}
					})
				}
				full(true)
				for _, k := range []string{`{"k":1}`, `{"k":2}`, `{"k":3}`, `{"k":4}`, `{"k":5}`, `{"k":6}`} {
					w.happens(k, time.Second)
				}
				rest(10 * time.Minute)
				v := e.Reactions()
				if r := v.Rules[0]; !r.Armed || r.Effective != react.ModeAuto || !strings.Contains(v.Blocked, "no space left") {
					t.Errorf("armed %v, at most %s: %s; blocked: %s", r.Armed, r.Effective, r.Why, v.Blocked)
				}
				for _, r := range runsOf(t, e, react.Query{}) {
					if r.State.Over() || !strings.Contains(r.Why, "no space left") {
						t.Errorf("%s: %s", r.State, r.Why)
					}
				}
				full(false)
				rest(2 * readAgainMost)
				if done := runsIn(t, e, react.Done); len(done) != 6 {
					t.Errorf("%d of 6 are done", len(done))
				}
				rest(4 * readAgainMost)
				if v := e.Reactions(); v.Blocked != "" || v.Rules[0].Effective != react.ModeAuto {
					t.Errorf("blocked: %q; %s", v.Blocked, v.Rules[0].Why)
				}
				if n := strings.Count(w.logged.String(), "acts wait"); n != 1 {
					t.Errorf("%d lines:\n%s", n, w.logged.String())
				}
			})
		})
	}
}

// A program that cannot be read now was not changed.
func TestARuleStaysArmedWhileItsProgramCannotBeRead(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, commandRule("page"))
		e := w.armed()
		since := e.Reactions().Rules[0].Since
		closed(t, e)
		w.lacks = "prepare"
		w.submit(record("pager", "incident", `{}`))
		e = w.opened()
		rest(time.Minute)
		if v := e.Reactions().Rules[0]; !v.Armed || v.Since != since {
			t.Errorf("armed: %v, since %d, was %d", v.Armed, v.Since, since)
		}
		w.change(func() { w.lacks = "" })
		rest(2 * readAgainMost)
		only(t, e, react.Done)
	})
}

// What others can write is not the operator's: nothing is armed and nothing starts by it, and the
// rules that were read before stay.
func TestRulesThatOthersCanChangeStartNothing(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, commandRule("page"))
		e := w.armed()
		must(t, os.Chmod(w.path(), 0o660))
		w.happens(`{}`, 20*time.Second)
		v := e.Reactions()
		if only(t, e, react.Ready); !strings.Contains(v.Fault, "chmod go-w "+w.path()) || len(v.Rules) != 1 {
			t.Errorf("%q, %d rules", v.Fault, len(v.Rules))
		}
		if err := e.Arm(t.Context(), "page", v.Rules[0].Hash); !errors.Is(err, react.ErrState) || !strings.Contains(err.Error(), "its group") {
			t.Errorf("it is armed: %v", err)
		}
		must(t, os.Chmod(w.path(), 0o600))
		rest(20 * time.Second)
		if v := e.Reactions(); v.Fault != "" {
			t.Error(v.Fault)
		}
		only(t, e, react.Done)
		// The same for a directory on the way, from the start on.
		closed(t, e)
		must(t, os.Chmod(w.dir, 0o777))
		e = w.opened()
		if v := e.Reactions(); !strings.Contains(v.Fault, w.dir+" can be changed by every user") || len(v.Rules) != 1 {
			t.Errorf("%q, %d rules", v.Fault, len(v.Rules))
		}
	})
}
