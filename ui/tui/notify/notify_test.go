package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/notify"
)

// hostileTexts are payload texts that try to control the terminal.
var hostileTexts = []string{
	"\x1b]0;owned\a", "\x1b\\\x1b[2J", "\a\a\a", "\x9b31m", "\u009b2J", "\u009c", "\x1bP1;2|17/ab\x1b\\",
	"a;b;c", "\u202evil", "line\nbreak\rreturn", "\x00\x07\x1b", "日本語 \U000e0041 👩‍👩‍👧", strings.Repeat("long ", 500), "\xff\xfe",
}

func variable(env []string, name string) string {
	for _, v := range env {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// No byte of a text ends the sequence, begins another one, or rings the bell.
func TestAlertsHoldNoControls(t *testing.T) {
	for _, k := range notify.Alerts[1:] {
		for _, text := range hostileTexts {
			s := k.Sequence(text, text, false, false)
			for part := range strings.SplitSeq(strings.TrimSuffix(s, "\x1b\\"), "\x1b\\") {
				inner, ok := strings.CutPrefix(part, "\x1b]")
				if !ok {
					t.Fatalf("%s of %q: %q", k, text, s)
				}
				for _, r := range inner {
					if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e || r == '\ufffd' {
						t.Errorf("%s of %q lets %U out: %q", k, text, r, s)
					}
				}
			}
			if k == notify.OSC777 && strings.Count(s, ";") != 3 {
				t.Errorf("a text makes fields: %q", s)
			}
			if ascii := k.Sequence(text, text, false, true); strings.ContainsFunc(ascii, func(r rune) bool { return r >= 0x7f }) {
				t.Errorf("beyond ASCII: %q", ascii)
			}
			if len(s) > 2_000 {
				t.Errorf("%s writes %d bytes", k, len(s))
			}
		}
	}
	if s := notify.OSC9.Sequence("t", "b", true, false); s != "\x1bPtmux;\x1b\x1b]9;t: b\x1b\x1b\\\x1b\\" {
		t.Errorf("through tmux: %q", s)
	}
}

func TestAlertSuitsTheTerminal(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want notify.Alert
	}{
		{[]string{"TERM=xterm-kitty"}, notify.OSC99}, {[]string{"TERM_PROGRAM=iTerm.app"}, notify.OSC9},
		{[]string{"TERM_PROGRAM=WezTerm"}, notify.OSC777}, {[]string{"TERM=foot"}, notify.OSC777},
		{[]string{"TERM=xterm-256color"}, notify.Bell}, {[]string{"TERM=xterm-kitty", "TMUX=/tmp/x"}, notify.Bell},
	} {
		if got := notify.AlertFor(func(name string) string { return variable(c.env, name) }); got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
	}
}

// records is a log of titles.
// records returns a log of one event for each title.
func records(titles ...string) *tuitest.Log {
	log := &tuitest.Log{}
	for _, title := range titles {
		log.Records = append(log.Records, event.Record{Kind: event.KindEvent, Server: "pager", Data: fmt.Appendf(nil, `{"title":%q}`, title)})
	}
	return log
}

func TestDisabledRulesDoNotNotify(t *testing.T) {
	now := time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)
	env := &cells.Env{Now: func() time.Time { return now }, Glyphs: &cells.UnicodeGlyphs}
	n := notify.New(env, func(string) string { return "" })
	if err := n.Read(`{"on":true,"by":"osc9","rules":[{"filter":"disk"},{"filter":"load","off":true}]}`); err != nil {
		t.Fatal(err)
	}
	log := records("disk 0", "load", "disk 1", "disk 2")
	examine := func(last uint64) {
		t.Helper()
		hits, err := n.Due(last)(log)
		if err != nil {
			t.Fatal(err)
		}
		n.Take(hits)
	}
	n.SetFocused(false, 1)
	examine(2)
	if cmd, wait := n.Notify(); cmd != nil || wait != 0 {
		t.Error("a rule that is off notifies")
	}
	examine(4)
	cmd, _ := n.Notify()
	if cmd == nil || n.Unread(4) != 3 {
		t.Fatalf("nothing is told, %d unread", n.Unread(4))
	}
	if text := fmt.Sprint(cmd().(tea.RawMsg).Msg); !strings.Contains(text, "2 new, newest pager") {
		t.Errorf("told %q", text)
	}
	log.Records = append(log.Records, records("disk 3").Records...)
	examine(5)
	if cmd, wait := n.Notify(); cmd != nil || wait != 10*time.Second {
		t.Errorf("the next notification waits %v, not 10 s", wait)
	}
	n.SetFocused(true, 5)
	if n.Unread(9) != 0 {
		t.Error("unread while the operator looks")
	}
}

