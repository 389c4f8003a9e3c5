package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/event"
	"eventdeck/host/mcptest"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/ui/internal/reacttest"
)

// engine is the stand-in of reactions; the methods that it overrides check their arguments,
// and change its state.
type engine struct{ reacttest.Engine }

// change makes a new state with a changed rule.
func (e *engine) change(how func(*react.RuleView)) {
	e.Lock()
	defer e.Unlock()
	e.View.Rules = slices.Clone(e.View.Rules)
	how(&e.View.Rules[0])
	e.View.Revision++
}

func (e *engine) AskModel(_ context.Context, q react.Question) (react.RunID, error) {
	return react.RunID(q.Model), e.note("ask", q.Model, q.Seq, q.Task, q.Typed)
}

func (e *engine) note(words ...any) error {
	e.Lock()
	defer e.Unlock()
	e.Did = append(e.Did, strings.TrimSpace(fmt.Sprintln(words...)))
	return nil
}

func (e *engine) Explain(_ context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	return []react.Verdict{{Rule: rule, Seq: seq, State: react.Asking, Why: "it would ask", Line: "rules.json:3:5"}}, nil
}

func (e *engine) Approve(ctx context.Context, id react.RunID, hash string) error {
	r, err := e.Run(ctx, id)
	if err == nil && r.Request.Hash() != hash {
		err = react.ErrChanged
	}
	if err != nil {
		return err
	}
	return e.note("approve", id)
}

func (e *engine) Grant(ctx context.Context, id react.RunID, hash string, until time.Time) error {
	if left := time.Until(until); left > 2*time.Hour || left < time.Hour {
		return fmt.Errorf("granted for %v", left)
	}
	if hash != e.All[0].Request.Hash() {
		return react.ErrChanged
	}
	return e.note("grant", id)
}

func (e *engine) Retry(_ context.Context, id react.RunID) (react.RunID, error) {
	return id, e.note("retry", id)
}

func (e *engine) Once(_ context.Context, rule string, seq uint64) (react.RunID, error) {
	return "waits", e.note("once", rule, seq)
}

func (e *engine) Arm(_ context.Context, rule string, hash react.Hash) error {
	e.change(func(v *react.RuleView) { v.Armed = true })
	return e.note("arm", rule, hash)
}

func (e *engine) Disarm(_ context.Context, rule string) error {
	// The state shows it a moment later, as that of a real engine may.
	time.AfterFunc(50*time.Millisecond, func() { e.change(func(v *react.RuleView) { v.Armed = false }) })
	return e.note("disarm", rule)
}

func (e *engine) Silence(_ context.Context, rule string, until time.Time) error {
	e.change(func(v *react.RuleView) { v.Silenced = until })
	return e.note("silence", rule, until.IsZero() || time.Until(until) > time.Hour)
}

const evilText = "one\n\x1b[2J\u202etwo"

func newEngine() *engine {
	request := func(input string) *react.Request {
		return &react.Request{Kind: react.RequestCommand, Run: "waits", Rule: "page", Seq: 7, Count: 1, Argv: []string{"/bin/page", "now"},
			Files: react.Files{Path: "/bin/page", Program: "00ff"}, Boundary: "none", Input: []byte(input), Time: time.Minute}
	}
	at := time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)
	e := &engine{reacttest.Engine{
		View: react.View{On: true, Revision: 1, Rules: []react.RuleView{{
			Rule: react.Rule{Name: "page", Mode: react.ModeAsk, Where: "rules.json:3:5"}, Hash: ruleHash, Armed: true, Effective: react.ModeAsk, Letters: "A C"}}},
		All: []react.Run{
			{ID: "waits", Rule: "page", NS: react.Live, Hash: ruleHash, State: react.Asking, Request: request("hash        ffffff\n" + evilText), Created: at, Due: at.Add(time.Hour),
				Members: react.Members{Count: 1, First: []uint64{7}}},
			{ID: "gathers", Rule: "page", NS: react.Live, State: react.Gathering, Created: at, Members: react.Members{Count: 2, First: []uint64{8, 9}}},
			{ID: "ended", Rule: "page", NS: react.Live, Hash: ruleHash, State: react.Failed, Why: "exit code 3", Request: request("x"), Created: at, Members: react.Members{Count: 2, First: []uint64{3}, Last: []uint64{5}},
				Result: &react.Result{Outcome: react.OutcomeFailed, Exit: 3, Ended: at, Output: react.Output{
					Stdout: react.Stream{Head: trust.Untrusted(evilText), Tail: trust.Untrusted("end\n"), Bytes: 1000}}}},
		},
	}}
	e.View.Waiting = e.All[:1]
	return e
}

