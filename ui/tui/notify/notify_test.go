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
	"eventdeck/ui/tui/widget"
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
type records []string

func (l records) After(seq uint64, fn func(event.Record) bool) error {
	for i := int(seq); i < len(l); i++ {
		if !fn(event.Record{Seq: uint64(i) + 1, Kind: event.KindEvent, Server: "pager", Data: fmt.Appendf(nil, `{"title":%q}`, l[i])}) {
			return nil
		}
	}
	return nil
}

func TestDisabledRulesDoNotNotify(t *testing.T) {
	now := time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)
	env := &cells.Env{Now: func() time.Time { return now }, Glyphs: &cells.UnicodeGlyphs}
	n := notify.New(env, func(string) string { return "" })
	if err := n.Read(`{"on":true,"by":"osc9","rules":[{"filter":"disk"},{"filter":"load","off":true},{"filter":"("}]}`); err == nil || !strings.Contains(err.Error(), "notification rule (") {
		t.Errorf("the rule that cannot be parsed: %v", err)
	}
	log := records{"disk 0", "load", "disk 1", "disk 2"}
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
	log = append(log, "disk 3")
	examine(5)
	if cmd, wait := n.Notify(); cmd != nil || wait != 10*time.Second {
		t.Errorf("the next notification waits %v, not 10 s", wait)
	}
	n.SetFocused(true, 5)
	if n.Unread(9) != 0 {
		t.Error("unread while the operator looks")
	}
}

// gapLog is a log of one gap.
type gapLog struct{ gap event.Gap }

func (l gapLog) After(_ uint64, fn func(event.Record) bool) error {
	fn(event.Record{Seq: 1, Kind: event.KindGap, Server: "pager", Gap: &l.gap})
	return nil
}

func TestGapsAreToldInTheChosenTimeZone(t *testing.T) {
	env := tuitest.Env()
	env.Times = cells.TimeUTC
	n := notify.New(env, func(string) string { return "" })
	if err := n.Read(`{"on":true,"by":"osc9","rules":[{"filter":""}]}`); err != nil {
		t.Fatal(err)
	}
	n.SetFocused(false, 0)
	hits, err := n.Due(1)(gapLog{event.Gap{From: tuitest.Start}})
	if err != nil {
		t.Fatal(err)
	}
	n.Take(hits)
	cmd, _ := n.Notify()
	if text := fmt.Sprint(cmd().(tea.RawMsg).Msg); !strings.Contains(text, "gap from 14:03:05Z") {
		t.Errorf("told %q", text)
	}
}

// Every change of a rule is saved at once, except for a filter that cannot be parsed.
func TestRulesAreEdited(t *testing.T) {
	s := &tuitest.Screen{}
	n := notify.New(tuitest.Env(), func(string) string { return "" })
	kept := 0
	notify.Open(s, &n, func() tea.Cmd { kept++; return nil })
	if text := s.Text(66, 9); !strings.Contains(text, "none yet") {
		t.Errorf("without a rule:\n%s", text)
	}
	s.Press("o") // the first rule is asked for
	s.Press("(", "enter")
	if text := s.Text(66, 9); kept != 1 || strings.Contains(text, "Rules: filters") {
		t.Errorf("kept %d times, and nothing says what is wrong:\n%s", kept, text)
	}
	s.Press("backspace")
	s.Dialog.(widget.Paster).Paste("disk")
	s.Press("enter")
	if len(n.Settings.Rules) != 1 || n.Settings.Rules[0].Filter != "disk" || !n.Settings.On || kept != 2 {
		t.Fatalf("%+v, kept %d times", n.Settings, kept)
	}
	s.Press("a", "x", "esc")
	if len(n.Settings.Rules) != 1 {
		t.Errorf("esc keeps a new rule: %+v", n.Settings.Rules)
	}
	s.Press("a", "x", "enter", "k", "enter", "y", "esc", "space")
	if r := n.Settings.Rules; len(r) != 2 || r[0] != (notify.Rule{Filter: "disk", Off: true}) || r[1] != (notify.Rule{Filter: "x"}) {
		t.Errorf("rules %+v", r)
	}
	s.Press("j", "D", "delete", "D", "space", "enter", "m")
	if len(n.Settings.Rules) != 0 || n.Settings.By != notify.Bell {
		t.Errorf("%+v", n.Settings)
	}
	for range notify.Alerts {
		s.Press("m")
	}
	if n.Settings.By != "" {
		t.Errorf("the last alert is followed by %q, not by what the terminal suggests", n.Settings.By)
	}
	if s.Press("esc"); s.Dialog != nil {
		t.Error("esc leaves it open")
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
