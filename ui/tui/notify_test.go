package tui

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"go.uber.org/goleak"

	"eventdeck/ui/internal/screen"
	"eventdeck/ui/tui/persist"
)

// hostileTexts are payload texts that try to control the terminal.
var hostileTexts = []string{
	"\x1b]0;owned\a", "\x1b\\\x1b[2J", "\a\a\a", "\x9b31m", "\u009b2J", "\u009c", "\x1bP1;2|17/ab\x1b\\",
	"a;b;c", "\u202evil", "line\nbreak\rreturn", "\x00\x07\x1b", "日本語 \U000e0041 👩‍👩‍👧", strings.Repeat("long ", 500), "\xff\xfe",
}

// raws runs a command and returns what it writes to the terminal.
func raws(cmd tea.Cmd) (out []string) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			out = append(out, raws(c)...)
		}
	case tea.RawMsg:
		out = append(out, fmt.Sprint(msg.Msg))
	}
	return out
}

func TestNotificationsOnlyWhileAway(t *testing.T) {
	h := incident()
	h.settings = map[string]string{persist.Notify: `{"on":true,"by":"osc9","rules":[{"filter":"disk"},{"filter":"load","off":true}]}`}
	now := start
	ctx, cancel := context.WithCancel(t.Context())
	a := newApp(ctx, Options{API: h, Env: quiet, Now: func() time.Time { return now }})
	a.update(tea.WindowSizeMsg{Width: 80, Height: 24})
	tells := func(titles ...string) []string {
		for _, s := range titles {
			h.event("pager", "incident.created", s)
		}
		arrive(a)
		settle(a, a.notifyOperator())
		return raws(a.notifyOperator())
	}
	if got := tells("disk full"); len(got) > 0 {
		t.Errorf("told while the operator looks: %q", got)
	}
	a.update(tea.BlurMsg{})
	if got := tells("cpu", "load"); len(got) > 0 {
		t.Errorf("told what no rule asks for: %q", got)
	}
	got := tells("the disk \x1b]0;owned\a is full")
	if len(got) != 1 || !strings.Contains(got[0], "pager incident.created: ") || strings.Contains(got[0], "\x1b]0") {
		t.Fatalf("told %q", got)
	}
	if title := a.View().WindowTitle; title != "(3) eventdeck" {
		t.Errorf("the title is %q", title)
	}
	now = now.Add(3 * time.Second)
	cancel() // what waits for the rest of the ten seconds ends at once
	if got := tells("disk 2", "disk 3"); len(got) > 0 {
		t.Errorf("told again after 3 s: %q", got)
	}
	a.update(notifyMsg{})
	now = now.Add(8 * time.Second)
	if got := tells("disk 4"); len(got) != 1 || !strings.Contains(got[0], "3 new, newest ") {
		t.Errorf("told %q", got)
	}
	a.update(tea.FocusMsg{})
	if got := tells("disk 5"); len(got) > 0 || a.View().WindowTitle != "eventdeck" {
		t.Errorf("told after the focus came back: %q", got)
	}
}

// The raw output has the notification, without the sequences of the payload.
func TestHostileNotificationOnTheRawOutput(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h := incident()
	h.settings = map[string]string{persist.Notify: `{"on":true,"by":"osc777","rules":[{"filter":""}]}`}
	s := screen.New(100, 30, true)
	in, keys := io.Pipe()
	raw := &recorder{to: s}
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{API: h, Session: "on\x1b]0;x\acall", Input: in, Output: raw, Theme: "dark", Env: quiet, Program: []tea.ProgramOption{
			tea.WithWindowSize(100, 30), tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignals(),
		}})
	}()
	if err := s.Wait(ctx, "pool exhausted"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(keys, "\x1b[O2z"); err != nil { // the focus goes
		t.Fatal(err)
	}
	if err := s.Until(ctx, "the stream alone", func(text string) bool { return !strings.Contains(text, "1 Servers") }); err != nil {
		t.Fatal(err)
	}
	for _, text := range hostileTexts {
		h.event("pager", "incident.created", text)
	}
	h.touch()
	if err := raw.until(ctx, "777;notify;eventdeck;"); err != nil {
		t.Fatal(err)
	}
	title := s.Title()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	keys.Close()
	if strings.Contains(title, "owned") || !strings.Contains(title, "eventdeck: on") {
		t.Errorf("the title is %q", title)
	}
	if out := raw.text(); strings.Contains(out, "\x1b]0;owned") || strings.Contains(out, "\u202e") || strings.Contains(out, "\u009b") {
		t.Error("a sequence of a payload got out")
	}
}
