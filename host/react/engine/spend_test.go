package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
)

// spendWorld returns a world with rules whose runs ask a model, and a daily limit in micro-dollars.
func spendWorld(t *testing.T, day int64, plan []planned, rules ...string) (*world, *Engine) {
	t.Helper()
	var all []react.Rule
	for i, name := range rules {
		r := taskRule(name)
		r.On.Types, r.Key, r.Limits.Running = react.Types{fmt.Sprintf("type%d", i)}, []string{".k"}, 0
		r.Limits.Spend = 3_000_000
		all = append(all, r)
	}
	w := newWorld(t, all...)
	w.file.Limits.Spend, w.plan, w.lasts = day, does(plan...), time.Minute
	e, _ := w.open("", 0)
	arm(t, e)
	return w, e
}

func (w *world) jump(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.skew += by
}

// Each pending call reserves its own upper bound.
func TestTwoRunsCannotShareTheLastDollar(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, e := spendWorld(t, 1_500_000, []planned{{kind: react.StepModel, bound: 1_000_000, cost: 100_000}}, "a", "b")
		defer closed(t, e)
		w.submit(record("pager", "type0", `{}`), record("pager", "type1", `{}`))
		rest(30 * time.Second)
		if v := e.Reactions(); v.Spent != 1_000_000 || v.Running != 1 {
			t.Errorf("spent %d, %d run", v.Spent, v.Running)
		}
		refused := runsIn(t, e, react.Failed)
		if len(refused) != 1 || !strings.Contains(refused[0].Why, "all rules spent $1.00 of $1.50") {
			t.Fatalf("%+v", refused)
		}
		rest(time.Minute)
		if v := e.Reactions(); v.Spent != 100_000 {
			t.Errorf("spent %d", v.Spent)
		}
		w.submit(record("pager", "type1", `{}`))
		rest(2 * time.Minute)
		if v := e.Reactions(); v.Spent != 200_000 || v.SpendLimit != 1_500_000 {
			t.Errorf("spent %d of %d", v.Spent, v.SpendLimit)
		}
		if len(runsIn(t, e, react.Done)) != 2 {
			t.Errorf("%+v", runsOf(t, e, react.Query{}))
		}
		if ended := e.Reactions().Ended; ended[react.Done] != 2 || ended[react.Failed] != 1 || len(ended) != 2 {
			t.Errorf("ended %v", ended)
		}
		n := 0
		for _, a := range w.audit() {
			if a.Action == "budget refused" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d entries in the audit log", n)
		}
	})
}

func TestARuleHasItsOwnDay(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, e := spendWorld(t, 5_000_000, []planned{{kind: react.StepModel, bound: 1_500_000, cost: 1_500_000}}, "a", "b")
		defer closed(t, e)
		for range 2 {
			w.submit(record("pager", "type0", `{}`), record("pager", "type1", `{}`))
			rest(2 * time.Minute)
		}
		v := e.Reactions()
		if v.Spent != 3_000_000 || v.Rules[0].Spent != 1_500_000 {
			t.Errorf("spent %d, the first %d", v.Spent, v.Rules[0].Spent)
		}
		rest(24 * time.Hour)
		w.submit(record("pager", "type0", `{}`))
		rest(2 * time.Minute)
		if v := e.Reactions(); v.Spent != 1_500_000 {
			t.Errorf("spent %d on the next day", v.Spent)
		}
	})
}

