package tui

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/widget"
)

func TestNoTwoActionsShareAKey(t *testing.T) {
	for _, problem := range palette.Bind(open(t, incident(), 160, 45).actionRows(), nil) {
		t.Error(problem)
	}
	ids := map[string]bool{}
	for _, x := range open(t, incident(), 160, 45).actionRows() {
		if x.ID == "" || x.Title == "" || x.Group == "" || x.Run == nil || ids[x.ID] {
			t.Errorf("%q: a row that is not whole, or is there twice", x.ID)
		}
		ids[x.ID] = true
	}
}

func settingsOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestKeysAreBoundAndUnbound(t *testing.T) {
	file := settingsOf(t, `{"keys": {"subscribe": ["S"], "unsubscribe": [], "help": ["f1", "?"]}}`)
	a := openWith(t, incident(), Options{Settings: file, Theme: "none"})
	a.Edges.Status.Hush() // what it says of the settings takes the place of the hints
	if s := screenOf(a); !strings.Contains(s, " S subscribe") || strings.Contains(s, "unsubscribe") || !strings.Contains(s, "f1 help") {
		t.Errorf("hints do not show the operator's keys:\n%s", s)
	}
	press(t, a, "1", "j", "j", "j", "j", "D")
	if a.dialog != nil {
		t.Error("an unbound key works")
	}
	press(t, a, "s")
	if a.dialog != nil {
		t.Error("the former key works")
	}
	press(t, a, "S")
	if _, ok := a.dialog.(*form.Form); !ok {
		t.Errorf("the operator's key opens %T", a.dialog)
	}
}

// The detail shows changed keys at once, although its subject has not changed.
func TestDetailShowsChangedKeysAtOnce(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "2", "enter")
	if s := screenOf(a); !strings.Contains(s, " n to the ") {
		t.Fatalf("no places are noticed:\n%s", s)
	}
	a.o.Settings = settingsOf(t, `{"keys": {"match.next": ["f7"]}}`)
	a.settings = persist.NewUserFile(a.settingsEnv())
	a.settings.Load()
	if s := screenOf(a); !strings.Contains(s, " f7 to the ") {
		t.Errorf("the former key is named:\n%s", s)
	}
}

func TestConflictsAndUnknownNamesAreShown(t *testing.T) {
	file := settingsOf(t, "{\"keys\": {\n\"subscribe\": [\"z\"],\n\"subscrib\": [\"u\"],\n\"marks\": [\"z\", \"\"]}}")
	a := openWith(t, incident(), Options{Settings: file, Theme: "none"})
	all := strings.Join(a.settings.Problems, "\n")
	for _, want := range []string{
		"settings.json:3:1: there is no action \"subscrib\", did you mean \"subscribe\"?",
		`settings.json:2:1: z is the key of "subscribe", which takes it from "zoom" (built in)`,
		`settings.json:2:1: z is the key of "subscribe", which takes it from "marks" (` + file + ":4:1)",
		"a key is missing",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not told in\n%s", want, all)
		}
	}
	if !a.Edges.Status.Note.Bad {
		t.Error("nothing is told at the start")
	}
	if a.actions.Find("subscribe").Key() != "z" || a.actions.Find("zoom").Key() != "" {
		t.Errorf("subscribe has %q, zoom %q", a.actions.Find("subscribe").Key(), a.actions.Find("zoom").Key())
	}
	if _, err := a.actions.Execute("settings.problems"); err != nil || !strings.Contains(screenOf(a), "did you mean") {
		t.Errorf("%v\n%s", err, screenOf(a))
	}
	exact(t, a)
}

