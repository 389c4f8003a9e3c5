package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// rest lets simulated time pass, and waits until all goroutines wait.
func rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// simulated runs a test in simulated time.
func simulated(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

func TestEachMatchIsInOneRunAndItsActIsBegunOnce(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := commandRule("page")
		rule.When, rule.Key, rule.Wait = ".severity=P1", []string{".service"}, 2*time.Second
		w := newWorld(t, rule)
		e := w.armed()
		want := 0
		for i := range 1000 {
			sev := "P3"
			if i%25 == 0 {
				sev = "P1"
				want++
			}
			w.happens(fmt.Sprintf(`{"severity":%q,"service":"s%d"}`, sev, i/25%4), 20*time.Millisecond)
		}
		rest(10 * time.Second)
		seen := map[uint64]int{}
		for id, seqs := range w.acted() {
			for _, seq := range seqs {
				seen[seq]++
			}
			if w.times(string(id)+"/1") != 1 {
				t.Errorf("run %s was begun %d times", id, w.times(string(id)+"/1"))
			}
		}
		if len(seen) != want {
			t.Errorf("%d records acted, not %d", len(seen), want)
		}
		for seq, n := range seen {
			if n != 1 || (seq-1)%25 != 0 {
				t.Errorf("record %d was in %d runs", seq, n)
			}
		}
		if v := e.Reactions().Rules[0]; v.Matched != uint64(want) || !v.Armed || v.Effective != react.ModeAuto {
			t.Errorf("view: %+v", v)
		}
	})
}

func TestWebhooksAreTriedAgainAndThenDead(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, webhookRule("page"))
		w.outcome = func(react.RunID, int) react.Outcome { return react.OutcomeRetry }
		e := w.armed()
		w.happens(`{}`, 2*time.Hour)
		r := only(t, e, react.Dead)
		if n := w.sent(r.ID); n < 2 || n > react.WebhookTries {
			t.Errorf("sent %d times", n)
		}
	})
}

func TestBrokenRulesLeaveTheLastGoodOnesInForce(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e, _ := w.open("", 0)
		arm(t, e)
		rest(2 * time.Second)
		w.write("broken")
		rest(3 * time.Second)
		v := e.Reactions()
		if v.Fault != "rules.json:1:1: broken" || len(v.Rules) != 1 {
			t.Fatalf("view: %+v", v)
		}
		closed(t, e)
		e = w.opened()
		w.happens(`{}`, 2*time.Second)
		if v := e.Reactions(); v.Fault == "" || len(v.Rules) != 1 || w.acts() != 1 {
			t.Fatalf("begun %v, view: %+v", w.begun, v)
		}
	})
}

func TestARuleBeginsWhereItWasFirstSeen(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		w.submit(record("pager", "incident", `{}`))
		e := w.armed()
		w.happens(`{}`, 2*time.Second)
		r := only(t, e, react.Done)
		if !slices.Equal(r.Members.First, []uint64{2}) {
			t.Error(r.Members.First)
		}
		verdicts, err := e.Explain(t.Context(), 1, "")
		if err != nil || len(verdicts) != 1 || !strings.Contains(verdicts[0].Why, "judges records after 1") {
			t.Error(verdicts, err)
		}
		verdicts, err = e.Explain(t.Context(), 2, "page")
		if err != nil || verdicts[0].Run != r.ID {
			t.Error(verdicts, err)
		}
		if _, err = e.Explain(t.Context(), 2, "other"); !errors.Is(err, react.ErrNoRule) {
			t.Error(err)
		}
	})
}

// A gap of the rule's own type is told apart by its kind.
func TestARuleForEventsSaysThatItTakesNoGaps(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e := w.armed()
		gap := record("pager", "incident", "")
		gap.Kind, gap.Gap = event.KindGap, &event.Gap{Cause: event.CauseTruncated}
		verdicts, err := e.Explain(t.Context(), w.submit(gap), "page")
		const want = "the rule listens to events of incident of pager, and the record is of the kind gap"
		if err != nil || len(verdicts) != 1 || !verdicts[0].Elsewhere || verdicts[0].Why != want {
			t.Errorf("%+v, %v", verdicts, err)
		}
	})
}

func TestAFullDiskHoldsEverythingUntilThereIsRoom(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e := w.armed()
		w.change(func() { w.full = true })
		w.happens(`{}`, 10*time.Second)
		if v := e.Reactions(); !strings.Contains(v.Blocked, "cannot be written") || v.Held != "" || w.acts() != 0 {
			t.Fatalf("begun %v, blocked %q, held %q", w.begun, v.Blocked, v.Held)
		}
		w.change(func() { w.full = false })
		rest(5 * time.Second)
		only(t, e, react.Done)
		if v := e.Reactions(); v.Blocked != "" {
			t.Error(v.Blocked)
		}
	})
}

func TestUnknownOutcomesOfCommandsAreParkedAndSettled(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, commandRule("page"))
		w.lasts = time.Minute
		e, _ := w.open("", 0)
		arm(t, e)
		w.happens(`{}`, 2*time.Second)
		only(t, e, react.Running)
		closed(t, e)
		w.cut = true
		e = w.opened()
		rest(2 * time.Minute)
		r := only(t, e, react.Parked)
		if w.acts() != 1 {
			t.Errorf("begun %v", w.begun)
		}
		must(t, e.Settle(t.Context(), r.ID, true, "it ran"))
		if r := only(t, e, react.Done); r.Reason != "it ran" {
			t.Error(r.Reason)
		}
		if err := e.Settle(t.Context(), r.ID, true, ""); !errors.Is(err, react.ErrState) {
			t.Error(err)
		}
		id, err := e.Retry(t.Context(), r.ID)
		must(t, err)
		rest(2 * time.Second)
		again, err := e.Run(t.Context(), id)
		if err != nil || again.State != react.Asking || again.NS != react.Manual || !slices.Equal(again.Members.First, r.Members.First) {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

func TestRunsAreFoundByWhenTheyWereMade(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("note"))
		e := w.armed()
		var made []time.Time
		for range 3 {
			made = append(made, time.Now())
			w.happens(`{}`, time.Minute)
		}
		for n, since := range append(made, time.Now()) {
			if found := runsOf(t, e, react.Query{Since: since}); len(found) != 3-n {
				t.Errorf("%d runs since the moment of run %d", len(found), n)
			}
		}
	})
}
