//go:build unix

package act

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"eventdeck/host/react"
)

// talker returns the request of a script as an agent.
func talker(t *testing.T, r *Runner, script string) react.Request {
	t.Helper()
	req := prepared(t, r, shell(script))
	req.Kind = react.RequestAgent
	return req
}

// talk starts a script, and returns its standard input and output.
func talk(t *testing.T, r *Runner, req react.Request) (*Talk, io.WriteCloser, *bufio.Reader) {
	t.Helper()
	a, err := r.ReadyTalk(t.Context(), req, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Go(nil); err != nil {
		t.Fatal(err)
	}
	in, out := a.Streams()
	t.Cleanup(func() {
		_, _ = in.Close(), out.Close() // where the test has not done so
		a.Kill()
		_, _ = a.Wait(t.Context()) // so that nothing is left
	})
	return a, in, bufio.NewReader(out)
}

func line(t *testing.T, out *bufio.Reader) string {
	t.Helper()
	text, err := out.ReadString('\n')
	if err != nil {
		t.Errorf("%q, %v", text, err)
	}
	return strings.TrimSuffix(text, "\n")
}

func TestTalkExchangesLines(t *testing.T) {
	r := newRunner(t, Options{})
	a, in, out := talk(t, r, talker(t, r, `pwd; while read x && [ "$x" != end ]; do echo "got $x"; done; echo bye >&2; exit 3`))
	if dir := line(t, out); dir != a.Dir() {
		t.Errorf("it works in %s, not in %s", dir, a.Dir())
	}
	for i := range 100 {
		fmt.Fprintln(in, "line", i)
		if got, want := line(t, out), fmt.Sprint("got line ", i); got != want {
			t.Fatalf("%q, not %q", got, want)
		}
	}
	fmt.Fprintln(in, "end") // the input stays open: after its end a command has only 5 s to exit
	if got, err := out.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
	if result := outcome(t, a); result.Outcome != react.OutcomeFailed || result.Exit != 3 || result.Output.Stderr.Head.Raw() != "bye\n" {
		t.Errorf("%+v", result)
	}
}

// The end of the input ends a talk, with all processes of its command, even if they ignore it.
func TestEndOfInputEndsTalk(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"ignores the end":             `trap "" TERM; echo ready; while :; do sleep 1; done`,
		"leaves a child":              `echo ready; (trap "" TERM; sleep 1000) & exit 0`,
		"closes its output, goes on":  `echo ready; exec >&-; while :; do sleep 1; done`,
		"closes all, a child goes on": `echo ready; (exec >&- 2>&- <&-; sleep 1000) & exec >&- 2>&- <&-; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, Options{})
			a, in, out := talk(t, r, talker(t, r, `echo $$ > pid; `+script))
			if got := line(t, out); got != "ready" {
				t.Errorf("it said %q", got)
			}
			if strings.HasPrefix(name, "closes") {
				if got, err := out.ReadString('\n'); !errors.Is(err, io.EOF) {
					t.Errorf("its output goes on: %q, %v", got, err)
				}
			}
			if err := in.Close(); err != nil {
				t.Error(err)
			}
			outcome(t, a)
			text, err := os.ReadFile(filepath.Join(a.Dir(), "pid"))
			var pid int
			if _, scanned := fmt.Sscan(string(text), &pid); err != nil || scanned != nil {
				t.Fatal(err, scanned)
			}
			if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("its group is there: %v", err)
			}
		})
	}
}

func TestTalkIsKilled(t *testing.T) {
	r := newRunner(t, Options{})
	a, _, out := talk(t, r, talker(t, r, `echo ready; while :; do sleep 1; done`))
	line(t, out)
	a.Kill()
	if got, err := out.ReadString('\n'); !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v", got, err)
	}
	if result := outcome(t, a); result.Outcome != react.OutcomeKilled {
		t.Errorf("%+v", result)
	}
	req := talker(t, r, `while :; do sleep 1; done`)
	req.Run, req.Time = "late", time.Second
	a, _, _ = talk(t, r, req)
	if result := outcome(t, a); result.Outcome != react.OutcomeFailed || !strings.Contains(result.Why, "limit") {
		t.Errorf("%+v", result)
	}
}

// A killed host leaves no agent behind.
func TestTalkEndsWithHost(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := newRunner(t, Options{Dir: dir})
	req := talker(t, r, `trap "" TERM; while :; do echo busy || :; sleep 0.01; done`)
	h := killedHost(t, job{Dir: dir, Request: req, Begin: true})
	req.Kind = react.RequestCommand
	a, err := r.Adopt(t.Context(), req, h)
	if err != nil {
		t.Fatal(err)
	}
	if result := outcome(t, a); result.Outcome == react.OutcomeNever || result.Outcome == react.OutcomeUnknown {
		t.Errorf("%+v", result)
	}
}

func TestAbortedTalkNeverBegins(t *testing.T) {
	r := newRunner(t, Options{})
	a, err := r.ReadyTalk(t.Context(), talker(t, r, `echo no > began`), 1)
	if err != nil {
		t.Fatal(err)
	}
	a.Abort()
	if result := outcome(t, a); result.Outcome != react.OutcomeNever {
		t.Errorf("%+v", result)
	}
}

// Paused time does not count; after resume the rest of the limit does.
func TestPausedTimeDoesNotCount(t *testing.T) {
	r := newRunner(t, Options{})
	req := talker(t, r, `while read x; do echo "got $x"; done`)
	req.Time = 2 * lookEvery
	a, err := r.ReadyTalk(t.Context(), req, 1)
	if err != nil {
		t.Fatal(err)
	}
	resume, err := a.Pause()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Go(nil); err != nil {
		t.Fatal(err)
	}
	in, out := a.Streams()
	defer func() { _, _ = in.Close(), out.Close() }()
	lines := bufio.NewReader(out)
	for range 4 { // twice its time
		<-time.After(lookEvery)
		fmt.Fprintln(in, "it runs")
		line(t, lines)
	}
	if err := resume(); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, a); got.Outcome != react.OutcomeFailed || !strings.Contains(got.Why, "limit of 200ms") {
		t.Errorf("it ended as %+v", got)
	}
}
