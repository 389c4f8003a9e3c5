package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// rest lets simulated time pass, and everything come to rest.
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
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		want := 0
		for i := range 1000 {
			sev := "P3"
			if i%25 == 0 {
				sev = "P1"
				want++
			}
			w.submit(record("pager", "incident", fmt.Sprintf(`{"severity":%q,"service":"s%d"}`, sev, i/25%4)))
			rest(20 * time.Millisecond)
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

func TestARunAsksAndActsOnceApproved(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := commandRule("page")
		rule.Mode = react.ModeAsk
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		defer closed(t, e)
		w.submit(record("pager", "incident", `{}`))
		rest(time.Second)
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

// What was approved and is another one before it starts is asked about anew.
func TestWhatChangedAfterItsApprovalIsAskedAnew(t *testing.T) {
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
				rule := commandRule("page")
				rule.Mode = react.ModeAsk
				w := newWorld(t, rule)
				e, _ := w.open("", 0)
				defer closed(t, e)
				w.submit(record("pager", "incident", `{}`))
				rest(time.Second)
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

// A program that was changed is no change of rules.json: what is shown has to follow.
func TestARuleWhoseProgramChangedCanBeArmed(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, commandRule("page"))
		e, _ := w.open("", 0)
		defer closed(t, e)
		shown := e.Reactions().Rules[0].Hash
		w.mu.Lock()
		w.program = "v2"
		w.mu.Unlock()
		if err := e.Arm(t.Context(), "page", shown); !errors.Is(err, react.ErrChanged) {
			t.Errorf("another program than was shown: %v", err)
		}
		rest(time.Second)
		must(t, e.Arm(t.Context(), "page", e.Reactions().Rules[0].Hash))
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Second)
		only(t, e, react.Done)
	})
}

func TestARunThatGoesOnGatheringSaysWhy(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, askingCommand())
		e, _ := w.open("", 0)
		defer closed(t, e)
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Second)
		only(t, e, react.Asking)
		w.submit(record("pager", "incident", `{}`))
		rest(5 * time.Second)
		behind := runsOf(t, e, react.Query{States: []react.State{react.Gathering}})
		if len(behind) != 1 || !strings.Contains(behind[0].Why, "asks, is ready or runs") {
			t.Errorf("%+v", behind)
		}
	})
}

func TestApprovalsExpireAlsoOverARestart(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := commandRule("page")
		rule.Mode, rule.Key = react.ModeAsk, []string{".k"}
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		w.submit(record("pager", "incident", `{"k":1}`))
		rest(30 * time.Minute)
		w.submit(record("pager", "incident", `{"k":2}`))
		rest(time.Minute)
		if n := len(runsOf(t, e, react.Query{States: []react.State{react.Asking}})); n != 2 {
			t.Fatalf("%d ask", n)
		}
		closed(t, e)
		rest(35 * time.Minute)
		e, _ = w.open("", 0)
		rest(time.Second)
		expired := runsOf(t, e, react.Query{States: []react.State{react.Expired}})
		waits := runsOf(t, e, react.Query{States: []react.State{react.Asking}})
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
		w.submit(record("pager", "incident", `{"id":1}`))
		rest(time.Second)
		r := only(t, e, react.Asking)
		must(t, e.Deny(t.Context(), r.ID, "not now"))
		w.submit(record("pager", "incident", `{"id":1}`))
		rest(time.Second)
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
		w.submit(record("pager", "incident", `{"id":1}`))
		rest(time.Second)
		only(t, e, react.Done)
	})
}

