//go:build unix

package act

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eventdeck/host/react"
)

// scripts makes executable files in a new directory, whose path stands for DIR in them.
func scripts(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, files)
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		replace(t, filepath.Join(dir, name), strings.ReplaceAll(text, "DIR", dir))
	}
}

// replace replaces a program, as an installation does.
func replace(t *testing.T, path, text string) {
	t.Helper()
	err := os.WriteFile(path+".new", []byte(text), 0o700)
	if err := errors.Join(err, os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
}

func TestInterpretersOfAScript(t *testing.T) {
	dir := scripts(t, map[string]string{
		"plain":     "no script",
		"empty":     "",
		"direct":    "#! \t/bin/sh -e \t\necho",
		"no end":    "#!/bin/sh",
		"by env":    "#!/usr/bin/env tool\n",
		"split":     "#!/usr/bin/env -S tool -u x\n",
		"absolute":  "#!/usr/bin/env DIR/tool\n",
		"nested":    "#!DIR/wrapper -x\n",
		"tool":      "bytes",
		"wrapper":   "#!/bin/sh\n",
		"loop":      "#!DIR/loop\n",
		"relative":  "#!bin/sh\n",
		"nothing":   "#! \n",
		"long":      "#!/bin/" + strings.Repeat("x", firstLine) + "\n",
		"missing":   "#!DIR/not there\n",
		"dos":       "#!/bin/sh\r\n",
		"env alone": "#!/usr/bin/env\n",
		"option":    "#!/usr/bin/env -i\n",
		"set":       "#!/usr/bin/env -S PATH=/x tool\n",
		"quoted":    "#!/usr/bin/env -S 'tool'\n",
		"not found": "#!/usr/bin/env no-such-tool\n",
		"own":       "#!/usr/bin/env ./tool\n",
	})
	tool := filepath.Join(dir, "tool")
	for name, want := range map[string][]string{
		"plain": nil, "empty": nil,
		"direct": {"/bin/sh", "-e"}, "no end": {"/bin/sh"},
		"by env": {tool}, "split": {tool, "-u", "x"}, "absolute": {tool},
		"nested": {filepath.Join(dir, "wrapper"), "-x", "/bin/sh"},
	} {
		all, err := interpreters(filepath.Join(dir, name), "/nowhere:"+dir+":/bin:/usr/bin")
		var names []string
		for _, i := range all {
			names = append(append(names, i.Name), i.Args...)
			if path, sum, err := Program(i.Name); err != nil || i.Path != path || i.Program != sum {
				t.Errorf("%s: %+v, %v", name, i, err)
			}
		}
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %q, %v", name, names, err)
		}
	}
	for _, name := range []string{"loop", "relative", "nothing", "long", "missing", "dos", "env alone", "option", "set", "quoted", "not found", "own"} {
		if all, err := interpreters(filepath.Join(dir, name), dir+":/bin"); !errors.Is(err, react.ErrProgram) {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
	if _, err := interpreters(filepath.Join(dir, "by env"), ":"+dir); !errors.Is(err, react.ErrProgram) {
		t.Errorf("a search in the directory in which it happens to run: %v", err)
	}
}

// The pinned interpreter is the one that the system starts: the script itself prints it.
func TestTheSystemStartsThePinnedInterpreter(t *testing.T) {
	dir := scripts(t, map[string]string{
		"by-env": "#!/usr/bin/env tool\n",
		"split":  "#!/usr/bin/env -S tool one two\n",
		"direct": "#!DIR/tool\n",
		"tool":   "#!/bin/sh\necho \"ran $0\"\n",
	})
	r := newRunner(t, Options{Env: func(name string) (string, bool) { return dir + ":/bin:/usr/bin", name == "PATH" }})
	for _, name := range []string{"by-env", "split", "direct"} {
		rule := react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: []string{filepath.Join(dir, name)}, Env: []string{"PATH"}}}}
		req := prepared(t, r, rule)
		tool := filepath.Join(dir, "tool")
		if !slices.ContainsFunc(req.Interpreters, func(i react.Interpreter) bool { return i.Path == tool }) {
			t.Errorf("%s: %+v", name, req.Interpreters)
		}
		if out := ran(t, r, rule).Output.Stdout.Head.Raw(); out != "ran "+filepath.Join(r.place(), dirTrees, req.Tree, tool)+"\n" {
			t.Errorf("%s: %q", name, out)
		}
	}
}

func TestAChangedInterpreterDoesNotStart(t *testing.T) {
	dir := scripts(t, map[string]string{"script": "#!/usr/bin/env tool\n", "tool": "#!/bin/sh\necho one\n"})
	first := t.TempDir()
	r := newRunner(t, Options{Env: func(name string) (string, bool) { return first + ":" + dir + ":/bin:/usr/bin", name == "PATH" }})
	rule := react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: []string{filepath.Join(dir, "script")}, Env: []string{"PATH"}}}}
	refusesChange(t, r, rule, "interpreter", func() { replace(t, filepath.Join(dir, "tool"), "#!/bin/sh\necho two\n") })
	// Another program of the name comes first in the search path.
	refusesChange(t, r, rule, "interpreter", func() { replace(t, filepath.Join(first, "tool"), "#!/bin/sh\necho two\n") })
}
