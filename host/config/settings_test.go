package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSettings(t *testing.T) {
	s, err := ParseSettings("settings.json", []byte("\ufeff{\n  \"theme\": \"dark\",\n  \"keys\": {\"subscribe\": [\"S\"],\n \"unsubscribe\": []}\n}"))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Keys) != 2 || s.Keys[0].Action != "subscribe" || !slices.Equal(s.Keys[0].Keys, []string{"S"}) || s.Keys[0].Where != "settings.json:3:12" ||
		s.Keys[1].Action != "unsubscribe" || len(s.Keys[1].Keys) != 0 {
		t.Errorf("keys %+v", s.Keys)
	}
	if value, where := s.Member("theme"); string(value) != `"dark"` || where != "settings.json:2:3" {
		t.Errorf("theme is %s at %s", value, where)
	}
	if value, _ := s.Member("absent"); value != nil {
		t.Errorf("absent is %s", value)
	}
}

func TestSettingsThatMakeNoSense(t *testing.T) {
	for raw, want := range map[string]string{
		``:                                  "the file is empty",
		`{"keys": 1}`:                       "settings.json:1:10",
		`{"keys": {"a": "x"}}`:              "list of strings",
		`{"keys": {"a": [], "a": []}}`:      "there twice",
		`{"theme": 1, "theme": 2}`:          "there twice",
		"{\n\"keys\": {\"a\": [\"x\"]}\n;}": "settings.json:3",
	} {
		if _, err := ParseSettings("settings.json", []byte(raw)); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}

func TestSettingsFile(t *testing.T) {
	dir := t.TempDir()
	path, err := Paths{Env: env("XDG_CONFIG_HOME", dir)}.SettingsFile()
	if err != nil || path != filepath.Join(dir, "eventdeck", "settings.json") {
		t.Fatalf("%s, %v", path, err)
	}
	if s, err := LoadSettings(path); err != nil || len(s.Keys) != 0 {
		t.Errorf("a file that is not there: %+v, %v", s, err)
	}
	path = filepath.Join(dir, "s.json")
	if err := os.WriteFile(path, []byte(`{"keys":{"help":["F1"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := LoadSettings(path); err != nil || len(s.Keys) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte(`{"keys":{"a":["b c"]},"theme":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ParseSettings("s", raw)
		if err != nil {
			if !errors.Is(err, ErrFile) {
				t.Errorf("%v", err)
			}
			return
		}
		for _, k := range s.Keys {
			if k.Where == "" {
				t.Errorf("%q has no place", k.Action)
			}
		}
	})
}
