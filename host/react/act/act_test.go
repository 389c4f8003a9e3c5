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

// patience is how long tests wait for something that must happen.
const patience = 60 * time.Second

// envHost makes a process of this test act as a host, which prepares or begins a command, says so,
// and waits to be killed.
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

// killedHost makes another process prepare or begin a command, kills it, and returns the handle.
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

// shell returns a rule for a script. The supervisor, which is this test binary, gets GORACE, so
// that the race detector does not delay its exit.
func shell(script string) react.Rule {
	return react.Rule{Name: "page", Do: react.Do{Command: &react.Command{Argv: []string{"/bin/sh", "-c", script}, Env: []string{"GORACE"}}}}
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

type marks struct{ got []event.Mark }

func (m *marks) SetMark(_ context.Context, mark event.Mark) error {
	m.got = append(m.got, mark)
	return nil
}

func TestNoteSetsMark(t *testing.T) {
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