// An incident that comes under new event ids, in two subscriptions, leads to one act.
func TestOnceIsChargedWhenTheActStarts(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.Once, rule.Key = react.Once{By: []string{".id"}, For: 6 * time.Hour}, []string{".n"}
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		w.submit(record("pager", "incident", `{"id":1,"n":1}`), record("pager", "incident", `{"id":1,"n":2}`))
		rest(2 * time.Second)
		if w.acts() != 1 {
			t.Errorf("begun: %v", w.begun)
		}
		rest(6 * time.Hour)
		w.submit(record("pager", "incident", `{"id":1,"n":3}`))
		rest(2 * time.Second)
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
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
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
				rule := commandRule("page")
				rule.Key = []string{".k"}
				w := newWorld(t, rule)
				w.lasts = 30 * time.Second
				e, _ := w.open("", 0)
				arm(t, e)
				w.submit(record("pager", "incident", `{"k":1}`))
				rest(time.Second)
				stop(t, w, e)
				w.submit(record("pager", "incident", `{"k":2}`))
				rest(2 * time.Second)
				if v := e.Reactions(); !v.Stopped || w.acts() != 1 || len(runsOf(t, e, react.Query{States: []react.State{react.Killed}})) != 1 {
					t.Fatalf("begun %v, %+v", w.begun, v)
				}
				closed(t, e)
				e, _ = w.open("", 0)
				rest(10 * time.Second)
				if v := e.Reactions(); !v.Stopped || w.acts() != 1 {
					t.Fatalf("begun %v, %+v", w.begun, v)
				}
				must(t, e.Go(t.Context()))
				rest(40 * time.Second)
				if w.acts() != 2 || len(runsOf(t, e, react.Query{States: []react.State{react.Done}})) != 1 {
					t.Errorf("begun %v", w.begun)
				}
				closed(t, e)
			})
		})
	}
}

// A store that was restored may not know what was done: nothing acts by itself.
func TestARestoredStoreHoldsTheEngine(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		arm(t, e)
		closed(t, e)
		w.tables[event.TableReact][event.KeyLag] = []byte("the store was restored from a copy")
		e, _ = w.open("", 0)
		defer closed(t, e)
		w.submit(record("pager", "incident", `{}`))
		rest(3 * time.Second)
		if held := e.Reactions().Held; !strings.Contains(held, "restored") || w.acts() != 0 {
			t.Fatalf("held: %q, begun %v", held, w.begun)
		}
		must(t, e.Go(t.Context()))
		rest(3 * time.Second)
		only(t, e, react.Asking) // it was made while that was not known
		w.submit(record("pager", "incident", `{}`))
		rest(3 * time.Second)
		if e.Reactions().Held != "" || w.entry(event.KeyLag) != nil {
			t.Error("it is held still")
		}
	})
}

func TestImportedRecordsStartNothing(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e, _ := w.open("", 0)
		arm(t, e)
		closed(t, e)
		w.tables[event.TableReact][event.PrefixImported+"0000000000000001"] = []byte{}
		w.submit(record("pager", "incident", `{}`), record("pager", "incident", `{}`))
		e, _ = w.open("", 0)
		defer closed(t, e)
		w.submit(record("pager", "incident", `{"live":true}`))
		rest(3 * time.Second)
		if w.acts() != 1 || e.Reactions().Rules[0].Suppressed["origin"] != 2 {
			t.Errorf("begun %v, suppressed %v", w.begun, e.Reactions().Rules[0].Suppressed)
		}
	})
}

func TestBreakerAsksAfterFiveFailures(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := commandRule("page")
		rule.Key = []string{".k"}
		w := newWorld(t, rule)
		w.outcome = func(react.RunID, int) react.Outcome { return react.OutcomeFailed }
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		for i := range 7 {
			w.submit(record("pager", "incident", fmt.Sprintf(`{"k":%d}`, i)))
			rest(2 * time.Second)
		}
		failed, asks := runsOf(t, e, react.Query{States: []react.State{react.Failed}}), runsOf(t, e, react.Query{States: []react.State{react.Asking}})
		if len(failed) != 5 || len(asks) != 2 {
			t.Errorf("%d failed, %d ask", len(failed), len(asks))
		}
	})
}

func TestAnEventThatCarriesARunIsAskedAbout(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		w.submit(record("pager", "incident", `{"k":1}`))
		rest(2 * time.Second)
		r := only(t, e, react.Done)
		w.submit(record("pager", "incident", fmt.Sprintf(`{"caused":"by %s."}`, r.ID)))
		rest(2 * time.Second)
		asks := runsOf(t, e, react.Query{States: []react.State{react.Asking}})
		if len(asks) != 1 || !strings.Contains(asks[0].Why, "id of a run") {
			t.Fatalf("asks: %+v", asks)
		}
	})
}

