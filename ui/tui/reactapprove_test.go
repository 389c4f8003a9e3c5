package tui

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/internal/reacttest"
	reactions "eventdeck/ui/tui/react"
)

func TestApprovalTakesAPauseAndItsKey(t *testing.T) {
	e := reacting()
	a, wait := openReact(t, e, 160, 45)
	press(t, a, "ctrl+y")
	if e.Acts("approve") != 0 || !strings.Contains(a.Edges.Status.Note.Text, "not yet") {
		t.Fatalf("approved at once, or no word of why not: %q", a.Edges.Status.Note.Text)
	}
	wait(300 * time.Millisecond)
	press(t, a, "j")
	wait(300 * time.Millisecond)
	press(t, a, "ctrl+y")
	if e.Acts("approve") != 0 {
		t.Fatal("approved without a rest")
	}
	wait(time.Second)
	if s := screenOf(a); !strings.Contains(s, "ctrl+y approves it once") {
		t.Errorf("nothing says that the key counts now:\n%s", s)
	}
	press(t, a, "ctrl+y")
	if e.Acts("approve r4bbbbbbbbbbbbbb") != 1 {
		t.Fatalf("not approved: %q, %v", a.Edges.Status.Note.Text, e.Did)
	}
	wait(time.Second)
	press(t, a, "ctrl+y")
	if e.Acts("approve") != 1 {
		t.Error("the same was approved twice")
	}
}

func TestNothingElseApprovesOrArms(t *testing.T) {
	for name, try := range map[string]func(a *app){
		"the palette": func(a *app) { press(t, a, ":", "a", "p", "p", "r", "o", "v", "e", "enter") },
		"its name": func(a *app) {
			if cmd, err := a.actions.Execute(reactions.ApproveAction); err == nil {
				settle(a, cmd)
			}
		},
		"grant by its name": func(a *app) {
			if cmd, err := a.actions.Execute("react.grant"); err == nil {
				settle(a, cmd)
			}
		},
		"help":   func(a *app) { press(t, a, "?", "a", "p", "p", "r", "o", "v", "e", "enter") },
		"paste":  func(a *app) { settle(a, a.update(tea.PasteMsg{Content: "\x19\x19"})); press(t, a, "ctrl+y") },
		"focus":  func(a *app) { settle(a, a.update(tea.FocusMsg{})); press(t, a, "ctrl+y") },
		"mouse":  func(a *app) { a.update(tea.MouseClickMsg{X: 5, Y: 5, Button: tea.MouseLeft}); press(t, a, "ctrl+y") },
		"resize": func(a *app) { a.update(tea.WindowSizeMsg{Width: 120, Height: 40}); a.draw(); press(t, a, "ctrl+y") },
		"a key that is held": func(a *app) {
			settle(a, a.key(tea.KeyPressMsg{Code: 'y', Mod: tea.ModCtrl, IsRepeat: true}))
		},
	} {
		for _, tab := range [][]string{nil, {"]", "]"}} {
			e := reacting()
			a, wait := openReact(t, e, 160, 45)
			press(t, a, tab...)
			a.draw()
			wait(2 * time.Second)
			if !strings.Contains(screenOf(a), "ctrl+y a") {
				t.Fatalf("the key does not count in the first place:\n%s", screenOf(a))
			}
			try(a)
			if e.Acts("approve")+e.Acts("arm")+e.Acts("grant") > 0 {
				t.Errorf("%s, tab %v: %v", name, tab, e.Did)
			}
		}
	}
}

// A request that changes, is covered or is not shown to its end cannot be approved.
func TestUnseenRequestIsNotApproved(t *testing.T) {
	e := reacting()
	e.View.Waiting[0].Request.Argv = append(e.View.Waiting[0].Request.Argv, strings.Split(strings.Repeat("padding ", 60), " ")...)
	a, wait := openReact(t, e, 160, 45)
	wait(2 * time.Second)
	press(t, a, "ctrl+y")
	if e.Acts("approve") != 0 || !strings.Contains(a.Edges.Status.Note.Text, "read on") {
		t.Fatalf("approved unseen, or no word of it: %q", a.Edges.Status.Note.Text)
	}
	press(t, a, "enter", "G")
	a.draw()
	wait(2 * time.Second)
	press(t, a, "ctrl+y")
	if e.Acts("approve") != 0 || !strings.Contains(a.Edges.Status.Note.Text, "read back") {
		t.Fatalf("approved with lines that were jumped over: %q", a.Edges.Status.Note.Text)
	}
	press(t, a, "g")
	for range 20 {
		a.draw()
		wait(300 * time.Millisecond)
		press(t, a, "ctrl+d")
	}
	wait(time.Second)
	if press(t, a, "ctrl+y"); e.Acts("approve") != 1 {
		t.Fatalf("all was read, and it is not approved: %q", a.Edges.Status.Note.Text)
	}

	e = reacting()
	a, wait = openReact(t, e, 160, 45)
	wait(2 * time.Second)
	e.View.Waiting[0].Request.Argv = []string{"/usr/local/bin/restart", "everything"}
	e.View.Revision++
	wait(1100 * time.Millisecond) // it is read again
	look(a)
	a.draw()
	press(t, a, "ctrl+y")
	if e.Acts("approve") != 0 {
		t.Error("approved what had just changed")
	}
}

