package tui

import (
	"context"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/persist"
)

func openWith(t testing.TB, h *fakeHost, o Options) *app {
	t.Helper()
	o.API = h
	if o.Now == nil {
		o.Now = func() time.Time { return start }
	}
	if o.Env == nil {
		o.Env = quiet
	}
	a := newApp(context.Background(), o)
	a.update(tea.WindowSizeMsg{Width: 120, Height: 40})
	return a
}

func TestPickerPreviewsSavesAndRestores(t *testing.T) {
	h := incident()
	a := openWith(t, h, Options{})
	press(t, a, "T", "j", "j")
	if a.Theme.Name == "dark" {
		t.Error("the screen does not show the chosen theme")
	}
	exact(t, a)
	press(t, a, "esc")
	if a.Theme.Name != "dark" || len(h.settings) > 0 {
		t.Errorf("esc leaves %s, kept %v", a.Theme.Name, h.settings)
	}
	press(t, a, "T", "j", "j", "enter")
	if a.Theme.Name != "contrast-dark" || h.settings[persist.Theme] != "contrast-dark" {
		t.Errorf("enter leaves %s, kept %v", a.Theme.Name, h.settings)
	}
	a.update(tea.BackgroundColorMsg{Color: color.White})
	if a.Theme.Name != "contrast-dark" {
		t.Error("the background replaced the theme that was chosen")
	}
	if again := openWith(t, h, Options{}); again.Theme.Name != "contrast-dark" {
		t.Errorf("the next run begins with %s", again.Theme.Name)
	}
	if again := openWith(t, h, Options{Theme: "contrast-light"}); again.Theme.Name != "contrast-light" {
		t.Errorf("the command line asks for contrast-light and gets %s", again.Theme.Name)
	}
	if again := openWith(t, h, Options{NoColor: true}); again.Theme.Name != "none" {
		t.Errorf("without colours: %s", again.Theme.Name)
	}
}

func TestTerminalChoosesTheTheme(t *testing.T) {
	a := openWith(t, incident(), Options{})
	a.update(tea.BackgroundColorMsg{Color: color.White})
	if a.Theme.Name != "light" {
		t.Errorf("on white: %s", a.Theme.Name)
	}
	a.update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
	if a.Theme.Name != "ansi16-light" {
		t.Errorf("with sixteen colours: %s", a.Theme.Name)
	}
}

func TestOperatorThemesAreReloaded(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"base": "dark"}`)
	h := incident()
	h.settings = map[string]string{persist.Theme: "mine"}
	a := openWith(t, h, Options{ThemeDir: dir})
	before := a.draw()
	if a.Theme.Name != "mine" {
		t.Fatalf("the kept theme is not in use, but %s", a.Theme.Name)
	}
	write(`{"base": "dark", "roles": {"type": {"text": "#010203"}}}`)
	a.update(tea.BlurMsg{})
	settle(a, a.update(tea.FocusMsg{}))
	if got := a.draw(); got == before || !strings.Contains(got, "38;2;1;2;3") {
		t.Error("focus does not read the theme again")
	}
	write(`{"base": "dark", "roles": {"typ": {}}}`)
	settle(a, a.update(tea.FocusMsg{}))
	if s := screenOf(a); !strings.Contains(s, "mine.json") || !strings.Contains(s, `"typ"; the roles are`) {
		t.Errorf("a broken file is not told:\n%s", s)
	}
	a.Edges.Status.Hush()
	settle(a, a.update(tea.FocusMsg{}))
	if a.Edges.Status.Note.Text != "" {
		t.Error("the same error is told at every focus")
	}
	press(t, a, "T", "r")
	if !a.Edges.Status.Note.Bad {
		t.Error("asked for, the error is not told")
	}
}

func TestGlyphsAreChosen(t *testing.T) {
	h := incident()
	if a := openWith(t, h, Options{Env: append(quiet, "EVENTDECK_GLYPHS=ascii")}); a.Glyphs != &cells.ASCIIGlyphs {
		t.Error("the environment does not choose")
	}
	a := openWith(t, h, Options{})
	settle(a, a.actions.Find("glyphs").Run())
	if a.Glyphs != &cells.ASCIIGlyphs || openWith(t, h, Options{}).Glyphs != &cells.ASCIIGlyphs {
		t.Error("what was chosen is not kept")
	}
	if a := openWith(t, h, Options{Glyphs: "unicode"}); a.Glyphs != &cells.UnicodeGlyphs {
		t.Error("the command line does not come first")
	}
}

// Without colours and with ASCII glyphs all states of subscriptions and servers look different.
func TestStatesWithoutColour(t *testing.T) {
	all := []event.State{event.StateStarting, event.StateVerifying, event.StateLive, event.StateStale, event.StatePolling, event.StateDraining,
		event.StateBackoff, event.StateRefreshing, event.StateSuspended, event.StateDenied, event.StateEnded, event.StatePaused, event.StateResumed}
	seen := map[string]event.State{}
	for _, s := range all {
		h := incident()
		h.snap.Subs[0].Status.State = s
		a := open(t, h, 80, 24)
		a.Glyphs = &cells.ASCIIGlyphs
		var c cells.Canvas
		c.Begin(&a.Theme, 34)
		a.tree.DrawSub(&c, &a.snap.Subs[0])
		c.End()
		row := ansi.Strip(c.Top())
		if !strings.Contains(row, string(s)) || seen[row] != "" {
			t.Errorf("%s and %s look alike: %q", s, seen[row], row)
		}
		seen[row] = s
	}
	words := map[string]bool{}
	for _, r := range []host.Reach{host.ReachConnecting, host.ReachReady, host.ReachBackoff, host.ReachRefused} {
		words[evidence.Reach(host.ServerView{Reach: r, NextTry: start.Add(time.Second)}, start)] = true
	}
	if len(words) != 4 {
		t.Errorf("states of servers look alike: %v", words)
	}
	signs := map[string]bool{}
	for _, s := range evidence.Severities[evidence.Info:] {
		signs[s.Sign] = true
	}
	if len(signs) != 3 {
		t.Errorf("severities look alike: %v", signs)
	}
}
