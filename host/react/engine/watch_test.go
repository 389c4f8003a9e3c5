package engine

import (
	"testing"
	"time"

	"eventdeck/host/react"
)

func (w *world) watched() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.watches)
}

// Without rules the store is not watched; the first rule judges only later records.
func TestWithoutRulesTheStoreIsNotWatched(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t)
		e, _ := w.open("", 0)
		defer func() { closed(t, e) }()
		w.happens(`{}`, 2*time.Second)
		if n := w.watched(); n != 0 {
			t.Fatalf("%d watch the store", n)
		}
		w.rules(noteRule("page"))
		rest(3 * time.Second)
		arm(t, e)
		w.happens(`{}`, 2*time.Second)
		if r := only(t, e, react.Done); w.watched() != 1 || r.Members.First[0] != 2 {
			t.Errorf("%d watch, %+v", w.watched(), r.Members)
		}
		w.rules()
		rest(3 * time.Second)
		w.submit(record("pager", "incident", `{}`))
		if n := w.watched(); n != 0 {
			t.Errorf("%d watch the store", n)
		}
		closed(t, e)
		e, _ = w.open("", 0)
		w.rules(noteRule("page"))
		rest(3 * time.Second)
		arm(t, e)
		w.happens(`{}`, 2*time.Second)
		if runs := runsOf(t, e, react.Query{}); len(runs) != 2 || runs[0].Members.Count != 1 || runs[0].Members.First[0] != 4 {
			t.Errorf("%+v", runs)
		}
	})
}

// A run that asks because its rule was not armed does not hold back runs after arming.
func TestAGroupGoesOnOnceItsRuleIsArmed(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := newWorld(t, commandRule("page"))
		e, _ := w.open("", 0)
		defer func() { closed(t, e) }()
		w.happens(`{}`, 2*time.Second)
		asks := only(t, e, react.Asking)
		w.happens(`{}`, 2*time.Second)
		if w.acts() != 0 {
			t.Fatal(w.begun)
		}
		closed(t, e) // also where it was known before
		e, _ = w.open("", 0)
		arm(t, e)
		rest(2 * time.Second)
		w.happens(`{}`, 2*time.Second)
		done := runsIn(t, e, react.Done)
		if len(done) != 2 || w.acts() != 2 {
			t.Fatalf("%d are done, begun %v", len(done), w.begun)
		}
		must(t, e.Approve(t.Context(), asks.ID, asks.Request.Hash()))
		rest(2 * time.Second)
		if r, err := e.Run(t.Context(), asks.ID); err != nil || r.State != react.Done {
			t.Errorf("%+v, %v", r, err)
		}
		must(t, e.Disarm(t.Context(), "page"))
		w.happens(`{}`, 2*time.Second)
		w.happens(`{}`, 2*time.Second)
		if v := e.Reactions(); v.Asking != 1 || len(v.Active) != 1 {
			t.Errorf("%d ask, %d are active", v.Asking, len(v.Active))
		}
		g := &groupState{}
		must(t, e.query(t.Context(), func() error { *g = *e.groupOf(group{"page", ""}); return nil }))
		if g.frozen != 1 || g.fresh != 1 || g.running != 0 {
			t.Errorf("%+v", g)
		}
	})
}
