package themes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	th, err := Parse("mine", []byte(`{"base": "dark", "about": "mine", "roles": {
		"good": {"text": "#00ff00", "background": "bright-black", "attributes": ["bold", "underline"]},
		"plain": {"text": "default"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := th.On(Good); got != "\x1b[0;1;4;38;2;0;255;0;100m" {
		t.Errorf("good is %q", got)
	}
	if th.Name != "mine" || th.On(Plain) != Reset || th.Suits != DarkBackground {
		t.Errorf("%+v", th)
	}
	base, _ := Named("dark")
	if th.On(Bad) != base.On(Bad) {
		t.Error("a role that is not in the file is not the one of the base")
	}
}

func TestParseNamesRoleAndRemedy(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{`{"base": "plaid"}`, "name one of dark, light"},
		{`{}`, "base is \"\""},
		{`[]`, "not a theme"},
		{`{"base": "dark", "rules": {}}`, "base, about and roles"},
		{`{"base": "dark"} x`, "closing brace"},
		{`{"base": "dark", "roles": {"goood": {}}}`, `no role "goood"`},
		{`{"base": "dark", "roles": {"good": {"text": "#12"}}}`, "role good: text is \"#12\"; write #rrggbb"},
		{`{"base": "dark", "roles": {"good": {"background": "puce"}}}`, "role good: background"},
		{`{"base": "dark", "roles": {"good": {"attributes": ["blink"]}}}`, `no attribute "blink"`},
		{`{"base": "dark", "roles": {"cursor": {"text": "#d5d9e0"}}}`, "role cursor looks like plain text"},
		{`{"base": "dark", "roles": {"mark": {"text": "#ff0000"}}}`, "underline"},
	} {
		if _, err := Parse("mine", []byte(c.raw)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.raw, err, c.want)
		}
	}
	if _, err := Parse("dark", []byte(`{"base": "dark"}`)); err == nil {
		t.Error("a file took the name of a built-in theme")
	}
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	if found, err := ReadDir(filepath.Join(dir, "none")); err != nil || len(found) > 0 {
		t.Errorf("a directory that is not there: %v %v", found, err)
	}
	for name, text := range map[string]string{
		"b.json": `{"base": "light"}`, "a.json": `{"base": "dark"}`, "broken.json": `{`, "long.json": strings.Repeat(" ", maxFile+1), "notes.txt": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "device.json")); err != nil {
		t.Skip("no links here: ", err)
	}
	found, err := ReadDir(dir)
	if len(found) != 2 || found[0].Name != "a" || found[1].Name != "b" {
		t.Errorf("found %v", found)
	}
	if !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), "broken.json") || !strings.Contains(err.Error(), "long.json") || !strings.Contains(err.Error(), "device.json: it is no regular file") {
		t.Errorf("error %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"base": "dark", "roles": {"good": {"text": "#00ff00", "attributes": ["bold"]}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		th, err := Parse("mine", raw)
		if err != nil {
			return
		}
		for _, r := range allRoles() {
			on := th.On(r)
			if strings.Trim(on, "\x1b[m;0123456789") != "" {
				t.Errorf("%v begins with %q", r, on)
			}
		}
	})
}
