package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
)

// A changed program is noticed without a run, and the rule asks until it is armed again.
func TestAProgramThatChangesIsNoticed(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := commandRule("page")
		w := newWorld(t, rule)
		program := filepath.Join(w.dir, "program")
		rule.Do.Command.Argv = []string{program}
		must(t, os.WriteFile(program, []byte("one"), 0o700))
		w.rules(rule)
		e := w.armed()
		w.change(func() { w.program = "v2" })
		rest(2 * checkEvery)
		if v := e.Reactions().Rules[0]; !v.Armed {
			t.Errorf("a program is read that was not changed: %+v", v)
		}
		must(t, os.WriteFile(program, []byte("three"), 0o700))
		rest(2 * checkEvery)
		if v := e.Reactions().Rules[0]; v.Armed || v.Effective != react.ModeAsk {
			t.Errorf("armed %v, at most %s: %s", v.Armed, v.Effective, v.Why)
		}
	})
}

// The same holds for the interpreter of a script, also if a link to it changes.
func TestAnInterpreterThatChangesIsNoticed(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := commandRule("page")
		w := newWorld(t, rule)
		one, two, link := filepath.Join(w.dir, "one"), filepath.Join(w.dir, "two"), filepath.Join(w.dir, "link")
		must(t, errors.Join(os.WriteFile(one, nil, 0o700), os.WriteFile(two, nil, 0o700), os.Symlink(one, link)))
		w.runBy = []react.Interpreter{{Name: link, Path: one, Program: "1"}}
		e := w.armed()
		rest(2 * checkEvery)
		if v := e.Reactions().Rules[0]; !v.Armed {
			t.Fatalf("nothing changed: %s", v.Why)
		}
		w.change(func() { w.runBy = []react.Interpreter{{Name: link, Path: two, Program: "2"}} })
		must(t, errors.Join(os.Remove(link), os.Symlink(two, link)))
		rest(2 * checkEvery)
		if v := e.Reactions().Rules[0]; v.Armed || v.Effective != react.ModeAsk {
			t.Errorf("armed %v, at most %s: %s", v.Armed, v.Effective, v.Why)
		}
	})
}

// While the confinement that a rule demands is not possible, its matches are counted with that
// reason, instead of failing in runs. It acts again once the confinement is possible.
func TestUnconfinableRuleCountsRecords(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, grouped(commandRule("page")))
		e, _ := w.open("", 0)
		arm(t, e)
		closed(t, e)
		w.unbound = true
		e = w.opened()
		for k := range 10 {
			w.submit(record("pager", "incident", fmt.Sprintf(`{"k":%d}`, k)))
		}
		rest(2 * time.Second)
		v := e.Reactions().Rules[0]
		if n := len(runsOf(t, e, react.Query{})); n != 0 || v.Suppressed["boundary"] != 10 || !strings.Contains(v.Why, "Landlock") {
			t.Errorf("%d runs; %v; %s", n, v.Suppressed, v.Why)
		}
		w.change(func() { w.unbound = false })
		rest(2 * checkEvery)
		w.happens(`{}`, 2*time.Second)
		only(t, e, react.Done)
	})
}

// After five runs whose requests could not be prepared, records are counted with the reason, also
// after a restart, until requests can be prepared again.
func TestUnpreparedRuleCountsRecords(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, grouped(commandRule("page")))
		w.unset = func(int) bool { return true }
		e, _ := w.open("", 0)
		n := 0
		send := func(times int) {
			for range times {
				n++
				w.happens(fmt.Sprintf(`{"k":%d}`, n), 2*time.Second)
			}
		}
		send(20)
		closed(t, e)
		e = w.opened()
		send(5)
		v := e.Reactions().Rules[0]
		if failed := runsOf(t, e, react.Query{}); len(failed) != react.Breaker || v.Suppressed["prepare"] != 25-react.Breaker || !strings.Contains(v.Why, "${HOOK}") {
			t.Errorf("%d runs; %v; %s", len(failed), v.Suppressed, v.Why)
		}
		w.change(func() { w.unset = nil })
		rest(2 * checkEvery)
		send(1)
		if asks := runsIn(t, e, react.Asking); len(asks) != 1 { // until it is armed, as five failed
			t.Errorf("%d ask", len(asks))
		}
	})
}

// If only requests for some records cannot be prepared, one an hour is tried, and all once the
// operator arms the rule.
func TestUnpreparedRuleIsTriedNowAndThen(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, grouped(commandRule("page")))
		w.unset = func(members int) bool { return members > 0 }
		e := w.armed()
		n := 0
		send := func(times int) (runs int) {
			before := len(runsOf(t, e, react.Query{}))
			for range times {
				n++
				w.happens(fmt.Sprintf(`{"k":%d}`, n), 2*time.Second)
			}
			return len(runsOf(t, e, react.Query{})) - before
		}
		if runs := send(10); runs != react.Breaker {
			t.Errorf("%d runs at first", runs)
		}
		rest(tryUnprepared)
		if runs := send(10); runs != 1 {
			t.Errorf("%d runs an hour later", runs)
		}
		w.change(func() { w.unset = nil })
		if runs := send(2); runs != 0 {
			t.Errorf("%d runs before it is armed again", runs)
		}
		arm(t, e)
		send(2)
		if done := runsIn(t, e, react.Done); len(done) != 2 {
			t.Errorf("%d were done", len(done))
		}
	})
}