// A clock that jumps to another day frees no reservation, and one that jumps back finds the amounts
// of that day.
func TestAClockThatJumpsFreesNoReservation(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, e := spendWorld(t, 1_000_000, []planned{{kind: react.StepModel, bound: 1_000_000, cost: 700_000}}, "a", "b")
		defer closed(t, e)
		w.submit(record("pager", "type0", `{}`))
		rest(30 * time.Second)
		w.jump(36 * time.Hour)
		rest(2 * time.Second)
		if v := e.Reactions(); v.Spent != 1_000_000 {
			t.Errorf("%d are reserved", v.Spent)
		}
		w.submit(record("pager", "type1", `{}`))
		rest(10 * time.Second)
		if r := runsOf(t, e, react.Query{Rule: "b"}); len(r) != 1 || r[0].State != react.Failed {
			t.Errorf("%+v", r)
		}
		rest(time.Minute)
		if v := e.Reactions(); v.Spent != 0 { // the amount counts for the day of the reservation
			t.Errorf("%d on the next day", v.Spent)
		}
		w.jump(-36 * time.Hour)
		rest(2 * time.Second)
		if v := e.Reactions(); v.Spent != 700_000 {
			t.Errorf("%d on the day", v.Spent)
		}
		for range 2 * spendDays { // more wrong days than are kept
			w.jump(24 * time.Hour)
			rest(2 * time.Second)
		}
		w.jump(-2 * spendDays * 24 * time.Hour)
		rest(2 * time.Second)
		if v := e.Reactions(); v.Spent != 700_000 {
			t.Errorf("%d on the day", v.Spent)
		}
	})
}

// A call that hangs stays charged at its bound, also after a kill, and so does each further try.
func TestAHungCallIsChargedAtItsBound(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, e := spendWorld(t, 5_000_000, []planned{{kind: react.StepModel, bound: 300_000, cost: 100}}, "a")
		w.lasts = time.Hour
		w.submit(record("pager", "type0", `{}`))
		rest(2 * time.Second)
		for try := range react.StepTries {
			r := only(t, e, react.Running)
			if v := e.Reactions(); v.Spent != int64(try+1)*300_000 || r.Spend != v.Spent {
				t.Errorf("try %d: spent %d, the run %d", try+1, v.Spent, r.Spend)
			}
			closed(t, e)
			e, _ = w.open("", 0)
			rest(2 * time.Second)
		}
		defer closed(t, e)
		r := only(t, e, react.Failed)
		if v := e.Reactions(); v.Spent != 900_000 || !strings.Contains(r.Why, "3 times") {
			t.Errorf("spent %d; %s", v.Spent, r.Why)
		}
	})
}

func TestSpendingIsBounded(t *testing.T) {
	s := spending{days: map[string]map[string]int64{}, out: map[stepID]reservation{}}
	s.pay("2026-01-01", "a", math.MaxInt64)
	s.pay("2026-01-01", "a", math.MaxInt64)
	s.pay("2026-01-01", "b", 5)
	if own, all := s.on("2026-01-01", "a"); own != math.MaxInt64 || all != math.MaxInt64 {
		t.Errorf("%d, %d", own, all)
	}
	s.pay("2026-01-01", "b", math.MinInt64+10)
	if own, _ := s.on("2026-01-01", "b"); own != 0 {
		t.Error(own)
	}
	for day := range spendDays + 5 {
		s.pay(fmt.Sprintf("2026-02-%02d", day), "a", 1)
	}
	if gone := s.forget(); len(s.days) != spendDays || len(gone) != 7 || gone[0] != "spend/2026-01-01/a" && gone[0] != "spend/2026-01-01/b" {
		t.Errorf("%d days, gone %v", len(s.days), gone)
	}
}

// The steps of a run are removed with it.
func TestStepsGoWithTheirRun(t *testing.T) {
	e := &Engine{}
	for i := range keptRuns + 1 {
		e.keep(&run{Run: react.Run{ID: react.RunID(fmt.Sprint("r", i)), State: react.Done, Steps: 2}, StepBytes: 50}, 100)
	}
	gone := e.prune()
	var keys []string
	for _, entry := range gone {
		keys = append(keys, string(entry.Table)+" "+entry.Key)
	}
	if !slices.Equal(keys, []string{"runs r0", "react step/r0/0001", "react step/r0/0002"}) {
		t.Errorf("gone: %v", gone)
	}
}
