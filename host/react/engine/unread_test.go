package engine

import (
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
)

// reopenUnreadable stores one decided record and, while no engine runs, three more. It returns
// an engine that cannot read one of the four.
func reopenUnreadable(t *testing.T, unreadable uint64) (*world, *Engine) {
	t.Helper()
	rule := noteRule("note")
	rule.Mode, rule.Wait = react.ModeAsk, time.Hour
	w := newWorld(t, rule)
	e, _ := w.open("", 0)
	w.happens(`{}`, 2*time.Second)
	closed(t, e)
	for range 3 {
		w.submit(record("pager", "incident", `{}`))
	}
	w.unreadable = unreadable
	e = w.opened()
	rest(2 * time.Second)
	return w, e
}

func TestUnreadableLogIsShownAndReadAgainWithBackoff(t *testing.T) {
	for name, unreadable := range map[string]uint64{"before the first decision": 1, "at the next record": 2} {
		t.Run(name, func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				w, e := reopenUnreadable(t, unreadable)
				v := e.Reactions()
				if !strings.Contains(v.Blocked, "the log cannot be read") || !strings.Contains(v.Blocked, "damaged") || v.Held != "" {
					t.Errorf("blocked: %q, held: %q", v.Blocked, v.Held)
				}
				if n := v.Rules[0].Matched; n != 1 {
					t.Errorf("%d records matched", n)
				}
				verdicts, err := e.Explain(t.Context(), 4, "note")
				if err != nil || !strings.Contains(verdicts[0].Why, "damaged") {
					t.Errorf("%+v, %v", verdicts, err)
				}
				rest(time.Hour)
				if n := w.failed(); n < 30 || n > 90 {
					t.Errorf("the log was read %d times in an hour", n)
				}
				w.change(func() { w.unreadable = 0 })
				rest(2 * readAgainMost)
				if v := e.Reactions(); v.Blocked != "" || v.Rules[0].Matched != 4 {
					t.Errorf("blocked: %q, %d records matched", v.Blocked, v.Rules[0].Matched)
				}
			})
		})
	}
}

// Records that were read before one that cannot be read are decided once.
func TestRecordsBeforeAnUnreadableOneAreDecidedOnce(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w, e := reopenUnreadable(t, 4)
		rest(10 * time.Minute)
		if n := only(t, e, react.Gathering).Members.Count; n != 3 {
			t.Errorf("the run has %d members, 3 records can be read", n)
		}
		w.change(func() { w.unreadable = 0 })
		rest(2 * readAgainMost)
		if n := only(t, e, react.Gathering).Members.Count; n != 4 {
			t.Errorf("the run has %d members, 4 records were committed", n)
		}
	})
}
