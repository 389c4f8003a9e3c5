package tui

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"

	"eventdeck/ui/internal/screen"
)

// TestProgram drives the real program through a terminal: start, an arriving
// event, the subscribe form, quit.
func TestProgram(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	h := incident()
	s := screen.New(120, 40, true)
	in, keys := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{API: h, Input: in, Output: s, Theme: "dark", Env: quiet, Now: func() time.Time { return start }, Program: []tea.ProgramOption{
			tea.WithWindowSize(120, 40), tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignals(),
		}})
	}()
	see := func(text string) {
		t.Helper()
		if err := s.Wait(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	typed := func(k string) {
		t.Helper()
		if _, err := io.WriteString(keys, k); err != nil {
			t.Fatal(err)
		}
	}
	see("pool exhausted")
	see("push resumed, from the saved")
	see("untrusted data from pager")
	h.event("pager", "incident.created", "rollback \x1b[2J\x1b]0;owned\a begins")
	h.touch()
	see("rollback")
	typed("1jjjjs")
	see("eventdeck tail pager incident.created")
	typed("\x13")
	see("subscribed to pager incident.created")
	if file := os.Getenv("EVENTDECK_PICTURE"); file != "" {
		if err := os.WriteFile(file, []byte(s.SVG(screen.Dark())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	typed("q")
	see("1 webhook subscription goes on")
	typed("k")
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	case <-ctx.Done():
		t.Fatal("the program did not end")
	}
	keys.Close()
	if s.Alternate() || s.CursorHidden() || strings.Contains(s.Title(), "owned") {
		t.Errorf("alternate %v, cursor hidden %v, title %q", s.Alternate(), s.CursorHidden(), s.Title())
	}
}

// The renderer turns mode 2027 off when the screen gives the terminal away, and on at the terminal's
// answer alone.
func TestClustersAreMeasuredAgainAfterResume(t *testing.T) {
	a := open(t, incident(), 120, 40)
	if cmd := a.update(tea.ResumeMsg{}); cmd != nil {
		t.Errorf("a terminal that did not answer gets %v", cmd())
	}
	answer := tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset}
	a.update(answer)
	if cmd := a.update(tea.ResumeMsg{}); cmd == nil || cmd() != tea.Msg(answer) {
		t.Error("the answer is forgotten")
	}
}