// Random keys at 50 a second, arriving requests, focus events, pastes and the mouse approve nothing.
func TestHammeringApprovesNothing(t *testing.T) {
	keys := []string{"ctrl+y", "ctrl+y", "enter", "j", "k", "]", "[", "6", "3", "ctrl+g", "1", "esc", "tab", "y", ":", "?", "ctrl+x", "space", "g", "G", "u"}
	for seed := range seeds(12) {
		r := rand.New(rand.NewPCG(seed, 7))
		e := reacting()
		a, _ := openReact(t, e, 160, 45)
		now, undone := start, 0
		a.Now = func() time.Time { return now }
		for i := range 600 {
			now = now.Add(20 * time.Millisecond)
			if i%5 == 0 {
				settle(a, a.update(reactTickMsg{}))
			}
			switch r.IntN(12) {
			case 0:
				e.View.Waiting = append(e.View.Waiting, reacttest.Asks(react.RunID(fmt.Sprintf("new%d", i)), "x"))
				e.View.Revision++
				settle(a, a.react.Work())
			case 1:
				settle(a, a.update(tea.FocusMsg{}))
			case 2:
				settle(a, a.update(tea.PasteMsg{Content: "\x19y"}))
			case 3:
				settle(a, a.update(tea.MouseClickMsg{X: r.IntN(160), Y: r.IntN(45), Button: tea.MouseLeft}))
			}
			key, armed := keys[r.IntN(len(keys))], e.Acts("arm")
			if press(t, a, key) {
				t.Fatal("quit")
			}
			if key == "u" { // takes back that a rule was disarmed
				undone += e.Acts("arm") - armed
			}
			a.draw()
		}
		if n := e.Acts("approve") + e.Acts("grant") + e.Acts("arm") - undone; n > 0 {
			t.Fatalf("seed %d: %v", seed, e.Did)
		}
	}
}

func TestDenialAndItsReasonAreOneAct(t *testing.T) {
	e := reacting()
	a, _ := openReact(t, e, 160, 45)
	press(t, a, "ctrl+x", "n", "o", "esc")
	if e.Acts("deny") != 0 {
		t.Fatal("denied without enter")
	}
	press(t, a, "ctrl+x", "n", "o", "enter")
	if e.Acts("deny r3aaaaaaaaaaaaaa no") != 1 {
		t.Fatalf("%v", e.Did)
	}
	if s := screenOf(a); !strings.Contains(s, "u undoes it") {
		t.Errorf("no word of undoing:\n%s", s)
	}
	if press(t, a, "u"); e.Acts("undeny r3") != 1 {
		t.Errorf("%v", e.Did)
	}
}

func TestGrantsEndWithinADay(t *testing.T) {
	e := reacting()
	a, wait := openReact(t, e, 160, 45)
	wait(time.Second)
	press(t, a, "ctrl+g", "backspace", "4", "8")
	wait(time.Second)
	press(t, a, "ctrl+y")
	if e.Acts("grant") != 0 || !strings.Contains(screenOf(a), "1 to 24") {
		t.Fatalf("%v\n%s", e.Did, screenOf(a))
	}
	press(t, a, "backspace", "backspace", "4", "ctrl+y")
	if e.Acts("grant") != 0 {
		t.Fatal("granted without a rest")
	}
	wait(time.Second)
	if press(t, a, "ctrl+y"); e.Acts("grant r3aaaaaaaaaaaaaa") != 1 || !strings.HasSuffix(e.Did[len(e.Did)-1], "4h0m0s") {
		t.Errorf("%v\n%s", e.Did, screenOf(a))
	}
}