func TestGapsAreToldInTheChosenTimeZone(t *testing.T) {
	env := tuitest.Env()
	env.Times = cells.TimeUTC
	n := notify.New(env, func(string) string { return "" })
	if err := n.Read(`{"on":true,"by":"osc9","rules":[{"filter":""}]}`); err != nil {
		t.Fatal(err)
	}
	n.SetFocused(false, 0)
	hits, err := n.Due(1)(&tuitest.Log{Records: []event.Record{{Kind: event.KindGap, Server: "pager", Gap: &event.Gap{From: tuitest.Start}}}})
	if err != nil {
		t.Fatal(err)
	}
	n.Take(hits)
	cmd, _ := n.Notify()
	if text := fmt.Sprint(cmd().(tea.RawMsg).Msg); !strings.Contains(text, "gap from 14:03:05Z") {
		t.Errorf("told %q", text)
	}
}

// Edited settings are saved. Wrong ones change nothing, and are edited further.
func TestSettingsAreEdited(t *testing.T) {
	n := notify.New(tuitest.Env(), func(string) string { return "" })
	s, opened, kept := &tuitest.Screen{}, "", 0
	edit := func(to string) {
		s.Edit = func(text string) string { opened = text; return to }
		n.Edit(s, func() tea.Cmd { kept++; return nil })
	}
	if edit(`{"on":true,"rules":[{"filter":"disk"}]}`); !n.Settings.On || kept != 1 || s.Told != "notifications are on" {
		t.Errorf("%+v, kept %d times, told %q, %v", n.Settings, kept, s.Told, s.Failed)
	}
	if err := n.Read(opened); err != nil || n.Settings.On {
		t.Errorf("the settings to begin with: %s, %v", opened, err)
	}
	edit(`{"on":true,"rules":[{"filter":"disk"}]}`)
	for _, wrong := range []string{"{", `{"on":false,"rule":[]}`, `{"by":"horn"}`, `{"rules":[{"filter":"("}]}`, `{"rules":[{"filter":"(","off":true}]}`} {
		s.Failed = nil
		if edit(wrong); s.Failed == nil || !n.Settings.On || len(n.Settings.Rules) != 1 || kept != 2 {
			t.Errorf("%s: %v, settings %+v, kept %d times", wrong, s.Failed, n.Settings, kept)
		}
		if edit(wrong); opened != wrong {
			t.Errorf("to edit after %s: %s", wrong, opened)
		}
	}
	if edit(" \n"); n.Settings.On || kept != 3 || s.Told != "notifications are off" {
		t.Errorf("no text: %+v, kept %d times, told %q", n.Settings, kept, s.Told)
	}
}

// A pending decision notifies at once, without the interval, but only while the terminal has no
// focus and notifications are on.
func TestPendingDecisionNotifiesAtOnce(t *testing.T) {
	n := notify.New(tuitest.Env(), func(string) string { return "" })
	n.Settings = notify.Settings{On: true, By: notify.OSC9}
	if n.Waits("a run") != nil {
		t.Error("told while the operator looks")
	}
	n.SetFocused(false, 1)
	for range 2 {
		if cmd := n.Waits("a run"); cmd == nil || !strings.Contains(fmt.Sprint(cmd().(tea.RawMsg).Msg), "a run") {
			t.Error("a pending decision does not notify")
		}
	}
	if n.Settings.On = false; n.Waits("a run") != nil {
		t.Error("told while notifications are off")
	}
}