func TestChangedSettingsAreReloaded(t *testing.T) {
	file := settingsOf(t, `{}`)
	a := openWith(t, incident(), Options{Settings: file, Theme: "none"})
	if cmd := a.settings.Reload(false); cmd() != nil {
		t.Error("a file that did not change was read")
	}
	if err := os.WriteFile(file, []byte(`{"keys":{"zoom":["ctrl+o"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	settle(a, a.update(tea.FocusMsg{}))
	if a.actions.Find("zoom").Key() != "ctrl+o" {
		t.Errorf("zoom has %q", a.actions.Find("zoom").Key())
	}
	if err := os.WriteFile(file, []byte(`{"keys":`), 0o600); err != nil {
		t.Fatal(err)
	}
	settle(a, a.update(tea.FocusMsg{}))
	if a.actions.Find("zoom").Key() != "ctrl+o" || !a.Edges.Status.Note.Bad || !strings.Contains(a.Edges.Status.Note.Text, "settings.json:1:") {
		t.Errorf("after a mistake zoom has %q, told is %q", a.actions.Find("zoom").Key(), a.Edges.Status.Note.Text)
	}
	a.Edges.Status.Hush()
	settle(a, a.update(tea.FocusMsg{}))
	if a.Edges.Status.Note.Bad {
		t.Error("the same mistake is told twice")
	}
}

func TestReadOnly(t *testing.T) {
	h := incident()
	a := openWith(t, h, Options{ReadOnly: true, Theme: "none"})
	press(t, a, "1", "j", "j", "j", "j", "D")
	if a.dialog != nil || !strings.Contains(a.Edges.Status.Note.Text, "only reads") {
		t.Errorf("D opens %T and says %q", a.dialog, a.Edges.Status.Note.Text)
	}
	press(t, a, "P")
	if len(h.paused) > 0 {
		t.Error("paused")
	}
	for _, line := range []string{"sub incident.created", "unsubscribe"} {
		if _, err := a.actions.Execute(line); !errors.Is(err, palette.ErrReadOnly) {
			t.Errorf("%s: %v", line, err)
		}
	}
	press(t, a, "?")
	if s := screenOf(a); strings.Contains(s, "end the subscription") {
		t.Errorf("help offers what cannot be done:\n%s", s)
	}
	press(t, a, "esc", ":")
	word(t, a, "subscribe to")
	if d := a.dialog.(*palette.Palette); d.Chosen() != nil && d.Chosen().Keys == "s" {
		t.Error("the palette offers what cannot be done")
	}
}

func TestHelpFindsByTextAndByKey(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "?")
	all := len(a.dialog.(*palette.Help).Found)
	word(t, a, "zoom")
	if d := a.dialog.(*palette.Help); len(d.Found) == 0 || len(d.Found) >= all || d.Rows[d.Found[0]].ID != "zoom" {
		t.Errorf("%d of %d found", len(d.Found), all)
	}
	press(t, a, "enter")
	if a.panes.Size != layout.Full || a.dialog != nil {
		t.Error("enter did not run it")
	}
	press(t, a, "z", "?", "]")
	if d := a.dialog.(*palette.Help); d.Rows[d.Found[0]].ID != "problem.next" {
		t.Errorf("] finds %s", d.Rows[d.Found[0]].ID)
	}
	press(t, a, "esc", "ctrl+l")
	if d := a.dialog.(*palette.Help); d.Rows[d.Found[0]].ID != "redraw" {
		t.Errorf("ctrl+l finds %s", d.Rows[d.Found[0]].ID)
	}
	press(t, a, "esc", "esc")
	if a.dialog != nil {
		t.Error("esc does not leave")
	}
}

// TestHelpAndPaletteHoldWhatWorks is rule 6 of the acceptance list: the help has only actions that
// work now, and the palette finds every action by its name.
func TestHelpAndPaletteHoldWhatWorks(t *testing.T) {
	a := open(t, incident(), 120, 40)
	for _, keys := range [][]string{{"1"}, {"1", "j", "j", "j", "j"}, {"2"}, {"2", "g"}, {"3"}} {
		press(t, a, keys...)
		for _, x := range a.actions.Here() {
			if !a.actions.Works(x) {
				t.Errorf("after %v help lists %s", keys, x.ID)
			}
		}
		for i := range a.actions.Actions {
			x := &a.actions.Actions[i]
			if !a.actions.Works(x) || x.ID == "palette" {
				continue
			}
			p := widget.NewPicker(a.everything())
			p.Field.Set(x.Title)
			p.Search()
			if c := p.Chosen(); c == nil || c.Text.Plain() != cells.Sanitize(x.Title).Plain() {
				t.Errorf("after %v %q is not found by its name", keys, x.Title)
			}
		}
	}
}

// TestKeysOnOtherLayouts presses the key at the position of J on a Russian layout, also when the
// operator bound its letter.
func TestKeysOnOtherLayouts(t *testing.T) {
	a := open(t, incident(), 120, 40)
	press(t, a, "2", "g")
	at := a.stream.At
	settle(a, a.key(tea.KeyPressMsg{Code: 'о', Text: "о", BaseCode: 'j'}))
	if a.stream.At == at {
		t.Error("the place of j does nothing")
	}
	settle(a, a.key(tea.KeyPressMsg{Code: 'п', Text: "П", BaseCode: 'g', Mod: tea.ModShift}))
	if !a.stream.Follow {
		t.Error("shift and the place of g do nothing")
	}
	a.actions.Find("zoom").Keys = []string{"о"}
	settle(a, a.key(tea.KeyPressMsg{Code: 'о', Text: "о", BaseCode: 'j'}))
	if a.panes.Size != layout.Full {
		t.Error("the operator's letter does nothing")
	}
}
