package act

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
)

// swap is something on the way to what a command runs that another program replaces.
type swap struct {
	argv, code []string
	want       string       // printed by what was approved
	turn       func() error // puts something else in its place, and the next time what was there
}

// overwrite changes a file in place, as cp does.
func overwrite(path, from string) error {
	bytes, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	for errors.Is(err, syscall.ETXTBSY) { // it runs
		time.Sleep(time.Millisecond)
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(bytes)
	return errors.Join(err, f.Close())
}

func copyTo(t *testing.T, path, from string) {
	t.Helper()
	bytes, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	replace(t, path, string(bytes))
}

// swaps makes the files in a directory anew, and returns what can be replaced. What is put in
// place prints something else.
func swaps(t *testing.T, dir string) map[string]swap {
	t.Helper()
	const foreign = "#!/bin/sh\necho foreign\n"
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	write(t, dir, map[string]string{
		"app/good": "#!/bin/sh\necho good\n", "app/by": "#!DIR/app/cat\n", "app/loads": "#!/bin/sh\n. \"${0%/*}/lib\"\n. \"${0%/*}/link\"\n",
		"app/lib": "echo good\n", "app/file": "echo good\n", "evil/good": foreign, "evil/by": foreign, "evil/loads": foreign, "evil/lib": "echo foreign\n",
	})
	in := func(name string) string { return filepath.Join(dir, name) }
	copyTo(t, in("app/true"), "/bin/true")
	copyTo(t, in("app/cat"), "/bin/cat")
	copyTo(t, in("evil/true"), "/bin/echo")
	copyTo(t, in("evil/cat"), "/bin/echo")
	if err := errors.Join(os.Symlink("file", in("app/link")), os.Symlink(in("app/good"), in("named")), os.Symlink("lib", in("evil/link")), os.Symlink(in("evil/good"), in("evil/named"))); err != nil {
		t.Fatal(err)
	}
	exchange := func(name, with string) func() error {
		return func() error {
			return unix.Renameat2(unix.AT_FDCWD, in(name), unix.AT_FDCWD, in(with), unix.RENAME_EXCHANGE)
		}
	}
	rename := func(name string) func() error { return exchange(name, "evil/"+filepath.Base(name)) }
	inPlace := func(name, from string) func() error {
		copyTo(t, in("was"), in(name))
		next, after := from, in("was")
		return func() error {
			from := next
			next, after = after, next
			return overwrite(in(name), from)
		}
	}
	directory := exchange("app", "evil")
	good, loads, app := []string{in("app/good")}, []string{in("app/loads")}, []string{in("app")}
	by, binary := fmt.Sprintf("#!%s\n", in("app/cat")), []string{in("app/true")}
	return map[string]swap{
		"binary":                {binary, nil, "", rename("app/true")},
		"binary in place":       {binary, nil, "", inPlace("app/true", "/bin/echo")},
		"binary, its directory": {binary, nil, "", directory},
		"binary with code":      {binary, app, "", rename("app/true")},
		"script":                {good, nil, "good\n", rename("app/good")},
		"script in place":       {good, nil, "good\n", inPlace("app/good", in("evil/good"))},
		"script, its directory": {good, nil, "good\n", directory},
		"script by a link":      {[]string{in("named")}, nil, "good\n", rename("named")},
		"interpreter":           {[]string{in("app/by")}, nil, by, rename("app/cat")},
		"interpreter in place":  {[]string{in("app/by")}, nil, by, inPlace("app/cat", "/bin/echo")},
		"code":                  {loads, app, "good\ngood\n", rename("app/lib")},
		"code in place":         {loads, app, "good\ngood\n", inPlace("app/lib", in("evil/lib"))},
		"code by a link":        {loads, app, "good\ngood\n", rename("app/link")},
		"code, its directory":   {loads, app, "good\ngood\n", directory},
		"code as an argument":   {[]string{"/bin/sh", in("app/loads")}, app, "good\ngood\n", rename("app/loads")},
	}
}

// turns replaces the files once, within a time, or all the time, until over is closed.
func (s swap) turns(once bool, within time.Duration, over <-chan struct{}) error {
	if once {
		time.Sleep(rand.N(within))
		return s.turn()
	}
	for {
		select {
		case <-over:
			return nil
		case <-time.After(rand.N(3 * time.Millisecond)):
			if err := s.turn(); err != nil {
				return err
			}
		}
	}
}

// Whatever is replaced, and whenever, between the approval and the end: of what the hash covers,
// only bytes that were approved run. EVENTDECK_SWAPS is how often each replacement is tried.
func TestReplacedFilesDoNotRun(t *testing.T) {
	tries, err := strconv.Atoi(os.Getenv("EVENTDECK_SWAPS"))
	if err != nil {
		tries = 2
	}
	_, unbounded := Check(react.Confine{}, nil, nil)
	began := time.Now()
	r := newRunner(t, Options{})
	ran(t, r, shell("exit 0"))
	takes := time.Since(began)
	done, refused := 0, 0
	dir := scripts(t, nil)
	for try := range tries {
		for name := range swaps(t, dir) {
			s := swaps(t, dir)[name]
			rule := react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: s.argv, Code: s.code}}}
			if unbounded == nil && try%2 == 1 {
				rule.Do.Command.Confine = &react.Confine{Read: []string{filepath.Dir(s.argv[0])}}
			}
			req := prepared(t, r, rule)
			over, turned := make(chan struct{}), make(chan error, 1)
			go func() { turned <- s.turns(try%4 < 2, takes, over) }()
			a, err := r.Ready(t.Context(), req, 1)
			if err == nil {
				err = a.Go(nil)
			}
			switch result := (react.Result{}); {
			case errors.Is(err, react.ErrProgram), errors.Is(err, react.ErrBoundary):
				refused++
			case err != nil:
				t.Fatalf("%s: %v", name, err)
			default:
				result = outcome(t, a)
				out := result.Output.Stdout.Head.Raw()
				if result.Outcome == react.OutcomeDone {
					done++
				} else {
					refused++
				}
				if result.Outcome == react.OutcomeDone && out != s.want || result.Outcome != react.OutcomeDone && out != "" {
					t.Errorf("%s: %s, %s: it printed %q", name, result.Outcome, result.Why, out)
				}
				if err := r.Forget(a.Handle()); err != nil {
					t.Error(err)
				}
			}
			close(over)
			if err := <-turned; err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	t.Logf("%d ran as they were approved, %d were refused", done, refused)
}
