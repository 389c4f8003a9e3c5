package act

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"eventdeck/host/react"
)

// A program that is started by its descriptor sees what it would see otherwise: its name, its
// first argument, its file, and no further descriptor.
func TestAProgramIsStartedUnderItsName(t *testing.T) {
	dir := scripts(t, map[string]string{"script": "#!/bin/sh\necho $0; cat /proc/$$/comm; readlink /proc/$$/exe\n"})
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "named")); err != nil {
		t.Fatal(err)
	}
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Options{})
	_, unbounded := Check(react.Confine{}, nil, nil)
	for _, c := range []*react.Confine{nil, {}} {
		if c != nil && unbounded != nil {
			continue
		}
		rule := of(filepath.Join(dir, "named"), "-c", "echo $0; cat /proc/$$/comm; readlink /proc/$$/exe")
		rule.Do.Command.Confine = c
		if out, want := ran(t, r, rule).Output.Stdout.Head.Raw(), filepath.Join(dir, "named")+"\n"+filepath.Base(shell)+"\n"+shell+"\n"; out != want {
			t.Errorf("%q, want %q", out, want)
		}
		rule = of(filepath.Join(dir, "script"))
		rule.Do.Command.Confine = c
		if out, want := ran(t, r, rule).Output.Stdout.Head.Raw(), dir+"/script\nscript\n"+shell+"\n"; !strings.HasSuffix(out, want) {
			t.Errorf("%q, want %q", out, want)
		}
	}
}

// A full disk and descriptors that are used up keep an act from beginning, and are no failure.
func TestActsDoNotBeginWhatTheyLackRoomFor(t *testing.T) {
	data := t.TempDir()
	if err := unix.Mount("tmpfs", data, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("a small disk cannot be mounted: ", err)
	}
	defer func() {
		if err := unix.Unmount(data, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	dir := scripts(t, map[string]string{"script": "#!/bin/sh\nexit 0\n"})
	r, mark := newRunner(t, Options{Dir: data}), filepath.Join(dir, "mark")
	req, script := prepared(t, r, shell("echo >> "+mark)), prepared(t, r, of(filepath.Join(dir, "script")))
	filler := filepath.Join(data, "filler")
	fill := func(leave int) {
		t.Helper()
		var st unix.Statfs_t
		if err := unix.Statfs(data, &st); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filler, make([]byte, int(st.Bavail)*int(st.Bsize)-leave), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill(0)
	for name, req := range map[string]react.Request{"order": req, "tree": script} {
		if _, err := r.Ready(t.Context(), req, 1); !errors.Is(err, react.ErrScarce) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	fill(reserved / 2) // enough for the order, and not for a result
	if _, err := r.Ready(t.Context(), req, 1); !errors.Is(err, react.ErrScarce) || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("supervisor: %v", err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	a, err := r.Ready(t.Context(), req, 2)
	if err != nil {
		t.Fatal(err)
	}
	var was unix.Rlimit
	if err := errors.Join(unix.Getrlimit(unix.RLIMIT_NOFILE, &was), unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: was.Max})); err != nil {
		t.Fatal(err)
	}
	_, prepare := r.Prepare(shell("exit 0"), theRun(), nil)
	_, ready := r.Ready(t.Context(), req, 3)
	_, alive := left(a.Handle().Dir, r.o.Now())
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{prepare, ready} {
		if !errors.Is(err, react.ErrScarce) || !strings.Contains(err.Error(), "too many open files") {
			t.Error(err)
		}
	}
	if !errors.Is(alive, errAlive) { // a waiting supervisor must not count as lost
		t.Error(alive)
	}
	a.Abort()
}

// A program whose file is open for writing is not started now.
func TestAProgramThatIsWrittenIsNotStartedNow(t *testing.T) {
	path := filepath.Join(scripts(t, nil), "program")
	copyTo(t, path, "/bin/true")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, Options{})
	if result := ran(t, r, of(path)); result.Outcome != react.OutcomeScarce || !strings.Contains(result.Why, path) {
		t.Errorf("%+v", result)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if result := ran(t, r, of(path)); result.Outcome != react.OutcomeDone {
		t.Errorf("%+v", result)
	}
}

func TestErrorsOfOtherProcessesAreHeard(t *testing.T) {
	for _, err := range []error{scarce(&os.PathError{Op: "open", Path: "x", Err: unix.EMFILE}), react.ErrProgram, react.ErrBoundary, errors.New("other")} {
		if got := heard(err.Error()); got.Error() != err.Error() || errors.Is(got, react.ErrScarce) != errors.Is(err, react.ErrScarce) || errors.Is(got, react.ErrProgram) != errors.Is(err, react.ErrProgram) {
			t.Errorf("%v was heard as %v", err, got)
		}
	}
}
