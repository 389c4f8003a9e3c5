package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// Acts may be missing in the journal of a restored store: nothing acts without approval.
func TestARestoredStoreHoldsTheEngine(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		arm(t, e)
		closed(t, e)
		w.tables[event.TableReact][event.KeyLag] = []byte("the store was restored from a copy")
		e = w.opened()
		w.happens(`{}`, 3*time.Second)
		if held := e.Reactions().Held; !strings.Contains(held, "restored") || w.acts() != 0 {
			t.Fatalf("held: %q, begun %v", held, w.begun)
		}
		must(t, e.Go(t.Context()))
		rest(3 * time.Second)
		only(t, e, react.Asking) // it was made while that was not known
		w.happens(`{}`, 3*time.Second)
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
		e = w.opened()
		w.happens(`{"live":true}`, 3*time.Second)
		if w.acts() != 1 || e.Reactions().Rules[0].Suppressed["origin"] != 2 {
			t.Errorf("begun %v, suppressed %v", w.begun, e.Reactions().Rules[0].Suppressed)
		}
	})
}

func TestBreakerAsksAfterFiveFailures(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, grouped(commandRule("page")))
		w.outcome = func(react.RunID, int) react.Outcome { return react.OutcomeFailed }
		e := w.armed()
		for i := range 7 {
			w.happens(fmt.Sprintf(`{"k":%d}`, i), 2*time.Second)
		}
		failed, asks := runsIn(t, e, react.Failed), runsIn(t, e, react.Asking)
		if len(failed) != 5 || len(asks) != 2 {
			t.Errorf("%d failed, %d ask", len(failed), len(asks))
		}
	})
}

func TestAnEventThatCarriesARunIsAskedAbout(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e := w.armed()
		w.happens(`{"k":1}`, 2*time.Second)
		r := only(t, e, react.Done)
		w.happens(fmt.Sprintf(`{"caused":"by %s."}`, r.ID), 2*time.Second)
		asks := runsIn(t, e, react.Asking)
		if len(asks) != 1 || !strings.Contains(asks[0].Why, "id of a run") {
			t.Fatalf("asks: %+v", asks)
		}
	})
}

func TestRecordsPrunedBeforeTheyAreJudgedAreCounted(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, noteRule("page"))
		e, l := w.open("", 0)
		arm(t, e)
		l.kill()
		for range 10 {
			w.submit(record("pager", "incident", `{}`))
		}
		closed(t, e)
		for seq := range uint64(4) {
			delete(w.records, seq+1)
		}
		delete(w.records, 10)
		e = w.opened()
		rest(2 * time.Second)
		if n := e.Reactions().Rules[0].Suppressed["pruned"]; n != 5 {
			t.Errorf("%d are counted: %v", n, e.Reactions().Rules[0].Suppressed)
		}
		if r := only(t, e, react.Done); r.Members.Count != 5 {
			t.Errorf("%d members", r.Members.Count)
		}
	})
}

func TestUnsignedWebhookAsks(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.Key, rule.Wait = []string{".k"}, 0
		w := newWorld(t, rule)
		e := w.armed()
		for k, sub := range []event.SubID{"signed", "unsigned"} {
			r := record("pager", "incident", fmt.Sprintf(`{"k":%d}`, k))
			r.Sub, r.Mode = sub, event.ModeWebhook
			w.submit(r)
		}
		rest(2 * time.Second)
		asks := runsIn(t, e, react.Asking)
		if w.acts() != 1 || len(asks) != 1 || asks[0].Key != "1" {
			t.Errorf("begun %v, asks %+v", w.begun, asks)
		}
	})
}

func TestReplayBehindALongAbsenceIsStale(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, grouped(noteRule("page")))
		e, _ := w.open("", 0)
		arm(t, e)
		w.happens(`{"k":1}`, 2*time.Second)
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
		e = w.opened()
		w.submit(replayed(3), replayed(3), replayed(3))
		rest(2 * time.Second)
		asks := runsIn(t, e, react.Asking)
		if w.acts() != 2 || len(asks) != 1 || !asks[0].Stale {
			t.Errorf("begun %v, asks %+v", w.begun, asks)
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
			w.happens(`{}`, 2*time.Second)
		}
		closed(t, e) // what was counted is known again
		e = w.opened()
		for range 6 {
			w.happens(`{}`, 2*time.Second)
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
		w.change(func() { w.live = true })
		rest(4 * time.Minute)
		closed(t, e)
		e, _ = w.open("", 0) // begins again
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
		w.happens(`{}`, 6*time.Minute)
		if w.acts() != 2 {
			t.Errorf("it fired %d times", w.acts())
		}
	})
}

