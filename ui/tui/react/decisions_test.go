package react_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/internal/reacttest"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	reactions "eventdeck/ui/tui/react"
)

// shown returns the drawn dialog, "" for none.
func (d *fixture) shown() string { return d.Text(100, 20) }

// did checks the calls of the engine since the last check.
func (d *fixture) did(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(d.engine.Did, want) {
		t.Errorf("the engine did %q, not %q", d.engine.Did, want)
	}
	d.engine.Did = nil
}

func TestDenyAsksForAReason(t *testing.T) {
	d := newFixture()
	d.Exec(d.Deny())
	for _, want := range []string{"/usr/local/bin/restart payments", `All 2 that wait: "payments": /usr/local/bin/restart payments;`, "(●) this one   (○) all 2 of this rule"} {
		if !strings.Contains(d.shown(), want) {
			t.Errorf("%q is not shown:\n%s", want, d.shown())
		}
	}
	if d.Press("not now", "enter"); d.Dialog != nil {
		t.Errorf("it stays open:\n%s", d.shown())
	}
	d.did(t, "deny r3aaaaaaaaaaaaaa not now")
	d.Exec(d.Undo())
	d.did(t, "undeny r3aaaaaaaaaaaaaa")

	d.Exec(d.Deny())
	d.Press("tab", "all of it", "enter")
	d.did(t, "deny r3aaaaaaaaaaaaaa all of it", "deny r4bbbbbbbbbbbbbb all of it")
	d.Exec(d.Undo())
	d.did(t, "undeny r3aaaaaaaaaaaaaa", "undeny r4bbbbbbbbbbbbbb")

	d.Exec(d.Deny())
	d.Press("esc")
	d.did(t)
}

// A grant is confirmed with the key that approves, and only after a moment without other keys.
func TestGrantAsksForHours(t *testing.T) {
	d := newFixture()
	d.frame()
	d.rest(2 * time.Second)
	d.Pane.Key(tuitest.Keys("ctrl+g")[0])
	d.Exec(d.Grant())
	if !strings.Contains(d.shown(), "the rule as it stands does exactly the same without asking") {
		t.Fatalf("asked is\n%s", d.shown())
	}
	grant := func(hours string) string {
		d.Press("ctrl+u", hours)
		d.now = d.now.Add(reactions.Grace)
		d.Press("ctrl+y")
		return d.shown()
	}
	if d.Press("1", "ctrl+y"); !strings.Contains(d.shown(), "not yet: wait a moment") {
		t.Errorf("right after another key:\n%s", d.shown())
	}
	if text := grant("25"); !strings.Contains(text, "a number from 1 to 24") {
		t.Errorf("for too many hours:\n%s", text)
	}
	d.did(t)
	if text := grant("2"); text != "" {
		t.Errorf("it stays open:\n%s", text)
	}
	d.did(t, "grant r3aaaaaaaaaaaaaa "+reacttest.Request("r3aaaaaaaaaaaaaa", "payments").Hash()[:8]+" 2h0m0s")
}

