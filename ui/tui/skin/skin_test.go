package skin_test

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
	"eventdeck/ui/tui/skin"
)

// dressed is a screen with a skin.
type dressed struct {
	tuitest.Screen
	skin.Skin
	worn themes.Theme
	kept string
}

func dress(dir, name string, noColours bool) (*dressed, error) {
	d := &dressed{}
	env := tuitest.Env()
	d.Skin = skin.New(skin.Env{
		Env: env, Screen: &d.Screen, Dir: dir,
		Wear: func(t themes.Theme) { d.worn, env.Theme = t, t },
		Keep: func(name, _ string) tea.Cmd { d.kept = name; return nil },
	}, name, noColours)
	return d, d.Begin()
}

func TestTheTerminalDecidesUntilAThemeIsChosen(t *testing.T) {
	d, err := dress("", "", false)
	if err != nil || d.worn.Name != "dark" {
		t.Fatalf("begins with %q: %v", d.worn.Name, err)
	}
	if d.TerminalSays(tea.BackgroundColorMsg{Color: color.White}); d.worn.Name != "light" {
		t.Errorf("on white it is %q", d.worn.Name)
	}
	if d.TerminalSays(tea.ColorProfileMsg{Profile: colorprofile.ANSI}); strings.Contains(d.worn.On(themes.Bad), "38;2") {
		t.Errorf("with sixteen colours: %q", d.worn.On(themes.Bad))
	}
	if _, err := d.Use("ember"); err != nil || d.worn.Name != "ember" || d.kept != "ember" {
		t.Errorf("worn is %q, kept %q: %v", d.worn.Name, d.kept, err)
	}
	if d.TerminalSays(tea.BackgroundColorMsg{Color: color.Black}); d.worn.Name != "ember" {
		t.Error("the background replaced the theme that was chosen")
	}
	if _, err := d.Use("embers"); !errors.Is(err, skin.ErrNoTheme) {
		t.Error(err)
	}
}

func TestAChosenThemeThatIsNotThere(t *testing.T) {
	if d, err := dress("", "nowhere", false); !errors.Is(err, skin.ErrNoTheme) || d.worn.Name == "" {
		t.Errorf("worn is %q: %v", d.worn.Name, err)
	}
}

func TestThePickerShowsKeepsAndRestores(t *testing.T) {
	d, _ := dress("", "", false)
	before := d.worn.Name
	d.Open()
	if d.Press("j", "j"); d.worn.Name == before || !strings.Contains(d.Text(62, 20), d.worn.Name) {
		t.Errorf("the chosen theme %q is not shown:\n%s", d.worn.Name, d.Text(62, 20))
	}
	if d.TerminalSays(tea.BackgroundColorMsg{Color: color.White}); d.worn.Name == before {
		t.Error("the background takes the choice away")
	}
	if d.Press("esc"); d.worn.Name != before || d.kept != "" || d.Dialog != nil {
		t.Errorf("esc leaves %q, kept %q", d.worn.Name, d.kept)
	}
	d.Open()
	if d.Press("G", "k", "enter"); d.kept == "" || d.worn.Name != d.kept || d.Dialog != nil {
		t.Errorf("enter leaves %q, kept %q", d.worn.Name, d.kept)
	}
}

func TestTheOperatorsThemesAreReadAgain(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "mine.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"base": "dark"}`)
	d, err := dress(dir, "mine", false)
	if err != nil || d.worn.Name != "mine" || d.Names()[0] != "mine" || !d.HasDir() {
		t.Fatalf("worn is %q of %q: %v", d.worn.Name, d.Names(), err)
	}
	write(`{"base": "dark", "roles": {"typ": {}}}`)
	tuitest.Run(d.Reload(false))
	if d.Failed == nil || slices.Contains(d.Names(), "mine") {
		t.Errorf("told is %v of %q", d.Failed, d.Names())
	}
	d.Failed = nil
	if tuitest.Run(d.Reload(false)); d.Failed != nil {
		t.Error("the same mistake is told twice")
	}
	if tuitest.Run(d.Reload(true)); d.Failed == nil {
		t.Error("asked for, the mistake is not told")
	}
	write(`{"base": "light"}`)
	if tuitest.Run(d.Reload(true)); !strings.HasPrefix(d.Told, "read 1 theme from ") {
		t.Errorf("told is %q", d.Told)
	}
}