// An absence that exceeds the queue does not change the last run of the queue: otherwise that run
// would get another id, and its act would be done twice after a restart.
func TestAnAbsenceBeyondTheQueueChangesNoOtherRun(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := asked(grouped(noteRule("silent")))
		rule.Window, rule.Limits.Queue = react.Window{Absent: 5 * time.Minute}, 2
		w := newWorld(t, rule)
		e, _ := w.open("", 0)
		w.happens(`{"k":1}`, 6*time.Minute)
		w.happens(`{"k":1}`, 6*time.Minute)
		queue := runsOf(t, e, react.Query{})
		if len(queue) != 2 || queue[0].State != react.Gathering || queue[1].State != react.Asking {
			t.Fatalf("%+v", queue)
		}
		w.happens(`{"k":2}`, 6*time.Minute)
		closed(t, e)
		e = w.opened()
		after := runsOf(t, e, react.Query{})
		if len(after) != 2 || after[0].ID != queue[0].ID || after[0].Members.From != queue[0].Members.From {
			t.Errorf("%d runs: the last one was %s, %+v", len(after), queue[0].ID, queue[0].Members)
			for _, r := range after {
				t.Logf("run %s is %s, %+v", r.ID, r.State, r.Members)
			}
		}
		for _, entry := range w.audit() {
			if id := strings.TrimPrefix(entry.Result, "run "); entry.Action == "run created" && id != string(queue[0].ID) && id != string(queue[1].ID) {
				t.Errorf("the audit log has a run %s that there is not", id)
			}
		}
		if n := e.Reactions().Rules[0].Suppressed["queue"]; n != 1 {
			t.Errorf("%d absences are counted as beyond the queue", n)
		}
	})
}

// A rule on an event name takes the events of a filtered stream that have it, and counts what the
// records of that subscription say: the first event after a certain gap is held back.
func TestARuleOnAnEventNameTakesEventsOfAFilteredStream(t *testing.T) {
	simulated(t, func(t *testing.T) {
		rule := noteRule("page")
		rule.On.Types, rule.Key = react.Types{"incident.changed", "deploy.*"}, []string{".k"}
		w := newWorld(t, rule)
		e := w.armed()
		named := func(name, key string) event.Record {
			r := record("pager", "filtered-stream", `{"k":"`+key+`"}`)
			r.Labels = &event.Labels{Name: trust.Untrusted(name)}
			return r
		}
		w.submit(named("incident.changed", "a"))
		w.submit(named("note.added", "b"))
		w.submit(named("deploy.done", "c"))
		rest(2 * time.Second)
		if n := e.Reactions().Rules[0].Matched; n != 2 || w.acts() != 2 {
			t.Errorf("%d events matched, %d acts", n, w.acts())
		}
		gap := record("pager", "filtered-stream", "")
		gap.Kind, gap.Gap = event.KindGap, &event.Gap{Cause: event.CauseTruncated, Certain: true}
		w.submit(gap)
		w.submit(named("incident.changed", "d"))
		rest(2 * time.Second)
		verdicts, err := e.Explain(t.Context(), 5, "page")
		if err != nil || len(verdicts) != 1 || verdicts[0].State != react.Asking {
			t.Errorf("after a gap: %+v, %v", verdicts, err)
		}
		if verdicts, err = e.Explain(t.Context(), 2, "page"); err != nil || verdicts[0].Why != "the rule listens to incident.changed, deploy.* of pager" {
			t.Errorf("another name: %+v, %v", verdicts, err)
		}
		if _, err := e.Once(t.Context(), "page", 2); !errors.Is(err, react.ErrSource) {
			t.Errorf("once: %v", err)
		}
	})
}