func TestSettleAndSilenceAskFirst(t *testing.T) {
	d := newFixture()
	d.ShowTab(reactions.Runs, "parked")
	d.frame()
	d.Exec(d.Settle())
	d.Press("down", "looked", "enter") // the other one of two: it failed
	d.did(t, "settle r1dddddddddddddd false looked")
	d.Exec(d.Retry())
	d.did(t, "retry r1dddddddddddddd")

	d.ShowTab(reactions.Rules, "")
	d.Choose(reactions.Rules, "page-p1")
	d.frame()
	d.Exec(d.Silence())
	if d.Press("x", "enter"); !strings.Contains(d.shown(), "write how long, such as 30m, 2h or 1d") {
		t.Errorf("for a text that is not a duration:\n%s", d.shown())
	}
	d.Press("backspace", "enter")
	d.did(t, "silence page-p1 1h0m0s")
	d.Exec(d.Undo())
	d.did(t, "unsilence page-p1")
	d.Exec(d.SilenceRule("page-p1", 0))
	d.did(t, "unsilence page-p1")
	for text, want := range map[string]time.Duration{"0": 0, " 90m ": 90 * time.Minute, "1d": 24 * time.Hour} {
		if got, err := reactions.ParseSilence(text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

// Denying a rule disarms it.
func TestDisarm(t *testing.T) {
	d := newFixture()
	d.ShowTab(reactions.Rules, "")
	d.Choose(reactions.Rules, "note-deploys")
	d.frame()
	d.Exec(d.Deny())
	d.did(t, "disarm note-deploys")
	if d.Exec(d.Disarm("page-p1")); d.Told != "page-p1 is not armed" {
		t.Errorf("told is %q", d.Told)
	}
	d.engine.View.Rules[0].Granted = d.now.Add(time.Hour)
	d.Exec(d.Disarm("page-p1"))
	d.did(t, "disarm page-p1")
	d.env.Masked = true
	if d.Exec(d.Disarm("note-deploys")); !strings.Contains(d.Told, "armed again without --present") {
		t.Errorf("told is %q", d.Told)
	}
}

// A second stop within five seconds ends running acts; a later one asks.
func TestStop(t *testing.T) {
	d := newFixture()
	d.Exec(d.Stop())
	d.now = d.now.Add(4 * time.Second)
	d.Exec(d.Stop())
	d.did(t, "stop false", "stop true")
	d.frame()
	if head := tuitest.Plain(d.Headline(100)); !strings.Contains(head, "STOPPED") || !d.Halted() {
		t.Errorf("above the tables is %q", head)
	}
	d.now = d.now.Add(time.Minute)
	d.Exec(d.Stop())
	if !strings.Contains(d.shown(), "1 act may still run") {
		t.Errorf("asked is\n%s", d.shown())
	}
	d.Press("k")
	d.Exec(d.Stop())
	d.Press("g")
	d.did(t, "stop true", "go")
	d.now = d.now.Add(time.Minute)
	if d.frame(); d.Halted() {
		t.Error("reactions are still stopped")
	}
	d.engine.View.Held, d.engine.View.Fault, d.engine.View.Blocked = "the store was put back", "rules.json:3: no such member", "the log cannot be read"
	d.now = d.now.Add(time.Minute)
	d.frame()
	if head := tuitest.Plain(d.Headline(100)); !strings.Contains(head, "HELD  the store was put back; <react.go>") || !strings.Contains(head, "RULES  rules.json:3") || !strings.Contains(head, "BLOCKED  the log cannot be read; it is tried again") {
		t.Errorf("above the tables is %q", head)
	}
	d.Exec(d.AskResume())
	if !strings.Contains(d.shown(), "the store was put back") {
		t.Errorf("asked is\n%s", d.shown())
	}
	d.Press("g")
	d.did(t, "go")
}

// An empty table does not say that there are no rules when their file has a mistake.
func TestRulesWithAMistakeAreNotAbsent(t *testing.T) {
	d := newFixture()
	v := &d.engine.View
	v.Rules, v.Waiting, v.Fault = nil, nil, "rules.json:3: no such member"
	v.Revision++
	d.rest(2 * time.Second)
	for _, tab := range []reactions.Tab{reactions.Waiting, reactions.Rules} {
		d.Board.On = int(tab)
		if s := d.frame(); !strings.Contains(s, "No rule is in force, because their file cannot be used.") {
			t.Errorf("tab %d:\n%s", tab, s)
		}
	}
}

func TestWaitingRunsAreAnnouncedOnce(t *testing.T) {
	d := newFixture()
	if got := d.Announcement(); got != "2 reactions wait for you, the newest: page-p1" || d.Announcement() != "" {
		t.Errorf("told is %q", got)
	}
	for _, c := range []struct {
		ids  []react.RunID
		want string
	}{{[]react.RunID{"new1"}, "a reaction waits for you: page-p1"}, {[]react.RunID{"new1", "new2"}, "1 more reaction waits for you: page-p1; 2 in all"}, {nil, ""}} {
		d.engine.View.Waiting = nil
		for _, id := range c.ids {
			d.engine.View.Waiting = append(d.engine.View.Waiting, reacttest.Asks(id))
		}
		d.engine.View.Revision++
		d.now = d.now.Add(time.Second)
		d.frame()
		if got := d.Announcement(); got != c.want {
			t.Errorf("%v: told is %q, not %q", c.ids, got, c.want)
		}
	}
}

// chips returns the part of the status line about reactions.
func (d *fixture) chips() string {
	var c cells.Canvas
	c.Begin(&d.cells.Theme, 80)
	d.DrawChips(&c)
	c.End()
	return strings.TrimSpace(tuitest.Plain([]string{c.Top()}))
}

func TestStatusLineShowsReactions(t *testing.T) {
	d := newFixture()
	if got := d.chips(); got != "2 ask · 1 run │" {
		t.Errorf("it says %q", got)
	}
	d.engine.View.Models = []string{"local"} // which has cost nothing yet
	d.engine.View.Revision++
	d.now = d.now.Add(time.Second)
	d.frame()
	if got := d.chips(); got != "2 ask · 1 run │" {
		t.Errorf("with a model it says %q", got)
	}
	before := d.ChipsVersion()
	d.engine.View.Spent, d.engine.View.Stopped = 412_301, true
	d.engine.View.Revision++
	d.now = d.now.Add(time.Second)
	d.frame()
	if got := d.chips(); got != "STOPPED   2 ask · 1 run · $0.42 │" || d.ChipsVersion() == before {
		t.Errorf("it says %q", got)
	}
}

// The status line shows a question to a model until its answer was shown.
func TestAskingAModel(t *testing.T) {
	d := newFixture()
	for typed, want := range map[string]string{"why": "there is no model to ask"} {
		if _, err := d.Pane.Ask(5, typed); err == nil || !strings.Contains(err.Error(), want) || d.CanAsk() {
			t.Errorf("%q: %v", typed, err)
		}
	}
	d.engine.View.Models = []string{"local", "big"}
	d.engine.View.Revision++
	d.now = d.now.Add(time.Second)
	d.frame()
	for typed, want := range map[string]string{"why": `no model "why"; begin with one of: local, big`, "big ": "nothing is asked"} {
		if _, err := d.Pane.Ask(5, typed); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", typed, err)
		}
	}
	cmd, err := d.Pane.Ask(5, "big what broke?")
	d.Exec(cmd)
	d.did(t, "ask-model big 5 what broke?")
	if got := d.chips(); err != nil || !d.CanAsk() || !strings.HasPrefix(got, "◌ asking big 0 s") {
		t.Errorf("while it is asked: %q, %v", got, err)
	}
	for state, want := range map[react.State]string{react.Asking: "? asking big waits for you: <reactions>", react.Failed: "✗ no answer: <reactions>", react.Done: "● answer: <reactions>"} {
		again := newFixture()
		again.engine.View.Models = []string{"big"}
		again.engine.View.Revision++
		again.now = again.now.Add(time.Second)
		again.frame()
		cmd, _ := again.Pane.Ask(5, "what broke?")
		again.Exec(cmd)
		answer := reacttest.Asks("asked")
		answer.State, answer.Why = state, "it took too long"
		again.engine.All = append(again.engine.All, answer)
		again.engine.View.Revision++
		again.now = again.now.Add(time.Second)
		again.frame()
		if got := again.chips(); !strings.HasPrefix(got, want) {
			t.Errorf("%s: the status line says %q", state, got)
		}
		if state == react.Failed && (again.Failed == nil || !strings.Contains(again.Failed.Error(), "failed, it took too long")) {
			t.Errorf("told is %v", again.Failed)
		}
		if !again.ShowAnswer() || again.ShowAnswer() {
			t.Errorf("%s: the answer is shown once", state)
		}
		if again.frame(); state == react.Done && again.Board.Table().At.Name != "asked" {
			t.Errorf("chosen is %+v", again.Board.Table().At)
		}
	}
}

// The dialog shows the decision of each rule about a record; its runs are listed at the record.
func TestRulesExplainTheirDecisions(t *testing.T) {
	d := newFixture()
	d.log.Records = []event.Record{{Server: "pager", Type: trust.Untrusted("incident.created")}}
	d.Exec(d.Explain(1, ""))
	for _, want := range []string{"page-p1  ○ suppressed", "why   the filter does not match", "note-pages", "does not listen to incident.created of pager", "note-deploys", "would go on"} {
		if !strings.Contains(d.shown(), want) {
			t.Errorf("%q is not shown:\n%s", want, d.shown())
		}
	}
	if d.Press("j", "esc"); d.Dialog != nil {
		t.Error("it stays open")
	}
	d.log.Records[0].Kind = event.KindGap
	d.Exec(d.Explain(1, ""))
	if want := "does not listen to gaps of incident.created of pager"; !strings.Contains(d.shown(), want) {
		t.Errorf("%q is not shown of a gap:\n%s", want, d.shown())
	}
	d.Press("esc")
	if d.Exec(d.Explain(1, "nope")); d.Failed == nil || !strings.Contains(d.Failed.Error(), "no rule nope is in force") {
		t.Errorf("told is %v", d.Failed)
	}
	var lines []string
	for _, l := range d.Outcomes(1) {
		lines = append(lines, l.Text.Plain()+" "+l.More[0].Text.Plain())
	}
	if want := []string{"page-p1 ? asking", "page-p1 ? asking", "page-p1 ● done", "page-p1 ? parked"}; !slices.Equal(lines, want) || d.OutcomesGen() == 0 || d.Outcomes(2) != nil {
		t.Errorf("the record led to %q", lines)
	}
	d.Exec(d.RunOnce("page-p1", 1))
	d.did(t, "once page-p1 1")
}
