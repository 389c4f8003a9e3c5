package config

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse checks that every text is either a configuration whose servers can
// be named, or an error that says where.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"mcpServers": {}}`, `{"mcpServers": {"a": {"command": "x", "args": ["y"], "env": {"K": "v"}, "cwd": "/"}}}`,
		`{"mcpServers": {"a": {"url": "https://h", "headers": {"K": "${V:-w}"}}, "a": {}}}`, `{"mcpServers": [1, "ä"]}`, "{\n\n\"x\": }", "\xff",
		`{"mcpServers": {"a": {"url": "https://h"}, /* one */ }} // two`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse("f", raw, env("V", "1"))
		if err != nil {
			if !errors.Is(err, ErrFile) || !strings.HasPrefix(err.Error(), "configuration file: f:") {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		if !json.Valid(newParser("f", raw).Plain) {
			t.Fatal("taken, and not JSON with comments")
		}
		for _, name := range file.Names() {
			if s, err := file.Find(name); err == nil && (s.Name != name || s.Command == "" && s.URL == "") {
				t.Fatalf("%q: %+v", name, s)
			}
		}
	})
}

// FuzzSplitCommand checks that words that are quoted come back as they were.
func FuzzSplitCommand(f *testing.F) {
	for _, seed := range []string{`a b`, `"a b" 'c'`, `a\ b`, `C:\x`, `"`, "", "ä ö"} {
		f.Add(seed, "x y")
	}
	f.Fuzz(func(t *testing.T, line, word string) {
		if words, err := SplitCommand(line); err == nil && (len(words) == 0 || words[0] == "") {
			t.Fatalf("%q: no command in %q", line, words)
		}
		if strings.ContainsAny(word, "'\x00") || !utf8.ValidString(word) {
			return
		}
		words, err := SplitCommand("x '" + word + "' y")
		if err != nil || len(words) != 3 || words[1] != word {
			t.Fatalf("'%s': got %q, %v", word, words, err)
		}
	})
}
