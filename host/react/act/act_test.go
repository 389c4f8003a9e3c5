//go:build unix

package act

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// patience is for what must come.
const patience = 60 * time.Second

// envHost makes a process of this test a host that begins a command, says so, and waits to
// be killed.
const envHost = "EVENTDECK_TEST_HOST"

// job is what such a host does.
type job struct {
	Dir     string
	Request react.Request
	Begin   bool // go through the gate
}

func TestMain(m *testing.M) {
	if code, ok := Main(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) == 3 && os.Args[1] == argAttach {
		os.Exit(tryAttach(os.Args[2]))
	}
	if text := os.Getenv(envHost); text != "" {
		os.Exit(beHost(text))
	}
	os.Exit(m.Run())
}

// argAttach makes a process of this test attach to the process that has a store open.
const argAttach = "attach"

func tryAttach(dir string) int {
	c, err := attach.Attach(context.Background(), dir)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("attached")
	_ = c.Close() // it never fails
	return 0
}

func beHost(text string) int {
	var j job
	err := json.Unmarshal([]byte(text), &j)
	var r *Runner
	if err == nil {
		r, err = New(Options{Dir: j.Dir, Executable: os.Args[0]})
	}
	var a react.Attempt
	if err == nil {
		if j.Request.Kind == react.RequestAgent {
			a, err = r.ReadyTalk(context.Background(), j.Request, 1)
		} else {
			a, err = r.Ready(context.Background(), j.Request, 1)
		}
	}
	if err == nil && j.Begin {
		err = a.Go(nil)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	handle, err := json.Marshal(a.Handle())
	if err != nil {
		return 1
	}
	fmt.Println(string(handle))
	select {} // until it is killed
}

// killedHost has another process begin a command, kills it, and returns the handle.
func killedHost(t *testing.T, j job) react.Handle {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envHost+"="+string(text))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	var h react.Handle
	if err := errors.Join(err, json.Unmarshal([]byte(line), &h)); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return h
}

func newRunner(t *testing.T, o Options) *Runner {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	o.Executable = os.Args[0]
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// member is an event with a payload.
func member(seq uint64, data string) event.Record {
	return event.Record{Seq: seq, Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident.created"),
		EventID: trust.Untrusted("e" + strconv.FormatUint(seq, 10)), Data: []byte(data), ReceivedAt: time.Unix(1e9, 0).UTC()}
}

func theRun(members ...event.Record) react.Run {
	run := react.Run{ID: "abcd", NS: react.Live, Rule: "page", Created: time.Unix(1e9, 0).UTC(), Members: react.Members{Count: uint64(len(members))}}
	for _, m := range members {
		run.Members.First = append(run.Members.First, m.Seq)
	}
	return run
}

func shell(script string) react.Rule {
	return react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: []string{"/bin/sh", "-c", script}}}}
}

