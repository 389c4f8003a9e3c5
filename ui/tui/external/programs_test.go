package external

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/widget"
)

// environment looks variables up in NAME=value pairs.
func environment(pairs []string) func(string) string {
	return func(name string) string {
		for _, p := range pairs {
			if v, ok := strings.CutPrefix(p, name+"="); ok {
				return v
			}
		}
		return ""
	}
}

func TestProgramsAreFoundByTheEnvironment(t *testing.T) {
	find := func(name string) (string, error) {
		if name == "vi" || name == "more" {
			return "/bin/" + name, nil
		}
		return "", os.ErrNotExist
	}
	env := func(pairs ...string) func(string) string { return environment(pairs) }
	for _, c := range []struct {
		p    Program
		env  func(string) string
		want []string
	}{
		{Pager, env(), []string{"/bin/more"}}, {Pager, env("PAGER=less -R"), []string{"less", "-R"}},
		{Editor, env("EDITOR=ed", "VISUAL='my code' --wait"), []string{"my code", "--wait"}}, {Editor, env(), []string{"/bin/vi"}},
	} {
		if got, err := c.p.line("linux", c.env, find); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %v; want %v", got, err, c.want)
		}
	}
	if got, err := Editor.line("windows", env(`EDITOR=C:\Tools\edit.exe -w`), find); err != nil || !slices.Equal(got, []string{`C:\Tools\edit.exe`, "-w"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Pager.line("linux", env(), func(string) (string, error) { return "", os.ErrNotExist }); !errors.Is(err, errNoProgram) {
		t.Errorf("%v", err)
	}
}

func TestClipboardOfTheSystem(t *testing.T) {
	find := func(have ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(have, name) {
				return "/bin/" + name, nil
			}
			return "", os.ErrNotExist
		}
	}
	for _, c := range []struct {
		system string
		env    []string
		have   []string
		want   string
	}{
		{"linux", nil, []string{"xclip"}, ""}, {"linux", []string{"DISPLAY=:0"}, []string{"xsel"}, "/bin/xsel"},
		{"linux", []string{"DISPLAY=:0", "WAYLAND_DISPLAY=w"}, []string{"xclip", "wl-copy"}, "/bin/wl-copy"},
		{"linux", []string{"DISPLAY=:0", "SSH_TTY=/dev/pts/1"}, []string{"xclip"}, ""},
		{"darwin", nil, []string{"pbcopy"}, "/bin/pbcopy"}, {"linux", []string{"WSL_DISTRO_NAME=x"}, []string{"clip.exe"}, "/bin/clip.exe"},
	} {
		if got := clipboardFor(c.system, environment(c.env), find(c.have...)); got.name != c.want {
			t.Errorf("%s %v: %q, want %q", c.system, c.env, got.name, c.want)
		}
	}
	if got := utf16LE("é"); string(got) != "\xff\xfe\xe9\x00" {
		t.Errorf("% x", got)
	}
	if err := (clipboard{name: filepath.Join(t.TempDir(), "none")}).set(t.Context(), "x"); err == nil {
		t.Error("a program that is not there took the text")
	}
}

// An error names the requested file, not the temporary one.
func TestExportErrorNamesTheRequestedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "day.csv")
	_, err := createPrivate(path, false)
	if err == nil || !strings.HasPrefix(err.Error(), "cannot create "+path+": ") || strings.Contains(err.Error(), ".eventdeck") {
		t.Error(err)
	}
}

// screen keeps the last failure.
type screen struct {
	widget.Screen
	failed error
}

func (s *screen) Fail(_ string, err error) { s.failed = err }

func TestEditorFileIsReadAndRemoved(t *testing.T) {
	var s screen
	x := New(&s, environment(nil), nil)
	file, err := writeTemp([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	var got string
	then := func(text string) tea.Cmd { got = text; return nil }
	x.readBack(file, nil, then)()
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) || got != "{}" || s.failed != nil {
		t.Errorf("the file: %v, passed on: %q, told: %v", err, got, s.failed)
	}
	if x.readBack(file, nil, then)(); s.failed == nil {
		t.Error("a file that is gone is not told")
	}
	failed := errors.New("exit status 1")
	got = ""
	if x.readBack(file, failed, then)(); got != "" || !errors.Is(s.failed, failed) {
		t.Errorf("after a failure: passed on %q, told %v", got, s.failed)
	}
}

func TestTildeIsTheHomeDirectory(t *testing.T) {
	home := ""
	x := New(nil, func(name string) string { return home }, nil)
	if got := x.Home("~/a"); got != "~/a" {
		t.Errorf("without a home: %q", got)
	}
	home = "/home/op"
	if got := x.Home("~/a"); got != filepath.Join(home, "a") || x.Home("b~/a") != "b~/a" || x.Getenv("HOME") != home {
		t.Errorf("~/a is %q", got)
	}
}