func TestWebhooksAreTriedAgainAndThenDead(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, webhookRule("page"))
		w.outcome = func(react.RunID, int) react.Outcome { return react.OutcomeRetry }
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Hour)
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
		e, _ = w.open("", 0)
		defer closed(t, e)
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Second)
		if v := e.Reactions(); v.Fault == "" || len(v.Rules) != 1 || w.acts() != 1 {
			t.Fatalf("begun %v, view: %+v", w.begun, v)
		}
	})
}

func TestARuleBeginsWhereItWasFirstSeen(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		w.submit(record("pager", "incident", `{}`))
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Second)
		r := only(t, e, react.Done)
		if !slices.Equal(r.Members.First, []uint64{2}) {
			t.Error(r.Members.First)
		}
		verdicts, err := e.Explain(t.Context(), 1, "")
		if err != nil || len(verdicts) != 1 || !strings.Contains(verdicts[0].Why, "began behind record 1") {
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

func TestRecordsPrunedBeforeTheyAreJudgedAreCounted(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e, l := w.open("", 0)
		arm(t, e)
		l.mu.Lock()
		l.dead = true
		l.mu.Unlock()
		for range 10 {
			w.submit(record("pager", "incident", `{}`))
		}
		closed(t, e)
		for seq := range uint64(4) {
			delete(w.records, seq+1)
		}
		delete(w.records, 10)
		e, _ = w.open("", 0)
		defer closed(t, e)
		rest(2 * time.Second)
		if n := e.Reactions().Rules[0].Suppressed["pruned"]; n != 5 {
			t.Errorf("%d are counted: %v", n, e.Reactions().Rules[0].Suppressed)
		}
		if r := only(t, e, react.Done); r.Members.Count != 5 {
			t.Errorf("%d members", r.Members.Count)
		}
	})
}

func TestAWebhookThatNothingProvesAsks(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.Key, rule.Wait = []string{".k"}, 0
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		for k, sub := range []event.SubID{"signed", "unsigned"} {
			r := record("pager", "incident", fmt.Sprintf(`{"k":%d}`, k))
			r.Sub, r.Mode = sub, event.ModeWebhook
			w.submit(r)
		}
		rest(2 * time.Second)
		asks := runsOf(t, e, react.Query{States: []react.State{react.Asking}})
		if w.acts() != 1 || len(asks) != 1 || asks[0].Key != "1" {
			t.Errorf("begun %v, asks %+v", w.begun, asks)
		}
	})
}

func TestReplayBehindALongAbsenceIsStale(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.Key = []string{".k"}
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		arm(t, e)
		w.submit(record("pager", "incident", `{"k":1}`))
		rest(2 * time.Second)
		closed(t, e)
		replayed := func(k int) event.Record {
			r := record("pager", "incident", fmt.Sprintf(`{"k":%d}`, k))
			r.Replayed = true
			return r
		}
		rest(5 * time.Minute)
		e, _ = w.open("", 0)
		w.submit(replayed(2))
		rest(2 * time.Second)
		if w.acts() != 2 {
			t.Errorf("begun %v", w.begun)
		}
		closed(t, e)
		rest(8 * time.Hour)
		e, _ = w.open("", 0)
		defer closed(t, e)
		w.submit(replayed(3), replayed(3), replayed(3))
		rest(2 * time.Second)
		asks := runsOf(t, e, react.Query{States: []react.State{react.Asking}})
		if w.acts() != 2 || len(asks) != 1 || !asks[0].Stale {
			t.Errorf("begun %v, asks %+v", w.begun, asks)
		}
	})
}

func TestAFullDiskHoldsEverythingUntilThereIsRoom(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		w.mu.Lock()
		w.full = true
		w.mu.Unlock()
		w.submit(record("pager", "incident", `{}`))
		rest(10 * time.Second)
		if v := e.Reactions(); !strings.Contains(v.Held, "cannot be written") || w.acts() != 0 {
			t.Fatalf("begun %v, held %q", w.begun, v.Held)
		}
		w.mu.Lock()
		w.full = false
		w.mu.Unlock()
		rest(5 * time.Second)
		only(t, e, react.Done)
		if v := e.Reactions(); v.Held != "" {
			t.Error(v.Held)
		}
	})
}

