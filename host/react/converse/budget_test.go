package converse_test

import (
	"strings"
	"testing"

	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
)

// A call that might exceed the budget of the run is not sent.
func TestAModelOverTheCapIsNotAsked(t *testing.T) {
	w := newWorld(t, task())
	w.rule().Limits.Spend = 15_000 // 1,000 tokens of an answer cost that alone
	w.model.Play(modeltest.Reply{Text: "x"})
	w.begin()
	w.submit(payload)
	if r := w.only(react.Failed); len(w.model.Asked()) != 0 || r.Spend != 0 || !strings.Contains(r.Why, "$0.015") {
		t.Errorf("asked %d times, spent %d: %s", len(w.model.Asked()), r.Spend, r.Why)
	}
}

// Two runs cannot spend the last of a day's budget together.
func TestTwoRunsCannotShareTheLastDollar(t *testing.T) {
	w := newWorld(t, task())
	w.file.Limits.Spend = 35_000 // more than one call may cost, less than two
	release := make(chan struct{})
	w.model.Play(modeltest.Reply{Text: "x", Wait: release})
	heard := w.model.Heard()
	w.begin()
	w.submit(`{"case":"1"}`, `{"case":"2"}`)
	modeltest.Await(t, heard)
	over := func(state react.State) (found *react.Run) {
		for _, r := range w.runs() {
			if r.State == state {
				found = &r
			}
		}
		return found
	}
	w.await("one of them has failed", func() bool { return over(react.Failed) != nil })
	close(release)
	w.await("the other is done", func() bool { return over(react.Done) != nil })
	if n := len(w.model.Asked()); n != 1 || over(react.Failed).Spend != 0 {
		t.Errorf("asked %d times", n)
	}
}

// A call that hangs when the program ends is charged at its bound, and sent again.
func TestAHungAnswerIsChargedAtTheBound(t *testing.T) {
	w := newWorld(t, task())
	w.model.Play(modeltest.Reply{Wait: make(chan struct{})}, modeltest.Reply{Text: "It was I."})
	heard := w.model.Heard()
	w.open()
	w.arm()
	w.submit(payload)
	modeltest.Await(t, heard)
	w.close()
	w.open()
	defer w.close()
	r := w.only(react.Done)
	steps := w.steps(r.ID)
	if len(steps) != 1 || steps[0].Tries != 2 || len(w.model.Asked()) != 2 {
		t.Fatalf("steps %+v, asked %d times", steps, len(w.model.Asked()))
	}
	const answered = (10*3 + 5*15) // micro-dollars of 10 and 5 tokens
	if bound := steps[0].Cost - answered; bound < 15_000 || r.Spend != steps[0].Cost {
		t.Errorf("the step cost %d, the run %d", steps[0].Cost, r.Spend)
	}
	w.await("the day has all of it", func() bool { return w.e.Reactions().Spent == r.Spend })
}
