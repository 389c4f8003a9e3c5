package persist_test

import (
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"eventdeck/themes"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/persist"
)

// chooser is a screen with a selector.
type chooser struct {
	tuitest.Screen
	persist.Selector
	shown themes.Theme
	kept  string
}

func newChooser(dir, name string, noColours bool) (*chooser, error) {
	d := &chooser{}
	env := tuitest.Env()
	d.Selector = persist.NewSelector(&persist.Env{
		Env: env, Screen: &d.Screen, ThemeDir: dir,
		Apply: func(t themes.Theme) { d.shown, env.Theme = t, t },
		Keep:  func(name, _ string) tea.Cmd { d.kept = name; return nil },
	}, name, noColours)
	return d, d.Start()
}

func TestTerminalDecidesUntilAThemeIsChosen(t *testing.T) {
	d, err := newChooser("", "", false)
	if err != nil || d.shown.Name != "dark" {
		t.Fatalf("begins with %q: %v", d.shown.Name, err)
	}
	if d.Detect(tea.BackgroundColorMsg{Color: color.White}); d.shown.Name != "light" {
		t.Errorf("on white it is %q", d.shown.Name)
	}
	if d.Detect(tea.ColorProfileMsg{Profile: colorprofile.ANSI}); strings.Contains(d.shown.On(themes.Bad), "38;2") {
		t.Errorf("with sixteen colours: %q", d.shown.On(themes.Bad))
	}
	if _, err := d.Use("contrast-light"); err != nil || d.shown.Name != "contrast-light" || d.kept != "contrast-light" {
		t.Errorf("shown is %q, kept %q: %v", d.shown.Name, d.kept, err)
	}
	if d.Detect(tea.BackgroundColorMsg{Color: color.Black}); d.shown.Name != "contrast-light" {
		t.Error("the background replaced the chosen theme")
	}
	if _, err := d.Use("embers"); !errors.Is(err, persist.ErrNoTheme) {
		t.Error(err)
	}
}

func TestUnknownThemeIsAnError(t *testing.T) {
	if d, err := newChooser("", "nowhere", false); !errors.Is(err, persist.ErrNoTheme) || d.shown.Name == "" {
		t.Errorf("shown is %q: %v", d.shown.Name, err)
	}
}

func TestPickerPreviewsSavesAndRestores(t *testing.T) {
	d, _ := newChooser("", "", false)
	before := d.shown.Name
	d.Open()
	if d.Press("j", "j"); d.shown.Name == before || !strings.Contains(d.Text(62, 20), d.shown.Name) {
		t.Errorf("the chosen theme %q is not shown:\n%s", d.shown.Name, d.Text(62, 20))
	}
	if d.Detect(tea.BackgroundColorMsg{Color: color.White}); d.shown.Name == before {
		t.Error("the background replaces the theme under the cursor")
	}
	if d.Press("esc"); d.shown.Name != before || d.kept != "" || d.Dialog != nil {
		t.Errorf("esc leaves %q, kept %q", d.shown.Name, d.kept)
	}
	d.Open()
	if d.Press("G", "k", "enter"); d.kept == "" || d.shown.Name != d.kept || d.Dialog != nil {
		t.Errorf("enter leaves %q, kept %q", d.shown.Name, d.kept)
	}
}

func TestOperatorThemesAreReloaded(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "mine.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"base": "dark"}`)
	d, err := newChooser(dir, "mine", false)
	if err != nil || d.shown.Name != "mine" || d.Names()[0] != "mine" || !d.HasDir() {
		t.Fatalf("shown is %q of %q: %v", d.shown.Name, d.Names(), err)
	}
	write(`{"base": "dark", "roles": {"typ": {}}}`)
	tuitest.Run(d.Reload(false))
	if d.Failed == nil || slices.Contains(d.Names(), "mine") {
		t.Errorf("told is %v of %q", d.Failed, d.Names())
	}
	d.Failed = nil
	if tuitest.Run(d.Reload(false)); d.Failed != nil {
		t.Error("the same error is shown twice")
	}
	if tuitest.Run(d.Reload(true)); d.Failed == nil {
		t.Error("the error is not shown to an operator who asked")
	}
	write(`{"base": "light"}`)
	if tuitest.Run(d.Reload(true)); !strings.HasPrefix(d.Told, "read 1 theme from ") {
		t.Errorf("told is %q", d.Told)
	}
}
