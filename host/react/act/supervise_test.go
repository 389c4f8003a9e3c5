//go:build unix

package act

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventdeck/host/react"
)

func TestCommandThatIsNeverStarted(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	r := newRunner(t, Options{Dir: dir})
	req := prepared(t, r, shell("echo ran > "+mark))
	a, err := r.Ready(t.Context(), req, 1)
	if err != nil {
		t.Fatal(err)
	}
	a.Abort()
	if result := outcome(t, a); result.Outcome != react.OutcomeNever {
		t.Errorf("given up: %+v", result)
	}
	if err := a.Go(nil); err == nil {
		t.Error("it goes on after it was given up")
	}
	// The same attempt may be made again, as the command did not begin.
	h := killedHost(t, job{Dir: dir, Request: req})
	found, err := r.Adopt(t.Context(), req, h)
	if err != nil {
		t.Fatal(err)
	}
	if result := outcome(t, found); result.Outcome != react.OutcomeNever {
		t.Errorf("the host was killed: %+v", result)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("the command ran")
	}
}

// The supervisor of a host that was killed before it started the command needs a moment to end. The
// same attempt of the next host waits for it.
func TestAnAttemptWaitsForTheSupervisorOfAKilledHost(t *testing.T) {
	r := newRunner(t, Options{})
	req := prepared(t, r, shell("echo once"))
	earlier, err := r.Ready(t.Context(), req, 1)
	if err != nil {
		t.Fatal(err)
	}
	noticed := time.AfterFunc(2*lookEvery, earlier.Abort)
	defer noticed.Stop()
	result := outcome(t, begin(t, r, req))
	if out := result.Output.Stdout.Head.Raw(); result.Outcome != react.OutcomeDone || out != "once\n" {
		t.Errorf("%+v", result)
	}
	if _, err := r.Ready(t.Context(), req, 1); !errors.Is(err, errAttempt) {
		t.Errorf("an attempt that was begun is begun again: %v", err)
	}
}

