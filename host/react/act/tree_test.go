//go:build unix

package act

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"eventdeck/host/react"
)

// of returns a rule for a program.
func of(argv ...string) react.Rule {
	return react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: argv, Env: []string{"GORACE"}}}}
}

// A program of which others can change the file, or a directory on the way, is refused when it is
// prepared, and also when that became so later. The same for interpreters and code.
func TestProgramsThatOthersCanChangeAreRefused(t *testing.T) {
	dir := scripts(t, map[string]string{"bin/script": "#!DIR/by/sh\n. ${0%/*}/../lib/x\n", "lib/x": "echo ran\n"})
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "by"), 0o700), os.Symlink("/bin/sh", filepath.Join(dir, "by/sh"))); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Options{})
	rule := of(filepath.Join(dir, "bin/script"))
	rule.Do.Command.Code = []string{filepath.Join(dir, "bin"), filepath.Join(dir, "lib")}
	if out := ran(t, r, rule).Output.Stdout.Head.Raw(); out != "ran\n" {
		t.Fatalf("%q", out)
	}
	req := prepared(t, r, rule)
	for n, name := range []string{"bin/script", "bin", ".", "by", "lib", "lib/x"} {
		path := filepath.Join(dir, name)
		a, err := r.Ready(t.Context(), req, n+1)
		if err != nil {
			t.Fatal(err)
		}
		was, err := os.Stat(path)
		if err := errors.Join(err, os.Chmod(path, was.Mode()|0o020)); err != nil {
			t.Fatal(err)
		}
		refused := func(err error) {
			t.Helper()
			if !errors.Is(err, react.ErrProgram) || !strings.Contains(err.Error(), path+" can be changed by its group") {
				t.Errorf("%s: %v", name, err)
			}
		}
		_, err = r.Prepare(rule, theRun(), nil)
		refused(err)
		_, err = r.Ready(t.Context(), req, n+100)
		refused(err)
		if err := a.Go(nil); err != nil {
			t.Fatal(err)
		}
		if result := outcome(t, a); result.Outcome != react.OutcomeNever || !strings.Contains(result.Why, "by its group") {
			t.Errorf("%s: %+v", name, result)
		}
		if err := os.Chmod(path, was.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// A script finds what is beside it, in the directories on its way, and by their place relative to
// its own, in a tree that it cannot change.
func TestAScriptFindsWhatIsBesideIt(t *testing.T) {
	dir := scripts(t, map[string]string{
		"app/bin/script": "#!/bin/sh\ncd \"${0%/*}\"; . ./near; . ../lib/far; cat ../../data; : > new; echo $?\n",
		"app/bin/near":   "echo near\n", "app/lib/far": "echo far\n", "data": "data\n",
	})
	r := newRunner(t, Options{})
	rule := of(filepath.Join(dir, "app/bin/script"))
	const found = "near\nfar\ndata\n"
	out := func() string { return ran(t, r, rule).Output.Stdout.Head.Raw() }
	if got := out(); !strings.HasPrefix(got, found) || os.Getuid() != 0 && got != found+"2\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "app/bin/new")); err == nil {
		t.Error("it changed its own directory")
	}
	// What comes and goes beside it does too in the tree, which stays.
	write(t, dir, map[string]string{"app/bin/later": "echo later\n"})
	if err := os.Rename(filepath.Join(dir, "app/bin/near"), filepath.Join(dir, "app/bin/gone")); err != nil {
		t.Fatal(err)
	}
	_ = out()
	tree := filepath.Join(r.place(), dirTrees, prepared(t, r, rule).Tree)
	for name, is := range map[string]bool{"later": true, "gone": true, "near": false} {
		if _, err := os.Lstat(filepath.Join(tree, dir, "app/bin", name)); is != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if trees, err := os.ReadDir(filepath.Join(r.place(), dirTrees)); err != nil || len(trees) != 1 {
		t.Errorf("%d trees, %v", len(trees), err)
	}
}

// Code runs from its copy: what a script loads of it, links in it, and arguments.
func TestCodeRunsFromItsCopy(t *testing.T) {
	dir := scripts(t, map[string]string{
		"app/script": "#!/bin/sh\necho $0 $1; for f in /lib/in /link /out; do . ${0%/*}$f; done; [ -e ${0%/*}/../data ] || echo alone\n",
		"app/lib/in": "echo in\n", "data": "data\n", "elsewhere": "echo out\n", "app/.git/config": "", "app/lib/__pycache__/x": "",
	})
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Symlink(in("app/lib/in"), in("app/link")), os.Symlink("../elsewhere", in("app/out")), os.Symlink("nowhere", in("app/lost")), os.Symlink(in("app/script"), in("named"))); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Options{})
	for _, argv := range [][]string{{in("app/script"), in("app/lib")}, {in("named"), in("app/lib")}, {"/bin/sh", in("app/script"), in("app/lib")}} {
		rule := of(argv...)
		rule.Do.Command.Code = []string{in("app"), in("app/lib"), in("elsewhere")}
		req := prepared(t, r, rule)
		tree := filepath.Join(r.place(), dirTrees, req.Tree, dir)
		if out, want := ran(t, r, rule).Output.Stdout.Head.Raw(), tree+"/app/script "+tree+"/app/lib\nin\nin\nout\nalone\n"; out != want {
			t.Errorf("%q: %q, want %q", argv, out, want)
		}
		for _, name := range []string{"app/.git", "app/lib/__pycache__", "app/lost"} {
			if _, err := os.Lstat(filepath.Join(tree, name)); err == nil {
				t.Errorf("%s is in the tree", name)
			}
		}
	}
	// A copy that was changed is made anew.
	rule := of(in("app/script"))
	rule.Do.Command.Code = []string{in("app"), in("elsewhere")}
	tree := filepath.Join(r.place(), dirTrees, prepared(t, r, rule).Tree)
	for _, change := range []func(string) error{
		func(lib string) error { return os.Remove(filepath.Join(lib, "in")) },
		func(lib string) error { return os.WriteFile(filepath.Join(lib, "more"), nil, 0o600) },
		func(lib string) error { return os.RemoveAll(lib) },
	} {
		lib := filepath.Join(tree, dir, "app/lib")
		if err := errors.Join(chmodDirs(tree, 0o700), change(lib)); err != nil {
			t.Fatal(err)
		}
		if result := ran(t, r, rule); result.Outcome != react.OutcomeDone || !strings.Contains(result.Output.Stdout.Head.Raw(), "in\nin\nout\n") {
			t.Errorf("%+v", result)
		}
		if _, err := os.Lstat(filepath.Join(lib, "more")); err == nil {
			t.Error("more is left")
		}
	}
	old := time.Now().Add(-2 * treeKept)
	if err := os.Chtimes(tree, old, old); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{"app/lib/in": "echo other\n"})
	if result := ran(t, r, rule); result.Outcome != react.OutcomeDone {
		t.Errorf("%+v", result)
	}
	if _, err := os.Stat(tree); err == nil {
		t.Error("a tree that is not used is kept for ever")
	}
}