func TestGrantsApproveTheSameActUntilTheyEnd(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := commandRule("page")
		rule.Mode = react.ModeAsk
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		defer closed(t, e)
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Second)
		r := only(t, e, react.Asking)
		if err := e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(25*time.Hour)); err == nil {
			t.Error("a grant of more than a day")
		}
		must(t, e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(2*time.Hour)))
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Second)
		if w.acts() != 2 {
			t.Errorf("begun %v", w.begun)
		}
		rest(2 * time.Hour)
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Second)
		if w.acts() != 2 {
			t.Errorf("begun %v", w.begun)
		}
	})
}

// A grant is for an act of the rule as it stands. What is asked because of the records, or
// because the operator made the run, is asked all the same.
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
	} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				w, e := grantedWorld(t)
				defer closed(t, e)
				c.after(t, w, e)
				rest(5 * time.Second)
				w.submit(record("pager", "incident", `{}`))
				rest(2 * time.Second)
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

// grantedWorld has one run done, and its act granted for two hours.
func grantedWorld(t *testing.T) (*world, *Engine) {
	t.Helper()
	w := newWorld(t, askingCommand())
	e, _ := w.open("", 0)
	w.submit(record("pager", "incident", `{}`))
	rest(2 * time.Second)
	r := only(t, e, react.Asking)
	must(t, e.Grant(t.Context(), r.ID, r.Request.Hash(), time.Now().Add(2*time.Hour)))
	rest(2 * time.Second)
	return w, e
}

func TestUnknownOutcomesOfCommandsAreParkedAndSettled(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, commandRule("page"))
		w.lasts = time.Minute
		e, _ := w.open("", 0)
		arm(t, e)
		w.submit(record("pager", "incident", `{}`))
		rest(2 * time.Second)
		only(t, e, react.Running)
		closed(t, e)
		w.cut = true
		e, _ = w.open("", 0)
		defer closed(t, e)
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

func TestOnceActsOnOneRecordAndAsks(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.When = ".never=1"
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
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

func TestWindowsFireOnceAndHoldTheirMembers(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("storm")
		rule.Window = react.Window{Count: 5, Within: time.Minute}
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		arm(t, e)
		for range 3 {
			w.submit(record("pager", "incident", `{}`))
			rest(2 * time.Second)
		}
		closed(t, e) // what was counted is known again
		e, _ = w.open("", 0)
		defer closed(t, e)
		for range 6 {
			w.submit(record("pager", "incident", `{}`))
			rest(2 * time.Second)
		}
		r := only(t, e, react.Done)
		if !slices.Equal(r.Members.First, []uint64{1, 2, 3, 4, 5}) {
			t.Error(r.Members.First)
		}
	})
}

func TestAbsenceCountsOnlyWhileTheSubscriptionIsLive(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("silent")
		rule.Window = react.Window{Absent: 5 * time.Minute}
		w := newWorld(t, rule)
		w.live = false
		e, _ := w.open("", 0)
		arm(t, e)
		rest(20 * time.Minute)
		if w.acts() != 0 {
			t.Fatal("it was never live")
		}
		w.mu.Lock()
		w.live = true
		w.mu.Unlock()
		rest(4 * time.Minute)
		closed(t, e)
		e, _ = w.open("", 0) // begins anew
		defer closed(t, e)
		rest(4 * time.Minute)
		if w.acts() != 0 {
			t.Fatal("it counted over a restart")
		}
		rest(2 * time.Minute)
		if w.acts() != 1 {
			t.Fatal("five minutes without a member")
		}
		rest(time.Hour)
		if w.acts() != 1 {
			t.Errorf("it fired %d times", w.acts())
		}
		w.submit(record("pager", "incident", `{}`))
		rest(6 * time.Minute)
		if w.acts() != 2 {
			t.Errorf("it fired %d times", w.acts())
		}
	})
}

func TestRunsThatAskAreBounded(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.Mode, rule.Key = react.ModeAsk, []string{".k"}
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		defer closed(t, e)
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
		e, _ := w.open("", 0)
		defer closed(t, e)
		arm(t, e)
		for i := range onceValues + 500 {
			w.submit(record("pager", "incident", fmt.Sprintf(`{"id":%d}`, i)))
		}
		rest(5 * time.Second)
		if r := only(t, e, react.Done); r.Members.Count != onceValues+500 {
			t.Errorf("%d members", r.Members.Count)
		}
		n := 0
		must(t, e.inside(t.Context(), func() { n = len(e.once) }))
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