// A host may be killed before its supervisor has the lock. If the next host has replaced the
// directory meanwhile, the late supervisor does not touch it.
func TestALateSupervisorLeavesTheNextAttemptAlone(t *testing.T) {
	r := newRunner(t, Options{})
	req := prepared(t, r, shell("echo once"))
	dir, err := r.newDir(t.Context(), req, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	late := exec.Command("/bin/sh", "-c", `read go; exec "$0" "$@" </dev/null`, os.Args[0], argSupervise, dir)
	late.Dir = dir
	begins, err := late.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := late.Start(); err != nil {
		t.Fatal(err)
	}
	a, err := r.Ready(t.Context(), req, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begins.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	if err := late.Wait(); err == nil { // it does not wait for the lock of the other
		t.Error("the late one found a place")
	}
	if _, err := left(dir, time.Now()); !errors.Is(err, errAlive) {
		t.Errorf("the next one does not wait to be started: %v", err)
	}
	if err := a.Go(nil); err != nil {
		t.Fatal(err)
	}
	if result := outcome(t, a); result.Outcome != react.OutcomeDone || result.Output.Stdout.Head.Raw() != "once\n" {
		t.Errorf("%+v", result)
	}
}

func TestACommandOutlivesAKilledHost(t *testing.T) {
	dir := t.TempDir()
	r := newRunner(t, Options{Dir: dir})
	began, on := filepath.Join(dir, "began"), filepath.Join(dir, "on")
	req := prepared(t, r, shell("echo $$ > "+began+"; until [ -e "+on+" ]; do sleep 0.02; done; echo good"))
	h := killedHost(t, job{Dir: dir, Request: req, Begin: true})
	await(t, began)
	a, err := r.Adopt(t.Context(), req, h)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result, err := a.Wait(ctx); err == nil {
		t.Fatalf("it has ended: %+v", result)
	}
	if _, err := r.Ready(ctx, req, 1); !errors.Is(err, errAttempt) {
		t.Errorf("the same attempt is begun twice: %v", err)
	}
	if err := os.WriteFile(on, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // while it ended, and long after
		if result := outcome(t, a); result.Outcome != react.OutcomeDone || result.Output.Stdout.Head.Raw() != "good\n" {
			t.Errorf("%+v", result)
		}
		if a, err = r.Adopt(t.Context(), req, h); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOutcomeIsUnknownWithoutSupervisorAndResult(t *testing.T) {
	dir := t.TempDir()
	r := newRunner(t, Options{Dir: dir})
	began := filepath.Join(dir, "began")
	a := begin(t, r, prepared(t, r, shell("echo $$ > "+began+"; sleep 1000")))
	pid := await(t, began)
	if err := syscall.Kill(a.Handle().PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if result := outcome(t, a); result.Outcome != react.OutcomeUnknown {
		t.Errorf("%+v", result)
	}
	if n, err := strconv.Atoi(pid); err == nil {
		_ = syscall.Kill(-n, syscall.SIGKILL) // it has no supervisor any more
	}
	for _, h := range []react.Handle{{Dir: filepath.Join(r.place(), "never-1")}, {Dir: "/etc"}, {}} {
		found, err := r.Adopt(t.Context(), react.Request{Kind: react.RequestCommand}, h)
		if err != nil {
			t.Fatal(err)
		}
		if result := outcome(t, found); result.Outcome != react.OutcomeUnknown {
			t.Errorf("%+v: %+v", h, result)
		}
	}
	if err := r.Forget(react.Handle{Dir: "/etc/x"}); err == nil {
		t.Error("something elsewhere is removed")
	}
}

func TestTheLimitEndsACommand(t *testing.T) {
	r := newRunner(t, Options{})
	rule := shell("echo printed; sleep 1000")
	rule.Limits.Time = 200 * time.Millisecond
	if result := ran(t, r, rule); result.Outcome != react.OutcomeFailed || !strings.Contains(result.Why, "limit of 200ms") {
		t.Errorf("%+v", result)
	}
}

func TestEndReachesAllDescendants(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRunner(t, Options{Dir: dir})
	// One process ignores TERM and keeps standard output open; another one is in its own group and
	// session, and its parent has ended.
	script := `sh -c 'trap "" TERM; echo $$ > ` + dir + `/deaf; while :; do sleep 0.02; done' &
		cat > /dev/null; echo printed; while :; do sleep 0.02; done`
	names := []string{"deaf"}
	if runtime.GOOS == "linux" {
		script = `setsid sh -c 'sh -c "trap \"\" TERM; echo \$\$ > ` + dir + `/apart; exec sleep 1000" & exit 0'
		` + script
		names = append(names, "apart")
	}
	a := begin(t, r, prepared(t, r, shell(script)))
	var pids []string
	for _, name := range names {
		pids = append(pids, await(t, filepath.Join(dir, name)))
	}
	a.Kill()
	result := outcome(t, a)
	if result.Outcome != react.OutcomeKilled || strings.Contains(result.Why, "could not") {
		t.Errorf("%+v", result)
	}
	for i, pid := range pids {
		if alive(pid) {
			t.Errorf("%s is alive", names[i])
		}
	}
}

func TestOrphansEndWithTheirCommand(t *testing.T) {
	dir := t.TempDir()
	r := newRunner(t, Options{Dir: dir})
	result := ran(t, r, shell(`sh -c 'echo $$ > `+dir+`/left; exec sleep 1000' & until [ -s `+dir+`/left ]; do sleep 0.02; done; exit 0`))
	if result.Outcome != react.OutcomeDone {
		t.Errorf("%+v", result)
	}
	if pid := await(t, filepath.Join(dir, "left")); alive(pid) {
		t.Error("it is alive")
	}
}

func TestTheOperatorEndsACommand(t *testing.T) {
	for _, how := range []string{"Kill", "stop file", "signal"} {
		dir := t.TempDir()
		r := newRunner(t, Options{Dir: dir})
		began := filepath.Join(dir, "began")
		a := begin(t, r, prepared(t, r, shell("echo $$ > "+began+"; while :; do sleep 0.02; done")))
		pid := await(t, began)
		var err error
		switch how {
		case "Kill":
			a.Kill()
		case "stop file":
			err = os.WriteFile(filepath.Join(dir, react.StopFile), nil, 0o600)
		case "signal":
			err = syscall.Kill(a.Handle().PID, syscall.SIGTERM)
		}
		if err != nil {
			t.Fatal(err)
		}
		if result := outcome(t, a); result.Outcome != react.OutcomeKilled {
			t.Errorf("%s: %+v", how, result)
		}
		if alive(pid) {
			t.Errorf("%s: it is alive", how)
		}
	}
}

func TestNothingBeginsWhileThereIsAStopFile(t *testing.T) {
	dir := t.TempDir()
	r := newRunner(t, Options{Dir: dir})
	stop := filepath.Join(dir, react.StopFile)
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if result := ran(t, r, shell("exit 0")); result.Outcome != react.OutcomeNever {
		t.Errorf("%+v", result)
	}
	if err := os.Remove(stop); err != nil {
		t.Fatal(err)
	}
	if result := ran(t, r, shell("exit 0")); result.Outcome != react.OutcomeDone {
		t.Errorf("afterwards: %+v", result)
	}
}