// newReactBench is a bench beside a process that runs reactions, with its data directory.
func newReactBench(t *testing.T, e *engine) (*bench, string) {
	t.Helper()
	b, o := newBench(t), attach.Options{Dir: t.TempDir()}
	if e != nil {
		o.Control = e
	}
	b.serve(t, o)
	return b, o.Dir
}

// serve lets commands attach to the bench's host until the test ends, as if another process had
// the store in o.Dir open.
func (b *bench) serve(t *testing.T, o attach.Options) {
	t.Helper()
	o.API, o.Store = b.standIn, b.store
	if err := os.WriteFile(filepath.Join(o.Dir, event.StoreFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := attach.Serve(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// clear forgets what was printed.
func (b *bench) clear() {
	b.out, b.err = mcptest.Buffer{}, mcptest.Buffer{}
}

func TestWithoutAnEngineReactionsSaySo(t *testing.T) {
	for _, args := range [][]string{
		{"react", "--once", "page", "--event", "7"}, {"react", "stop"}, {"react", "go"}, {"runs", "list"}, {"runs", "show", "waits"}, {"runs", "out", "waits"},
		{"runs", "retry", "waits"}, {"runs", "settle", "waits", "done"}, {"approve", "waits", "hash"}, {"deny", "waits"}, {"rules", "arm", "page"}, {"rules", "silence", "page", "1h"}, {"ask", "7", "why?"},
	} {
		b := newBench(t)
		b.expect(t, exitError, "no process runs reactions", append(args, "--data", t.TempDir())...)
		b, dir := newReactBench(t, nil)
		b.expect(t, exitError, "no process runs reactions", append(args, "--data", dir)...)
	}
}

func TestCommandsCallTheEngine(t *testing.T) {
	hash := newEngine().All[0].Request.Hash()
	for _, c := range []struct {
		args []string
		did  string
	}{
		{[]string{"approve", "waits", hash}, "approve waits"},
		{[]string{"approve", "waits", hash, "--for", "2h"}, "grant waits"},
		{[]string{"deny", "waits", "--reason", "not now"}, "deny waits not now"},
		{[]string{"deny", "waits", "--undo"}, "undeny waits"},
		{[]string{"runs", "retry", "ended"}, "retry ended"},
		{[]string{"runs", "settle", "ended", "failed", "--reason", "seen"}, "settle ended false seen"},
		{[]string{"react", "--once", "page", "--event", "7"}, "once page 7"},
		{[]string{"react", "stop", "--kill"}, "stop true"},
		{[]string{"react", "go"}, "go"},
		{[]string{"rules", "arm", "page", ruleHash}, "arm page " + ruleHash},
		{[]string{"rules", "disarm", "page"}, "disarm page"},
		{[]string{"rules", "silence", "page", "2h"}, "silence page true"},
		{[]string{"rules", "unsilence", "page"}, "silence page true"},
	} {
		e := newEngine()
		b, dir := newReactBench(t, e)
		for _, flags := range [][]string{{"--data", dir}, {"--data", dir, "--json"}} {
			e.Did = nil
			b.clear()
			b.expect(t, exitDone, "", append(slices.Clone(c.args), flags...)...)
			if len(e.Did) != 1 || e.Did[0] != c.did {
				t.Errorf("%q: the engine did %q", c.args, e.Did)
			}
			if out := b.out.String(); c.args[1] == "disarm" && !strings.Contains(out, "not armed") && !strings.Contains(out, `"armed":false`) {
				t.Errorf("%q: %s", c.args, out)
			}
			if out := b.out.String(); len(flags) == 3 && out != "" && !json.Valid([]byte(out)) {
				t.Errorf("%q: %s", c.args, out)
			}
		}
	}
	e := newEngine()
	b, dir := newReactBench(t, e)
	b.expect(t, exitError, react.ErrChanged.Error(), "approve", "waits", "0000", "--data", dir)
	b.clear()
	b.expect(t, exitUsage, "must be done or failed", "runs", "settle", "ended", "maybe", "--data", dir)
	b.clear()
	b.expect(t, exitError, "unknown rule", "rules", "arm", "other", "--data", dir)
	b.clear()
	b.expect(t, exitUsage, "must be a duration", "rules", "silence", "page", "soon", "--data", dir)
	if len(e.Did) != 0 {
		t.Errorf("the engine did %q", e.Did)
	}
}

func TestUnknownRunIsReportedAsSuch(t *testing.T) {
	for _, args := range [][]string{{"runs", "show", "nosuch"}, {"runs", "out", "nosuch"}, {"approve", "nosuch"}, {"approve", "nosuch", "0000"}} {
		b, dir := newReactBench(t, newEngine())
		b.expect(t, exitError, "unknown run; `eventdeck runs list` shows the ids", append(args, "--data", dir)...)
	}
}

// ruleHash is the hash of the rule page.
const ruleHash = "0123456789abcdef"

func TestArmingByHand(t *testing.T) {
	for _, c := range []struct {
		typed    string
		terminal bool
		code     int
		says     string
	}{
		{"abcdef\n", true, exitDone, "type the last 6 characters"},
		{"abcdef\n", false, exitUsage, "on a terminal"},
		{"\n", true, exitError, "the rule is as it was"},
		{"yes\n", true, exitError, "the rule is as it was"},
	} {
		e := newEngine()
		b, dir := newReactBench(t, e)
		b.p.Stdin, b.p.StdinTerminal, b.p.StderrTerminal = strings.NewReader(c.typed), c.terminal, c.terminal
		code := b.run(t, "rules", "arm", "page", "--data", dir)
		if text := b.err.String(); code != c.code || !strings.Contains(text, c.says) || c.terminal && !strings.Contains(text, ruleHash) {
			t.Errorf("%q: code %d: %s", c.typed, code, text)
		}
		if armed := len(e.Did) == 1; armed != (code == exitDone) {
			t.Errorf("%q: the engine did %q", c.typed, e.Did)
		}
	}
}

// A rule is armed and shown with the descriptions that servers give of its tools, which its
// hash covers.
func TestRuleIsShownWithItsTools(t *testing.T) {
	e := newEngine()
	tool := react.Tool{Server: "pager", Name: "look", Class: react.ToolRead}
	e.View.Rules[0].Rule.Do = react.Do{Task: &react.Task{Task: "Look.", Tools: []react.Tool{tool}}}
	e.Tools = []react.Pinned{{Tool: tool, Description: trust.Untrusted(evilText), Schema: []byte(`{"properties":{"id":{"type":"string"}}}`), Pin: "p1"}}
	shown := e.View.Rules[0]
	shown.Tools = e.Tools
	hash := string(shown.ArmHash())
	b, dir := newReactBench(t, e)
	b.expect(t, exitDone, "", "rules", "show", "page", "--data", dir)
	if out := b.out.String(); !strings.Contains(out, hash) || !strings.Contains(out, `\x1b[2J\u202etwo`) || !strings.Contains(out, `id = {"type":"string"}`) || !strings.Contains(out, "SHA-256 p1") {
		t.Error(out)
	}
	b.clear()
	b.expect(t, exitDone, "", "rules", "show", "page", "--json", "--data", dir)
	if out := b.out.String(); !strings.Contains(out, `"hash":"`+hash+`","armed":true,"tools":[{"server":"pager","name":"look","class":"read"`) {
		t.Error(out)
	}
	b.expect(t, exitError, "unknown rule", "rules", "show", "other", "--data", dir)
	b.clear()
	b.p.Stdin, b.p.StdinTerminal, b.p.StderrTerminal = strings.NewReader(hash[len(hash)-6:]+"\n"), true, true
	b.expect(t, exitDone, "pinned", "rules", "arm", "page", "--data", dir)
	if len(e.Did) != 1 || e.Did[0] != "arm page "+hash {
		t.Errorf("the engine did %q", e.Did)
	}
}

func TestApprovingByHand(t *testing.T) {
	hash := newEngine().All[0].Request.Hash()
	for _, c := range []struct {
		typed    string
		terminal bool
		code     int
		says     string
		more     []string
	}{
		{hash[len(hash)-6:] + "\n", true, exitDone, "To approve exactly this, type the last 6 characters", nil},
		{hash[len(hash)-6:] + "\n", true, exitDone, "To approve exactly this, and whenever the rule does the same for 2h, type", []string{"--for", "2h"}},
		{hash[len(hash)-6:] + "\n", true, exitUsage, "must be a duration", []string{"--for", "soon"}},
		{hash[len(hash)-6:] + "\n", false, exitUsage, "on a terminal", nil},
		{"\n", true, exitError, "nothing was done", nil},
		{"ffffff\n", true, exitError, "nothing was done", nil},
		{"y\n", true, exitError, "nothing was done", nil},
		{"", true, exitError, "nothing was done", nil},
	} {
		e := newEngine()
		b, dir := newReactBench(t, e)
		b.p.Stdin, b.p.StdinTerminal, b.p.StderrTerminal = strings.NewReader(c.typed), c.terminal, c.terminal
		code := b.run(t, append([]string{"approve", "waits", "--data", dir}, c.more...)...)
		text := b.err.String()
		if code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%q: code %d: %s", c.typed, code, text)
		}
		if approved := len(e.Did) == 1; approved != (code == exitDone) {
			t.Errorf("%q: the engine did %q", c.typed, e.Did)
		}
		if c.code == exitUsage {
			continue
		}
		// The block is the program's alone: the payload stands in its gutter above.
		if !strings.Contains(text, `"/bin/page"`) || !strings.Contains(text, "\nhash          "+hash) || strings.Contains(text, "\nhash        ffffff") || strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("what is shown: %s", text)
		}
	}
}

func TestRunsAreListedAndShown(t *testing.T) {
	b, dir := newReactBench(t, newEngine())
	out := func(args ...string) string {
		t.Helper()
		b.clear()
		if code := b.run(t, append(args, "--data", dir)...); code != exitDone {
			t.Fatalf("%q: %d, %s", args, code, b.err.String())
		}
		if text := b.out.String() + b.err.String(); strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%q: %q", args, text)
		}
		return b.out.String()
	}
	if got := out("runs", "list", "--state", "failed"); !strings.HasPrefix(got, "ended  page  failed") || !strings.Contains(got, "2  -  exit code 3") {
		t.Error(got)
	}
	want := `{"id":"ended","rule":"page","ns":"live","state":"failed","why":"exit code 3","line":"","key":"","members":2,"first":3,"last":5,"attempt":0,"created":"2026-07-28T12:00:00Z","due":null,"started":null,"ended":null,"exit":3,"spend":"` + react.Money(0) + `"}` + "\n"
	if got := out("runs", "list", "--state", "failed", "--json"); got != want {
		t.Error(got)
	}
	if got := out("runs", "show", "ended"); !strings.Contains(got, `"/bin/page"`) || !strings.Contains(got, "1000 bytes") {
		t.Error(got)
	}
	if got := out("runs", "show", "gathers"); !strings.Contains(got, "2 records from number 8 to 9") {
		t.Error(got)
	}
	if got := out("runs", "show", "waits", "--json"); !json.Valid([]byte(got)) || !strings.Contains(got, `"hash":"`) {
		t.Error(got)
	}
	if got := out("runs", "out", "ended"); !strings.HasPrefix(got, "one\n") || !strings.Contains(got, "bytes were not kept") || !strings.HasSuffix(got, "end\n") {
		t.Error(got)
	}
	if got := out("runs", "out", "ended", "--json"); !json.Valid([]byte(got)) {
		t.Error(got)
	}
	if got := out("react", "--once", "page", "--event", "7", "--dry-run"); !strings.Contains(got, "it would ask") {
		t.Error(got)
	}
	b.clear()
	if code := b.run(t, "__complete", "--data", dir, "approve", ""); code != exitDone || !strings.Contains(b.out.String(), "waits\tpage, asking") {
		t.Error(code, b.out.String())
	}
}

func TestStoppingWhereNoEngineRuns(t *testing.T) {
	b, dir := newBench(t), t.TempDir()
	if code := b.run(t, "react", "stop", "--kill", "--data", dir); code != exitDone || !strings.Contains(b.err.String(), "react.stop") {
		t.Errorf("%d, %s", code, b.err.String())
	}
	if _, err := os.Stat(filepath.Join(dir, react.StopFile)); err != nil {
		t.Error(err)
	}
}

// What was promised is done even if the process with the store takes no more commands.
func TestStopIsWrittenBeforeTheEngineIsAsked(t *testing.T) {
	b, dir := newReactBench(t, newEngine())
	for {
		c, err := attach.Attach(t.Context(), dir)
		if errors.Is(err, attach.ErrBusy) {
			break
		}
		if err == nil {
			t.Cleanup(func() { _ = c.Close() }) // it never fails
		} else if !errors.Is(err, event.ErrSilent) {
			t.Fatal(err)
		}
	}
	b.expect(t, exitError, "commands are attached; wait for one of them", "react", "stop", "--data", dir)
	b.clear()
	b.expect(t, exitDone, "commands are attached; wait for one of them, or end it; what still runs ends within a second", "react", "stop", "--kill", "--data", dir)
	if _, err := os.Stat(filepath.Join(dir, react.StopFile)); err != nil {
		t.Error(err)
	}
}

// A directory with the token of a process and no store is the near end of a link to that process: no
// store is made there, which would be taken for its.
func TestNoStoreIsMadeAtTheEndOfALink(t *testing.T) {
	b, dir := newBench(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "attach.token"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"events"}, {"subs", "list"}, {"tail", "pager", "incident.created"}, {"react", "stop", "--kill"}} {
		b.clear()
		code := b.run(t, append(args, "--data", dir)...)
		if stop := args[0] == "react"; code == exitDone || strings.Contains(b.err.String(), "connection to that is cut") == stop {
			t.Errorf("%s: code %d, %s", args, code, b.err.String())
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || len(b.opened) > 0 {
		t.Errorf("%v, %v; opened %v", files, err, b.opened)
	}
}

// silentDir returns a data directory whose process listens and does not answer, as a stopped one.
func silentDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ed") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", attach.SocketOf(dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return dir
}

func TestReactionsBesideAStoppedProcess(t *testing.T) {
	b := newBench(t)
	dir := silentDir(t)
	b.expect(t, exitError, "the process with the store does not answer", "react", "go", "--data", dir)
	if strings.Contains(b.err.String(), "no process") {
		t.Error(b.err.String())
	}
	b.clear()
	b.expect(t, exitDone, "does not answer", "react", "stop", "--kill", "--data", dir)
	if _, err := os.Stat(filepath.Join(dir, react.StopFile)); err != nil {
		t.Error(err)
	}
}

func TestRulesBesideAStoppedProcess(t *testing.T) {
	b := newBench(t)
	dir := silentDir(t)
	servers, _ := withRules(t, pageRule)
	b.expect(t, exitDone, "a running eventdeck knows is missing here: the process with the store does not answer", "rules", "list", "--config", servers, "--data", dir)
	b.clear()
	b.expect(t, exitError, "the process with the store does not answer: it has "+dir+" open", "store", "check", "--data", dir)
}