// A rule with tools can be armed once the descriptions of its tools were on the screen.
func TestArmingTakesTheToolsInFull(t *testing.T) {
	e := reacting()
	tool := react.Tool{Server: "pager", Name: "look", Class: react.ToolRead}
	e.View.Rules[0].Rule.Do = react.Do{Task: &react.Task{Task: "Look.", Tools: []react.Tool{tool}}}
	e.Tools = []react.Pinned{{Tool: tool, Description: trust.Untrusted("Looks\x1b up."), Schema: []byte(`{"properties":{"id":{}}}`), Pin: "p1"}}
	shown := e.View.Rules[0]
	shown.Tools = e.Tools
	a, wait := openReact(t, e, 160, 60)
	press(t, a, "]", "]")
	wait(2 * time.Second)
	if s := screenOf(a); !strings.Contains(s, `"Looks\x1b up."`) || !strings.Contains(s, "SHA-256 p1") || !strings.Contains(s, "id = {}") {
		t.Fatal(s)
	}
	if press(t, a, "ctrl+y"); e.Acts("arm page-p1 "+string(shown.ArmHash())) != 1 {
		t.Fatalf("%v %q\n%s", e.Did, a.Edges.Status.Note.Text, screenOf(a))
	}
}

func TestArmingTakesTheRuleInFull(t *testing.T) {
	e := reacting()
	a, wait := openReact(t, e, 160, 45)
	press(t, a, "]", "]")
	a.draw()
	if press(t, a, "ctrl+y"); e.Acts("arm") != 0 {
		t.Fatal("armed at once")
	}
	wait(time.Second)
	if press(t, a, "ctrl+y"); e.Acts("arm page-p1 h1") != 1 {
		t.Fatalf("%v %q", e.Did, a.Edges.Status.Note.Text)
	}
	press(t, a, "j", "ctrl+x")
	if e.Acts("disarm note-deploys") != 1 {
		t.Fatalf("%v", e.Did)
	}
	if press(t, a, "u"); e.Acts("arm note-deploys h2") != 1 {
		t.Errorf("%v", e.Did)
	}
	press(t, a, "ctrl+s", "enter", "u")
	if e.Acts("silence note-deploys 1h0m0s") != 1 || e.Acts("unsilence") != 1 {
		t.Errorf("%v", e.Did)
	}
}

func TestFailedApprovalCanBeRetried(t *testing.T) {
	e := reacting()
	e.Fails = errors.New("no token")
	a, wait := openReact(t, e, 160, 45)
	wait(time.Second)
	press(t, a, "ctrl+y")
	if !a.Edges.Status.Note.Bad {
		t.Fatalf("the failure is not told: %q", a.Edges.Status.Note.Text)
	}
	wait(2 * time.Second)
	if press(t, a, "ctrl+y"); e.Acts("approve") != 2 {
		t.Errorf("%v %q", e.Did, a.Edges.Status.Note.Text)
	}
}

// A group of waiting runs is denied at once, and one undo makes all of them wait again. Runs that
// began to wait while the reason was typed stay.
func TestGroupIsDeniedAtOnce(t *testing.T) {
	e := reacting()
	a, _ := openReact(t, e, 160, 45)
	press(t, a, "ctrl+x")
	if s := screenOf(a); !strings.Contains(s, "all 2 of this rule") {
		t.Fatal(s)
	}
	e.View.Waiting = append(e.View.Waiting, reacttest.Asks("r9", "late"))
	e.View.Revision++
	press(t, a, "tab", "n", "o", "enter")
	if e.Acts("deny r3aaaaaaaaaaaaaa no") != 1 || e.Acts("deny r4bbbbbbbbbbbbbb no") != 1 || e.Acts("deny") != 2 {
		t.Fatal(e.Did)
	}
	if press(t, a, "u"); e.Acts("undeny") != 2 {
		t.Error(e.Did)
	}
}

// v shows the request on the whole screen from its beginning, and goes back.
func TestRequestIsShownOnTheWholeScreen(t *testing.T) {
	for _, size := range [][2]int{{160, 45}, {80, 24}} {
		a, _ := openReact(t, reacting(), size[0], size[1])
		press(t, a, "v")
		if s := screenOf(a); !strings.Contains(s, "page-p1, auto") || strings.Contains(s, "WANTS TO") || !strings.Contains(s, "1 of 2") {
			t.Errorf("%v:\n%s", size, s)
		}
		if press(t, a, "v"); !strings.Contains(screenOf(a), "WANTS TO") {
			t.Errorf("%v:\n%s", size, screenOf(a))
		}
	}
}
