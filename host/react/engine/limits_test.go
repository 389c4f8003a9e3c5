package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

func TestARunThatGoesOnGatheringSaysWhy(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, askingCommand())
		e := w.opened()
		w.happens(`{}`, 2*time.Second)
		only(t, e, react.Asking)
		w.happens(`{}`, 5*time.Second)
		behind := runsIn(t, e, react.Gathering)
		if len(behind) != 1 || !strings.Contains(behind[0].Why, "asks, is ready or runs") {
			t.Errorf("%+v", behind)
		}
	})
}

// The same incident in several events leads to one act.
func TestOnceIsChargedWhenTheActStarts(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.Once, rule.Key = react.Once{By: []string{".id"}, For: 6 * time.Hour}, []string{".n"}
		w := newWorld(t, rule)
		w.armed()
		w.submit(record("pager", "incident", `{"id":1,"n":1}`), record("pager", "incident", `{"id":1,"n":2}`))
		rest(2 * time.Second)
		if w.acts() != 1 {
			t.Errorf("begun: %v", w.begun)
		}
		rest(6 * time.Hour)
		w.happens(`{"id":1,"n":3}`, 2*time.Second)
		if w.acts() != 2 {
			t.Errorf("begun: %v", w.begun)
		}
	})
}

func TestRateDelaysAndLosesNothing(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.Key, rule.Limits = []string{".k"}, react.Limits{Runs: react.Rate{N: 6, Per: time.Hour}, Running: 1, Queue: 20}
		w := newWorld(t, rule)
		e := w.armed()
		const n = 10_000
		for i := range n / 100 {
			var batch []event.Record
			for k := range 100 {
				batch = append(batch, record("pager", "incident", fmt.Sprintf(`{"k":%d}`, (i*100+k)%500)))
			}
			w.submit(batch...)
		}
		rest(time.Minute)
		if w.acts() != 6 {
			t.Errorf("%d acts within an hour", w.acts())
		}
		total := uint64(0)
		runs := runsOf(t, e, react.Query{})
		for _, r := range runs {
			total += r.Members.Count
		}
		for _, count := range e.Reactions().Rules[0].Suppressed {
			total += count
		}
		if total != n || len(runs) > 30 {
			t.Errorf("%d records in %d runs or counted, not %d", total, len(runs), n)
		}
		rest(time.Hour)
		if w.acts() != 12 {
			t.Errorf("%d acts within two hours", w.acts())
		}
	})
}

func TestStopLetsNothingStartAndKills(t *testing.T) {
	for name, stop := range map[string]func(*testing.T, *world, *Engine){
		"verb": func(t *testing.T, _ *world, e *Engine) { must(t, e.Stop(t.Context(), true)) },
		"file": func(t *testing.T, w *world, _ *Engine) {
			must(t, os.WriteFile(filepath.Join(w.dir, "react.stop"), nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				w := newWorld(t, grouped(commandRule("page")))
				w.lasts = 30 * time.Second
				e, _ := w.open("", 0)
				arm(t, e)
				w.happens(`{"k":1}`, time.Second)
				stopped := time.Now()
				stop(t, w, e)
				w.happens(`{"k":2}`, 2*time.Second)
				killed := runsIn(t, e, react.Killed)
				if v := e.Reactions(); !v.Stopped || w.acts() != 1 || len(killed) != 1 {
					t.Fatalf("begun %v, %+v", w.begun, v)
				}
				// Commits of the journal take some milliseconds.
				if took := killed[0].Ended.Sub(stopped); took > time.Second+20*time.Millisecond {
					t.Errorf("what ran was ended after %v", took)
				}
				closed(t, e)
				e, _ = w.open("", 0)
				rest(10 * time.Second)
				if v := e.Reactions(); !v.Stopped || w.acts() != 1 {
					t.Fatalf("begun %v, %+v", w.begun, v)
				}
				must(t, e.Go(t.Context()))
				rest(40 * time.Second)
				if w.acts() != 2 || len(runsIn(t, e, react.Done)) != 1 {
					t.Errorf("begun %v", w.begun)
				}
				closed(t, e)
			})
		})
	}
}

// The audit log tells of the stop file, also where a run that was about to start met it first,
// and says of the file alone what it does.
func TestTheStopFileIsInTheAuditLog(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e := w.armed()
		file := filepath.Join(w.dir, react.StopFile)
		told := func() (last string) {
			for _, entry := range w.audit() {
				if entry.Action == "stop file" {
					last = entry.Result
				}
			}
			return last
		}
		rest(2 * time.Second)
		must(t, os.WriteFile(file, nil, 0o600))
		w.happens(`{}`, 5*time.Second)
		if got := told(); got != "stops" || w.acts() != 0 {
			t.Fatalf("%q; begun %v", got, w.begun)
		}
		must(t, e.Stop(t.Context(), false))
		must(t, os.Remove(file))
		rest(5 * time.Second)
		if got := told(); got != "no longer stops" || !e.Reactions().Stopped {
			t.Errorf("%q; stopped: %v", got, e.Reactions().Stopped)
		}
	})
}

