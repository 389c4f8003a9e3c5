package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/ui/internal/reacttest"
	reactions "eventdeck/ui/tui/react"
)

// openReact returns the screen on an engine, and a function that moves its clock.
func openReact(t testing.TB, e *reacttest.Engine, w, h int) (*app, func(time.Duration)) {
	t.Helper()
	o := Options{Theme: "none"}
	if e != nil {
		o.React = e
	}
	return openReactWith(t, o, w, h)
}

func openReactWith(t testing.TB, o Options, w, h int) (*app, func(time.Duration)) {
	t.Helper()
	now := start
	o.Now = func() time.Time { return now }
	a := openWith(t, incident(), o)
	a.update(tea.WindowSizeMsg{Width: w, Height: h})
	press(t, a, "6")
	a.draw()
	return a, func(d time.Duration) {
		for end := now.Add(d); now.Before(end); {
			now = now.Add(reactions.TickEvery)
			settle(a, a.update(reactTickMsg{}))
			a.draw()
		}
	}
}

// goldenReact compares the screen of reactions after keys with golden files of all sizes.
func goldenReact(t *testing.T, engine func() *reacttest.Engine, name string, keys []string) {
	t.Helper()
	for _, size := range [][2]int{{160, 45}, {100, 30}, {80, 24}, {40, 12}} {
		t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
			a, _ := openReact(t, engine(), size[0], size[1])
			press(t, a, keys...)
			a.draw()
			flush(a)
			golden(t, a, name)
		})
	}
}

func TestGoldenReactions(t *testing.T) {
	for name, keys := range map[string][]string{
		"react-waiting": nil, "react-runs": {"]", "j", "j"}, "react-rules": {"]", "]"}, "react-block": {"enter"}, "react-deny": {"ctrl+x"},
		"react-settle": {"]", "j", "j", "j", "ctrl+t"}, "react-silence": {"]", "]", "ctrl+s"}, "react-why": {"2", "Q"}, "react-help": {"?"}, "react-led": {"2", "g", "enter"},
	} {
		goldenReact(t, reacting, name, keys)
	}
}

func TestStopAndKillReactions(t *testing.T) {
	e := reacting()
	a, wait := openReact(t, e, 160, 45)
	press(t, a, "2", "Z")
	wait(time.Second)
	look(a)
	if s := screenOf(a); e.Acts("stop false") != 1 || !strings.Contains(s, "STOPPED") {
		t.Fatalf("%v\n%s", e.Did, s)
	}
	if title := a.windowTitle(); !strings.Contains(title, "STOPPED") {
		t.Errorf("the title is %q", title)
	}
	if press(t, a, "Z"); e.Acts("stop true") != 1 {
		t.Fatalf("%v", e.Did)
	}
	wait(6 * time.Second)
	press(t, a, "Z")
	if s := screenOf(a); e.Acts("stop") != 2 || !strings.Contains(s, "go on") {
		t.Fatalf("%v\n%s", e.Did, s)
	}
	if press(t, a, "g"); e.Acts("go") != 1 {
		t.Errorf("%v", e.Did)
	}
}

func TestTypedCommandsForReactions(t *testing.T) {
	e := reacting()
	a, _ := openReact(t, e, 160, 45)
	for line, did := range map[string]string{
		"react stop": "stop false", "deny r4bbbbbbbbbbbbbb not now": "deny r4bbbbbbbbbbbbbb not now", "retry r2cccccccccccccc": "retry r2cccccccccccccc",
		"settle r1dddddddddddddd done seen": "settle r1dddddddddddddd true seen", "disarm note-deploys": "disarm note-deploys",
		"silence page-p1 2h": "silence page-p1 2h0m0s", "silence page-p1 0": "unsilence page-p1", "once page-p1 #2": "once page-p1 2",
	} {
		cmd, err := a.actions.Execute(line)
		if err != nil {
			t.Errorf(":%s: %v", line, err)
			continue
		}
		if settle(a, cmd); e.Acts(did) == 0 {
			t.Errorf(":%s did %v", line, e.Did)
		}
	}
	for _, line := range []string{"deny nobody", "silence page-p1 long", "settle r1 perhaps", "react", "rules nobody", "once page-p1 #99999", "why-not"} {
		if _, err := a.actions.Execute(line); err == nil {
			t.Errorf(":%s is no error", line)
		}
	}
	if _, err := a.actions.Execute("runs parked"); err != nil {
		t.Fatal(err)
	}
	flush(a)
	a.Hush() // what the lines before told, in any order
	if s := screenOf(a); !strings.Contains(s, "? parked") || strings.Contains(s, "r2ccc") {
		t.Errorf("runs by state:\n%s", s)
	}
	cmd, err := a.actions.Execute("why-not page-p1 #2")
	if settle(a, cmd); err != nil || !strings.Contains(screenOf(a), "the filter does not match") {
		t.Errorf("%v\n%s", err, screenOf(a))
	}
}

func TestWithoutAnEngine(t *testing.T) {
	a, _ := openReact(t, nil, 120, 40)
	if s := screenOf(a); !strings.Contains(s, "No engine of reactions runs here") || !strings.Contains(s, "eventdeck react run") {
		t.Errorf("%s", s)
	}
	if press(t, a, "Z", "ctrl+y"); a.dialog != nil {
		t.Error("Z asks something")
	}
	if _, err := a.actions.Execute("deny x"); err == nil {
		t.Error("no error")
	}
}

