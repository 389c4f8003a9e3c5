package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
)

func TestSelectAndCopy(t *testing.T) {
	h := incident()
	a := open(t, h, 120, 40)
	copied := func(keys ...string) string {
		t.Helper()
		press(t, a, keys[:len(keys)-1]...)
		cmd := a.key(tea.KeyPressMsg{Code: rune(keys[len(keys)-1][0]), Text: keys[len(keys)-1]})
		if cmd == nil {
			return ""
		}
		return fmt.Sprint(cmd())
	}
	press(t, a, "2", "g")
	if s := copied("y", "k"); s != "eventdeck tail pager incident.created --mode push" {
		t.Errorf("the command is %q", s)
	}
	if s := copied("y", "l"); !strings.HasPrefix(s, "2026-03-14 14:03:05.300  pager  incident.created  p99 latency") {
		t.Errorf("the row is %q", s)
	}
	if s := copied("y", "c"); s != "" || !strings.Contains(screenOf(a), "no cursor") {
		t.Errorf("the cursor is %q", s)
	}
	press(t, a, "v", "j")
	exact(t, a)
	if s := copied("y", "i"); s != "evt_1\nevt_2" {
		t.Errorf("the ids are %q", s)
	}
	h.event("pager", "incident.created", "later")
	arrive(a)
	if first, last := a.stream.Ends(); first != 1 || last != 2 {
		t.Errorf("an arrival moved the range to %d to %d", first, last)
	}
	press(t, a, "esc")
	if a.stream.Selected.On {
		t.Error("esc keeps the range")
	}
}

func TestProgramsOfTheOperator(t *testing.T) {
	find := func(name string) (string, error) {
		if name == "vi" || name == "more" {
			return "/bin/" + name, nil
		}
		return "", os.ErrNotExist
	}
	env := func(pairs ...string) func(string) string { return environment(pairs) }
	for _, c := range []struct {
		p    program
		env  func(string) string
		want []string
	}{
		{pager, env(), []string{"/bin/more"}}, {pager, env("PAGER=less -R"), []string{"less", "-R"}},
		{editorProgram, env("EDITOR=ed", "VISUAL='my code' --wait"), []string{"my code", "--wait"}}, {editorProgram, env(), []string{"/bin/vi"}},
	} {
		if got, err := c.p.words("linux", c.env, find); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v, %v; want %v", got, err, c.want)
		}
	}
	if got, err := editorProgram.words("windows", env(`EDITOR=C:\Tools\edit.exe -w`), find); err != nil || !slices.Equal(got, []string{`C:\Tools\edit.exe`, "-w"}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := pager.words("linux", env(), func(string) (string, error) { return "", os.ErrNotExist }); !errors.Is(err, errNoProgram) {
		t.Errorf("%v", err)
	}
}

func TestReadableActsOnNoTerminal(t *testing.T) {
	for _, c := range hostileCases(t) {
		raw := c.raw()
		if len(raw) > 1<<16 {
			continue
		}
		r := event.Record{Data: raw}
		text := string(readable(&r))
		for _, x := range text {
			if x != '\n' && (x < 0x20 || x >= 0x7f && x < 0xa0 || x == 0x202e || x == 0x2028) {
				t.Errorf("%s: %U reaches the pager", c.ID, x)
			}
		}
	}
	file, err := writeTemp([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
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