func TestCodeThatCannotBePinned(t *testing.T) {
	dir := scripts(t, map[string]string{"app/script": "#!/bin/sh\n", "app/lib/x": "", "out/x": ""})
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Symlink("../../out", in("app/lib/link")), os.Symlink("app", in("link")), os.Mkdir(in("many"), 0o700)); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Options{})
	for _, c := range []struct {
		argv, code []string
		dir, want  string
	}{
		{[]string{in("app/script")}, []string{in("none")}, "", "no such file"},
		{[]string{in("app/script")}, []string{in("app")}, "", `name that in "code" too`},
		{[]string{"/bin/sh", "-c", ". " + in("out/x")}, []string{in("out")}, "", "name the directory that they are in"},
		{[]string{"/bin/sh", in("link/script")}, []string{in("app"), in("out")}, "", "write \"" + in("app/script")},
		{[]string{in("app/script")}, []string{in("app"), in("out")}, in("app"), `"cwd" is in its "code"`},
	} {
		rule := of(c.argv...)
		rule.Do.Command.Code, rule.Do.Command.Dir = c.code, c.dir
		if _, err := r.Prepare(rule, theRun(), nil); !errors.Is(err, react.ErrProgram) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.argv, err)
		}
	}
	// Code that a command reads must not have what is hidden from it.
	rule := of(in("app/script"))
	rule.Do.Command.Code, rule.Do.Command.Confine = []string{in("app"), in("out")}, &react.Confine{}
	if _, err := newRunner(t, Options{Hidden: []string{in("out/x")}}).boundary(prepared(t, r, rule)); !errors.Is(err, react.ErrBoundary) {
		t.Error(err)
	}
}

func TestCodeIsBounded(t *testing.T) {
	many := scripts(t, nil)
	for n := range maxCodeFiles - 1 { // the directory counts too
		if err := os.WriteFile(filepath.Join(many, strconv.Itoa(n)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, rule, one := newRunner(t, Options{}), of("/bin/sh", many), filepath.Join(many, "one")
	rule.Do.Command.Code = []string{many}
	prepared(t, r, rule)
	for _, size := range []int64{0, maxCodeBytes + 1} {
		if err := errors.Join(os.WriteFile(one, nil, 0o600), os.Truncate(one, size)); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Prepare(rule, theRun(), nil); !errors.Is(err, react.ErrProgram) || !strings.Contains(err.Error(), "more than 10000 files or 256 MiB") {
			t.Error(err)
		}
		if err := os.Remove(filepath.Join(many, "0")); size == 0 && err != nil {
			t.Fatal(err)
		}
	}
}