func prepared(t *testing.T, r *Runner, rule react.Rule, members ...event.Record) react.Request {
	t.Helper()
	if len(members) == 0 {
		members = []event.Record{member(7, `{"a":1}`)}
	}
	req, err := r.Prepare(rule, theRun(members...), members)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// begin begins a first attempt.
func begin(t *testing.T, r *Runner, req react.Request) react.Attempt {
	t.Helper()
	a, err := r.Ready(t.Context(), req, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Go(nil); err != nil {
		t.Fatal(err)
	}
	return a
}

func outcome(t *testing.T, a react.Attempt) react.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := a.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// ran runs a command to its end.
func ran(t *testing.T, r *Runner, rule react.Rule, members ...event.Record) react.Result {
	t.Helper()
	a := begin(t, r, prepared(t, r, rule, members...))
	result := outcome(t, a)
	if err := r.Forget(a.Handle()); err != nil {
		t.Error(err)
	}
	return result
}

// await waits for a file that a command makes, and returns its text.
func await(t *testing.T, path string) string {
	t.Helper()
	for late := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(path); err == nil && strings.HasSuffix(string(text), "\n") {
			return strings.TrimSpace(string(text))
		}
		if time.Now().After(late) {
			t.Fatal("waited in vain for ", path)
		}
	}
}

func alive(pid string) bool {
	n, err := strconv.Atoi(pid)
	return err == nil && syscall.Kill(n, 0) == nil
}

func TestACommandGetsItsInputAndNothingElse(t *testing.T) {
	t.Setenv("EVENTDECK_TEST_SECRET", "hidden")
	t.Setenv("ALLOWED", "yes")
	r := newRunner(t, Options{})
	rule := shell(`cat; echo; env | sort; pwd`)
	rule.Do.Command.Env = []string{"ALLOWED", "MISSING", "EVENTDECK_RUN"}
	result := ran(t, r, rule, member(7, `{"a":"$(touch /tmp/x) -rf"}`))
	out := result.Output.Stdout.Head.Raw()
	if result.Outcome != react.OutcomeDone || result.Exit != 0 || result.Boundary != NoBoundary {
		t.Errorf("%+v", result)
	}
	for _, want := range []string{
		`"origin":"mcp-event"`, "<<<untrusted-", `$(touch /tmp/x) -rf`, "ALLOWED=yes\n",
		"EVENTDECK_RUN=abcd\n", "EVENTDECK_RULE=page\n", "EVENTDECK_SEQ=7\n", "EVENTDECK_COUNT=1\n", "/react/abcd-1/work\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	for _, not := range []string{"hidden", "HOME=", "PATH=/"} {
		if strings.Contains(out, not) && not != "PATH=/" {
			t.Errorf("%q is in\n%s", not, out)
		}
	}
	if left, err := os.ReadDir(r.place()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestLinesAreThoseOfEvents(t *testing.T) {
	r := newRunner(t, Options{})
	rule := shell(`cat`)
	rule.Do.Command.Stdin = react.StdinNDJSON
	out := ran(t, r, rule, member(7, `{"n":1}`), member(8, `{"n":2}`)).Output.Stdout.Head.Raw()
	if strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, `{"seq":7,"kind":"event","server":"pager"`) || !strings.Contains(out, `"data":{"n":2}`) {
		t.Errorf("%s", out)
	}
}

func TestHowACommandEnds(t *testing.T) {
	r := newRunner(t, Options{})
	for _, c := range []struct {
		script  string
		outcome react.Outcome
		exit    int
		why     string
	}{
		{"exit 0", react.OutcomeDone, 0, ""},
		{"exit 3", react.OutcomeFailed, 3, "exit code 3"},
		{"kill -9 $$", react.OutcomeFailed, -1, "killed"},
		{"exec /bin/sh -c 'cat >/dev/null; echo x >&2'", react.OutcomeDone, 0, ""},
	} {
		result := ran(t, r, shell(c.script))
		if result.Outcome != c.outcome || result.Exit != c.exit || !strings.Contains(result.Why, c.why) || result.Ended.IsZero() {
			t.Errorf("%s: %+v", c.script, result)
		}
	}
}

func TestTheSameRunHasTheSameRequest(t *testing.T) {
	r := newRunner(t, Options{})
	one, two := prepared(t, r, shell("exit 0")), prepared(t, r, shell("exit 0"))
	if one.Hash() != two.Hash() {
		t.Error("the request changes from one asking to the next")
	}
	if other := prepared(t, r, shell("exit 0"), member(7, `{"a":2}`)); other.Hash() == one.Hash() || other.ActHash() != one.ActHash() {
		t.Error("another payload has the same hash, or is another act")
	}
}

func TestAChangedProgramDoesNotStart(t *testing.T) {
	r := newRunner(t, Options{})
	script := filepath.Join(t.TempDir(), "script")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("#!/bin/sh\necho one\n")
	rule := react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: []string{script}}}}
	req := prepared(t, r, rule)
	a, err := r.Ready(t.Context(), req, 1)
	if err != nil {
		t.Fatal(err)
	}
	write("#!/bin/sh\necho two\n")
	if _, err := r.Ready(t.Context(), req, 2); !errors.Is(err, react.ErrProgram) {
		t.Errorf("%v", err)
	}
	if err := a.Go(nil); err != nil { // it changed behind the gate
		t.Fatal(err)
	}
	if result := outcome(t, a); result.Outcome != react.OutcomeNever || !strings.Contains(result.Why, "changed") {
		t.Errorf("%+v", result)
	}
}

// Who may write in a directory can turn a link there between the approval and the start.
func TestPathsAreApprovedWithoutTheirLinks(t *testing.T) {
	base := t.TempDir()
	if real, err := filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	} else {
		base = real
	}
	link, one, two := filepath.Join(base, "link"), filepath.Join(base, "one"), filepath.Join(base, "two")
	for _, dir := range []string{one, two} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	turn := func(to string) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(link), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
	}
	r := newRunner(t, Options{})
	rule := shell("pwd")
	rule.Do.Command.Dir = link
	turn(one)
	req := prepared(t, r, rule)
	if req.Dir != one {
		t.Errorf("the directory of the request is %s", req.Dir)
	}
	turn(two)
	if out := outcome(t, begin(t, r, req)).Output.Stdout.Head.Raw(); out != one+"\n" {
		t.Errorf("it ran in %s", out)
	}
	if again := prepared(t, r, rule); again.Hash() == req.Hash() {
		t.Error("a link that leads elsewhere is the same request")
	}
	if err := errors.Join(os.Remove(one), os.Symlink(two, one)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Ready(t.Context(), req, 2); !errors.Is(err, react.ErrProgram) {
		t.Errorf("the directory became a link: %v", err)
	}
}

