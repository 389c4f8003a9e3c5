package persist_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eventdeck/host/config"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/persist"
)

// fixture is a screen with a settings file, and the settings that were applied.
type fixture struct {
	tuitest.Screen
	persist.UserFile
	path     string
	keys     int
	severity map[string]string
	split    layout.Split
	wrong    []string // problems of the keys
}

func newFixture(t *testing.T, text string) *fixture {
	d := &fixture{path: filepath.Join(t.TempDir(), "settings.json")}
	d.write(t, text)
	d.UserFile = persist.NewUserFile(&persist.Env{
		Screen: d, File: d.path,
		Keys:     func(chosen []config.KeyBinding) []string { d.keys = len(chosen); return d.wrong },
		Severity: func(at map[string]string) { d.severity = at },
		Split:    func(s layout.Split) { d.split = s },
	})
	return d
}

func (d *fixture) write(t *testing.T, text string) {
	if err := os.WriteFile(d.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsAreApplied(t *testing.T) {
	d := newFixture(t, `{"keys": {"zoom": ["Z"]}, "severity": {"pager/page": "/impact"}, "detail": "below"}`)
	d.Load()
	if d.keys != 1 || d.severity["pager/page"] != "/impact" || d.split != layout.Below || d.Bad != "" {
		t.Errorf("%d keys, severity %v, split %v, told %q", d.keys, d.severity, d.split, d.Bad)
	}
	if msg := d.Reload(false)(); msg != nil {
		t.Error("a file that did not change was read")
	}
	d.write(t, `{}`)
	tuitest.Run(d.Reload(false))
	if d.keys != 0 || len(d.severity) != 0 || d.split != layout.Auto || d.Told != "" {
		t.Errorf("%d keys, severity %v, split %v, told %q", d.keys, d.severity, d.split, d.Told)
	}
	if tuitest.Run(d.Reload(true)); d.Told != "settings are read from "+d.path {
		t.Errorf("told is %q", d.Told)
	}
}

func TestProblemsAreListed(t *testing.T) {
	d := newFixture(t, `{"severity": {"pager/page": "impact"}, "detail": "left"}`)
	d.wrong = []string{"settings.json:1:1: there is no action"}
	d.Load()
	all := strings.Join(d.Problems, "\n")
	for _, want := range []string{"no action", "JSON pointer", `"auto", "right" or "below"`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not told in\n%s", want, all)
		}
	}
	if !strings.HasSuffix(d.Bad, "(and 2 more problems: <settings.problems>)") {
		t.Errorf("told is %q", d.Bad)
	}
	if d.ShowProblems(); !strings.Contains(d.Text(100, 20), "no action") {
		t.Errorf("shown is\n%s", d.Text(100, 20))
	}
}

func TestLastGoodSettingsStay(t *testing.T) {
	d := newFixture(t, `{"keys": {"zoom": ["Z"]}}`)
	d.Load()
	d.write(t, `{"keys":`)
	if tuitest.Run(d.Reload(false)); d.keys != 1 || !strings.HasSuffix(d.Bad, "; the earlier settings stay in effect") {
		t.Errorf("%d keys, told %q", d.keys, d.Bad)
	}
	if msg := d.Reload(false)(); msg != nil {
		t.Error("the same problem is shown twice")
	}
	none := persist.NewUserFile(&persist.Env{Screen: d})
	if none.Reload(true); d.Told != "there is no file of settings on this system" {
		t.Errorf("told is %q", d.Told)
	}
}