func TestRunsThatAskAreBounded(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, asked(grouped(noteRule("page"))))
		e := w.opened()
		for i := range 80 {
			w.submit(record("pager", "incident", fmt.Sprintf(`{"k":%d}`, i)))
		}
		rest(5 * time.Second)
		v := e.Reactions()
		if v.Asking != react.MaxAsking || len(v.Waiting) != react.MaxAsking || len(v.Active) != 30 {
			t.Fatalf("%d ask, %d are active", v.Asking, len(v.Active))
		}
		must(t, e.Deny(t.Context(), v.Waiting[0].ID, ""))
		rest(5 * time.Second)
		if v := e.Reactions(); v.Asking != react.MaxAsking || len(v.Active) != 29 {
			t.Errorf("%d ask, %d are active", v.Asking, len(v.Active))
		}
	})
}

func TestOnceValuesOfARunAreBounded(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.Wait, rule.Once = time.Second, react.Once{By: []string{".id"}, For: time.Hour}
		w := newWorld(t, rule)
		e := w.armed()
		for i := range onceValues + 500 {
			w.submit(record("pager", "incident", fmt.Sprintf(`{"id":%d}`, i)))
		}
		rest(5 * time.Second)
		if r := only(t, e, react.Done); r.Members.Count != onceValues+500 {
			t.Errorf("%d members", r.Members.Count)
		}
		n := 0
		must(t, e.query(t.Context(), func() error { n = len(e.once); return nil }))
		if n != onceValues {
			t.Errorf("%d values are charged", n)
		}
	})
}

func TestRunsThatAreOverAreBounded(t *testing.T) {
	e := &Engine{}
	for i := range keptRuns + 10 {
		state := react.Done
		if i == 3 {
			state = react.Parked
		}
		e.keep(&run{Run: react.Run{ID: react.RunID(fmt.Sprint(i)), State: state}}, 100)
	}
	gone := e.prune()
	if len(gone) != 10 || len(e.over) != keptRuns || gone[0].Key != "0" || e.over[0].id != "3" {
		t.Errorf("%d are gone, %d kept", len(gone), len(e.over))
	}
	e.keep(&run{Run: react.Run{ID: "large", State: react.Done}}, keptBytes)
	if e.prune(); len(e.over) != 1 || e.overSize > keptBytes+100 {
		t.Errorf("%d are kept, %d bytes", len(e.over), e.overSize)
	}
}

// Servers that are slow to list their tools delay only rules with tools.
func TestSlowServersDelayNoOtherRules(t *testing.T) {
	simulated(t, func(t *testing.T) {
		slow := taskRule("slow")
		slow.Key = []string{".k"}
		w := newWorld(t, slow, noteRule("other"))
		release := make(chan struct{})
		w.listing = release
		e := w.opened()
		defer close(release)
		arm(t, e)
		for k := range preparing {
			w.submit(record("pager", "incident", `{"k":`+string(rune('0'+k))+`}`))
		}
		rest(2 * time.Second)
		if w.acts() == 0 {
			t.Error("a rule without tools waits for servers that list them")
		}
	})
}

// The number of waiting runs of all rules together is limited too; further records are counted.
func TestRunsOfAllRulesThatWaitAreBounded(t *testing.T) {
	simulated(t, func(t *testing.T) {
		var rules []react.Rule
		for i, name := range []string{"a", "b"} {
			rule := noteRule(name)
			rule.Mode, rule.Key, rule.On.Types, rule.Limits.Queue = react.ModeAsk, []string{".k"}, react.Types{fmt.Sprintf("type%d", i)}, 100
			rules = append(rules, rule)
		}
		w := newWorld(t, rules...)
		w.file.Limits.Queue = 30
		e := w.opened()
		for i := range 25 {
			w.submit(record("pager", "type0", fmt.Sprintf(`{"k":%d}`, i)), record("pager", "type1", fmt.Sprintf(`{"k":%d}`, i)))
		}
		rest(5 * time.Second)
		v := e.Reactions()
		members, lost := uint64(0), v.Rules[0].Suppressed["queue"]+v.Rules[1].Suppressed["queue"]
		for _, r := range slices.Concat(v.Waiting, v.Active) {
			members += r.Members.Count
		}
		if n := len(v.Waiting) + len(v.Active); n != 30 || members+lost != 50 {
			t.Errorf("%d runs of %d members wait, %d were suppressed", n, members, lost)
		}
	})
}

// Waiting requests take a limited number of bytes in memory: further runs go on gathering.
func TestRequestsThatWaitAreBoundedInBytes(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, asked(grouped(noteRule("page"))))
		e := w.opened()
		w.happens(`{"k":1}`, 5*time.Second)
		first := only(t, e, react.Asking)
		takes := func(n int) { must(t, e.call(t.Context(), func() error { e.runs[first.ID].held = n; return nil })) }
		var held int
		must(t, e.query(t.Context(), func() error { held = e.runs[first.ID].held; return nil }))
		if held == 0 {
			t.Error("a request takes nothing")
		}
		takes(heldBytes)
		w.happens(`{"k":2}`, time.Minute)
		if v := e.Reactions(); len(v.Waiting) != 1 || len(v.Active) != 1 || !strings.Contains(v.Active[0].Why, "64 MiB already") {
			t.Fatalf("%+v", v.Active)
		}
		takes(1)
		rest(5 * time.Second)
		if v := e.Reactions(); len(v.Waiting) != 2 {
			t.Errorf("%d wait", len(v.Waiting))
		}
	})
}