func TestProgramsThatCannotBe(t *testing.T) {
	r := newRunner(t, Options{})
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "./sh", filepath.Join(dir, "missing"), dir, plain} {
		rule := react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: []string{name}}}}
		if _, err := r.Prepare(rule, theRun(), nil); !errors.Is(err, react.ErrProgram) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAGateThatDoesNotOpen(t *testing.T) {
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
	// The same attempt may be made again, as nothing was begun.
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

// A host that was killed before it opened a gate leaves a supervisor that needs a moment to
// end. The same attempt of the next host waits for that.
func TestAnAttemptWaitsForTheGateOfAKilledHost(t *testing.T) {
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
	if _, err := r.Ready(t.Context(), req, 1); err == nil {
		t.Error("the same attempt began twice")
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

func TestWithoutSupervisorAndResultNothingIsKnown(t *testing.T) {
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

func TestTheEndReachesEverythingThatWasStarted(t *testing.T) {
	dir := t.TempDir()
	r := newRunner(t, Options{Dir: dir})
	// One ignores TERM and holds standard output; one has left group and session, and its
	// parent has ended.
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

func TestWhatACommandLeavesBehindEndsWithIt(t *testing.T) {
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

func TestOutputIsCutAndCounted(t *testing.T) {
	r := newRunner(t, Options{})
	out := ran(t, r, shell(`printf begin; head -c 5000000 /dev/zero | tr '\0' x; printf end; printf err >&2`)).Output
	if out.Stdout.Bytes != 5_000_008 || out.Stdout.Head.Len() != maxEnd || out.Stdout.Tail.Len() != maxEnd ||
		!strings.HasPrefix(out.Stdout.Head.Raw(), "begin") || !strings.HasSuffix(out.Stdout.Tail.Raw(), "end") || out.Stderr.Head.Raw() != "err" {
		t.Errorf("%d bytes, head %d, tail %d", out.Stdout.Bytes, out.Stdout.Head.Len(), out.Stdout.Tail.Len())
	}
}

func TestOutputThatIsNoTextCanBeStored(t *testing.T) {
	r := newRunner(t, Options{})
	result := ran(t, r, shell(`head -c 100000 /dev/zero; head -c 100000 /dev/zero >&2; exit 3`))
	text, err := json.Marshal(result)
	if err != nil || len(text) > maxResult || result.Exit != 3 || result.Output.Stdout.Bytes != 100_000 || result.Output.Stdout.Head.Len() < 1000 {
		t.Errorf("%d bytes, %v, %d", len(text), err, result.Output.Stdout.Head.Len())
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

type marks struct{ got []event.Mark }

func (m *marks) SetMark(_ context.Context, mark event.Mark) error {
	m.got = append(m.got, mark)
	return nil
}

func TestANoteIsAMark(t *testing.T) {
	m := &marks{}
	r := newRunner(t, Options{Marks: m, Now: func() time.Time { return time.Unix(5, 0) }})
	rule := react.Rule{Name: "page", Do: react.Do{Note: "look"}}
	if result := ran(t, r, rule); result.Outcome != react.OutcomeDone {
		t.Errorf("%+v", result)
	}
	if want := []event.Mark{{Seq: 7, At: time.Unix(5, 0), Note: "look"}}; !slices.Equal(m.got, want) {
		t.Errorf("%+v", m.got)
	}
}

func TestCaptureKeepsBothEnds(t *testing.T) {
	for _, size := range []int{0, 1, maxEnd, maxEnd + 1, 2 * maxEnd, 2*maxEnd + 7, 5 * maxEnd} {
		all := make([]byte, size)
		for i := range all {
			all[i] = byte(i*7 + i>>8)
		}
		for _, step := range []int{1, 100, maxEnd - 1, 3 * maxEnd} {
			c := &capture{}
			for rest := all; len(rest) > 0; {
				n := min(step, len(rest))
				_, _ = c.Write(rest[:n])
				rest = rest[n:]
			}
			s := c.stream()
			head, tail := all[:min(size, maxEnd)], all[max(min(size, maxEnd), size-maxEnd):]
			if s.Head.Raw() != string(head) || s.Tail.Raw() != string(tail) || s.Bytes != int64(size) {
				t.Errorf("%d bytes by %d: head %d, tail %d of %d", size, step, s.Head.Len(), s.Tail.Len(), s.Bytes)
			}
		}
	}
}