func TestWaitingRunsAreAnnounced(t *testing.T) {
	e := reacting()
	a, wait := openReact(t, e, 160, 45)
	if title := a.windowTitle(); !strings.HasPrefix(title, "(2 ask)") {
		t.Errorf("the title is %q", title)
	}
	if s := screenOf(a); !strings.Contains(s, "2 ask · 1 run") {
		t.Errorf("the status line:\n%s", s)
	}
	a.react.Announcement()
	a.notify.Settings.On = true
	a.update(tea.BlurMsg{})
	e.View.Waiting = append(e.View.Waiting, reacttest.Asks("r9", "x"))
	e.View.Revision++
	wait(1100 * time.Millisecond)
	settle(a, a.react.Work())
	if cmd := a.notifyOperator(); cmd == nil {
		t.Error("nobody is told")
	}
	if cmd := a.notifyOperator(); cmd != nil {
		t.Error("it is told twice")
	}
}

// On a row that is no event, keys for events say what the row is.
func TestKeysForEventsOnAGap(t *testing.T) {
	e := reacting()
	a := openWith(t, incident(), Options{Theme: "none", React: e, Rules: reactions.Writer{Add: func(string, react.Rule) error { return nil }}})
	a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	look(a)
	press(t, a, "2", "g")
	for range a.stream.Seqs {
		r, _ := a.stream.Chosen()
		want := map[event.Kind]string{event.KindGap: "this row is a gap; J needs an event", event.KindState: "this row is a change of state; J needs an event"}[r.Kind]
		if want != "" {
			if press(t, a, "J"); !strings.Contains(a.Edges.Status.Note.Text, want) {
				t.Errorf("%s: %q", r.Kind, a.Edges.Status.Note.Text)
			}
			return
		}
		press(t, a, "j")
	}
	t.Fatal("there is no such row")
}

// Columns that are empty in all rows are hidden.
func TestEmptyColumnsOfRunsAreHidden(t *testing.T) {
	e := reacting()
	for i := range e.View.Waiting {
		e.View.Waiting[i].Flagged, e.View.Waiting[i].Stale = false, false
	}
	a, _ := openReact(t, e, 80, 24)
	if s := screenOf(a); strings.Contains(s, "CAUTION") || !strings.Contains(s, "GROUP") || !strings.Contains(s, `"payments"`) {
		t.Errorf("\n%s", s)
	}
}

func TestRuleForOtherEventsIsNotSuppressed(t *testing.T) {
	e := reacting()
	a, _ := openReact(t, e, 120, 40)
	press(t, a, "2", "Q")
	if s := screenOf(a); !strings.Contains(s, "does not listen to incident.created of pager") {
		t.Errorf("\n%s", s)
	}
}

// The form of a rule is filled in from the event. The rule is tried on the last day, written, and not
// armed; undo removes it.
func TestRuleFromAnEvent(t *testing.T) {
	e := reacting()
	var wrote []react.Rule
	var removed string
	now := start.Add(time.Minute)
	a := openWith(t, incident(), Options{Theme: "none", Now: func() time.Time { return now }, React: e, Rules: reactions.Writer{
		Add:    func(path string, r react.Rule) error { wrote = append(wrote, r); return nil },
		Text:   func(_ string, r react.Rule) (string, error) { return `"` + r.Name + `": as it is written`, nil },
		Remove: func(_, name string) error { removed = name; return nil },
	}})
	a.update(tea.WindowSizeMsg{Width: 160, Height: 45})
	look(a)
	press(t, a, "2", "g", "J")
	if s := screenOf(a); !strings.Contains(s, `: as it is written`) || !strings.Contains(s, "React to events like this") || !strings.Contains(s, "would have matched 2 events") || !strings.Contains(s, "not armed") {
		t.Fatalf("the form:\n%s", s)
	}
	if press(t, a, "ctrl+s"); len(wrote) != 1 || wrote[0].Mode != react.ModeAsk || wrote[0].On.Server != "pager" || e.Acts("arm") != 0 {
		t.Fatalf("%+v %v\n%s", wrote, e.Did, screenOf(a))
	}
	if press(t, a, "u"); removed != wrote[0].Name {
		t.Errorf("undone: %q\n%s", removed, screenOf(a))
	}
}

// The form of a rule at all sizes: as it opens, and with its missing fields.
func TestGoldenRuleForm(t *testing.T) {
	writer := reactions.Writer{
		Add: func(string, react.Rule) error { return nil },
		Text: func(_ string, r react.Rule) (string, error) {
			return "{\n  \"name\": \"" + r.Name + "\",\n  \"mode\": \"" + string(r.Mode) + "\"\n}", nil
		},
		Remove: func(string, string) error { return nil },
	}
	for name, keys := range map[string][]string{"react-form": nil, "react-form-wrong": {"ctrl+u", "ctrl+s"}} {
		for _, size := range [][2]int{{160, 45}, {100, 30}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				a, _ := openReactWith(t, Options{Theme: "none", React: reacting(), Rules: writer}, size[0], size[1])
				press(t, a, "2", "g", "J")
				press(t, a, keys...)
				golden(t, a, name)
			})
		}
	}
}
