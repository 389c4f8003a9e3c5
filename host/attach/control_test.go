package attach_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/attach"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

func token(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "attach.token"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A process that can reach the socket and cannot read the data directory, such as a confined
// command, gets no session.
func TestNoSessionWithoutTheToken(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(f.dir, "attach.sock"))
	}}}
	defer client.CloseIdleConnections()
	for _, given := range []string{"", "x", token(t, f.dir)[1:]} {
		for _, path := range []string{"session", "approve", "backup"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://attach/v3/"+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Eventdeck-Token", given)
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode < 400 {
				t.Errorf("token %q, %s: HTTP %d", given, path, res.StatusCode)
			}
		}
	}
	if info, err := os.Stat(filepath.Join(f.dir, "attach.token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	before := token(t, f.dir)
	if err := os.WriteFile(filepath.Join(f.dir, "attach.token"), []byte("of another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := attach.Attach(t.Context(), f.dir); !errors.Is(err, react.ErrToken) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(filepath.Join(f.dir, "attach.token"), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	f.client()
}

// However many screens and tails are attached, commands find a place, and the other way round.
func TestFollowersLeavePlacesForCommands(t *testing.T) {
	f := newOwnerWith(t, &engine{})
	open := func(enter func(context.Context, string) (*attach.Client, error), places int) *attach.Client {
		t.Helper()
		var last *attach.Client
		for range places {
			c, err := untilAnswered(func() (*attach.Client, error) { return enter(t.Context(), f.dir) })
			if err != nil {
				t.Fatal(err)
			}
			last = c
			t.Cleanup(func() { _ = c.Close() }) // it never fails
		}
		if c, err := untilAnswered(func() (*attach.Client, error) { return enter(t.Context(), f.dir) }); !errors.Is(err, attach.ErrBusy) {
			t.Errorf("%v, %v after %d", c, err, places)
		}
		return last
	}
	open(attach.Follow, 256)
	if err := open(attach.Attach, 64).Control().Disarm(t.Context(), "page"); err != nil {
		t.Error(err)
	}
}

// The file is written before the engine is asked, which may fail.
func TestToKillTheStopFileIsWrittenFirst(t *testing.T) {
	f := newOwnerWith(t, &engine{err: react.ErrState})
	c := f.client().Control()
	file := filepath.Join(f.dir, react.StopFile)
	for _, kill := range []bool{false, true} {
		if err := c.Stop(t.Context(), kill); !errors.Is(err, react.ErrState) {
			t.Error(err)
		}
		if _, err := os.Stat(file); (err == nil) != kill {
			t.Errorf("kill %t: %v", kill, err)
		}
	}
}

// engine is a [react.Control] that notes its calls and returns err.
type engine struct {
	react.Control
	mu   sync.Mutex
	view react.View
	got  []string
	err  error
}

func (e *engine) note(what string, args ...any) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.got = append(e.got, fmt.Sprint(append([]any{what}, args...)...))
	e.view.Revision++
	return e.err
}

func (e *engine) Reactions() react.View {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.view
}

func (e *engine) Runs(_ context.Context, q react.Query) ([]react.Run, error) {
	return []react.Run{someRun()}, e.note("runs", q)
}
func (e *engine) Run(_ context.Context, id react.RunID) (react.Run, error) {
	return someRun(), e.note("run", id)
}
func (e *engine) Steps(_ context.Context, id react.RunID) ([]react.Step, error) {
	return someSteps(), e.note("steps", id)
}
func (e *engine) AskModel(_ context.Context, q react.Question) (react.RunID, error) {
	return "m", e.note("ask-model", q)
}
func (e *engine) ClientRequest(_ context.Context, w react.ClientRequest) (react.Run, error) {
	return someRun(), e.note("wish", w)
}
func (e *engine) Explain(_ context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	return []react.Verdict{{Rule: rule, Seq: seq, Value: odd}}, e.note("explain", seq, rule)
}
func (e *engine) Approve(_ context.Context, id react.RunID, hash string) error {
	return e.note("approve", id, hash)
}
func (e *engine) Deny(_ context.Context, id react.RunID, reason string) error {
	return e.note("deny", id, reason)
}
func (e *engine) Undeny(_ context.Context, id react.RunID) error { return e.note("undeny", id) }
func (e *engine) Grant(_ context.Context, id react.RunID, hash string, until time.Time) error {
	return e.note("grant", id, hash, until.Unix())
}
func (e *engine) Retry(_ context.Context, id react.RunID) (react.RunID, error) {
	return id + "2", e.note("retry", id)
}
func (e *engine) Settle(_ context.Context, id react.RunID, done bool, reason string) error {
	return e.note("settle", id, done, reason)
}
func (e *engine) Once(_ context.Context, rule string, seq uint64) (react.RunID, error) {
	return "r", e.note("once", rule, seq)
}
func (e *engine) Rule(_ context.Context, name string) (react.RuleView, error) {
	return react.RuleView{Rule: react.Rule{Name: name}, Tools: []react.Pinned{{Description: odd}}}, e.note("rule", name)
}
func (e *engine) Arm(_ context.Context, rule string, hash react.Hash) error {
	return e.note("arm", rule, hash)
}
func (e *engine) Disarm(_ context.Context, rule string) error { return e.note("disarm", rule) }
func (e *engine) Silence(_ context.Context, rule string, until time.Time) error {
	return e.note("silence", rule, until.Unix())
}
func (e *engine) Stop(_ context.Context, kill bool) error { return e.note("stop", kill) }
func (e *engine) Go(context.Context) error                { return e.note("go") }

func someSteps() []react.Step {
	return []react.Step{{N: 1, Kind: react.StepTool, Server: "pager", Tool: "look", Class: react.ToolRead, State: react.StepDone,
		Args: []byte(`{"x":1}`), Result: &react.ToolResult{Content: odd, Cut: 3}, Began: time.Unix(1e9, 0).UTC()}}
}

func someRun() react.Run {
	return react.Run{ID: "a", State: react.Asking, Frozen: react.Frozen(`{"x": 1}`), Due: time.Unix(1e9, 0).UTC(),
		Request: &react.Request{Kind: react.RequestCommand, Argv: []string{"/bin/true"}, Files: react.Files{Confine: &react.Confine{Read: []string{"/srv"}}}, Input: []byte("\xff\x00")},
		Members: react.Members{Count: 2, Top: map[string][]react.Count{".a": {{Value: odd, N: 2}}}},
		Result:  &react.Result{Outcome: react.OutcomeDone, Output: react.Output{Stdout: react.Stream{Head: odd, Bytes: 4}}}}
}

func TestEveryVerbOfReactionsIsSent(t *testing.T) {
	e := &engine{view: react.View{On: true, Revision: 1, Waiting: []react.Run{someRun()}, Rules: []react.RuleView{{Rule: react.Rule{Name: "page"}, Armed: true}}}}
	f := newOwnerWith(t, e)
	c := f.client().Control()
	if v := c.Reactions(); !reflect.DeepEqual(v, e.view) {
		t.Errorf("the state is %+v\ninstead of %+v", v, e.view)
	}
	ctx, when := t.Context(), time.Unix(2e9, 0)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	runs, err := c.Runs(ctx, react.Query{Rule: "page", States: []react.State{react.Done}, Limit: 3})
	must(err)
	run, err := c.Run(ctx, "a")
	must(err)
	if !reflect.DeepEqual(runs, []react.Run{someRun()}) || !reflect.DeepEqual(run, someRun()) || run.Request.Hash() != someRun().Request.Hash() {
		t.Errorf("runs changed on the way: %+v", run)
	}
	verdicts, err := c.Explain(ctx, 7, "page")
	must(err)
	if len(verdicts) != 1 || verdicts[0].Value != odd || verdicts[0].Seq != 7 {
		t.Errorf("%+v", verdicts)
	}
	must(c.Approve(ctx, "a", "h"))
	must(c.Deny(ctx, "a", "no"))
	must(c.Undeny(ctx, "a"))
	must(c.Grant(ctx, "a", "h", when))
	id, err := c.Retry(ctx, "a")
	must(err)
	if id != "a2" {
		t.Error(id)
	}
	must(c.Settle(ctx, "a", true, "seen"))
	id, err = c.Once(ctx, "page", 7)
	must(err)
	if id != "r" {
		t.Error(id)
	}
	steps, err := c.Steps(ctx, "a")
	must(err)
	if !reflect.DeepEqual(steps, someSteps()) {
		t.Errorf("steps changed on the way: %+v", steps)
	}
	id, err = c.AskModel(ctx, react.Question{Seq: 7, Model: "local", Task: "why?", Typed: true})
	must(err)
	if id != "m" {
		t.Error(id)
	}
	rule, err := c.Rule(ctx, "page")
	must(err)
	if rule.Rule.Name != "page" || len(rule.Tools) != 1 || rule.Tools[0].Description != odd {
		t.Errorf("%+v", rule)
	}
	requested, err := c.ClientRequest(ctx, react.ClientRequest{Client: odd, Server: "pager", Type: odd})
	must(err)
	if requested.ID != someRun().ID {
		t.Error(requested)
	}
	must(c.Arm(ctx, "page", "h"))
	must(c.Disarm(ctx, "page"))
	must(c.Silence(ctx, "page", when))
	must(c.Stop(ctx, true))
	must(c.Go(ctx))
	want := []string{
		fmt.Sprint("runs", react.Query{Rule: "page", States: []react.State{react.Done}, Limit: 3}), "run" + "a", fmt.Sprint("explain", 7, "page"),
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.got) != reflect.TypeFor[react.Control]().NumMethod()-1 || e.got[0] != want[0] || e.got[4] != fmt.Sprint("deny", "a", "no") {
		t.Errorf("the engine was asked %q", e.got)
	}
}

func TestChangesOfReactionsAreReported(t *testing.T) {
	e := &engine{view: react.View{On: true, Revision: 1}}
	f := newOwnerWith(t, e)
	c := f.client()
	c.Control().Reactions()
	e.mu.Lock()
	e.view.Revision, e.view.Stopped = 2, true
	e.mu.Unlock()
	await(t, c, "that it is stopped", func() bool { return c.Control().Reactions().Stopped })
}

func TestErrorsOfReactionsKeepTheirIdentity(t *testing.T) {
	e := &engine{}
	f := newOwnerWith(t, e)
	c := f.client().Control()
	for _, want := range []error{
		react.ErrNoRule, react.ErrNoModel, react.ErrNoRun, react.ErrState, react.ErrChanged, react.ErrNotEngine, react.ErrToken,
		react.ErrBoundary, react.ErrProgram, react.ErrTarget, react.ErrSecretMissing, react.ErrClientRequests,
	} {
		e.mu.Lock()
		e.err = fmt.Errorf("%w: %v", want, trust.Untrusted("x"))
		e.mu.Unlock()
		if err := c.Approve(t.Context(), "a", "h"); !errors.Is(err, want) {
			t.Errorf("%v became %v", want, err)
		}
	}
}

func TestWithoutAnEngineReactionsAreRefused(t *testing.T) {
	f := newOwner(t, t.TempDir(), nil)
	c := f.client().Control()
	if v := c.Reactions(); v.On {
		t.Error("it is on")
	}
	if err := c.Approve(t.Context(), "a", "h"); !errors.Is(err, react.ErrNotEngine) {
		t.Error(err)
	}
}

// Active runs are sent without their contents: those of hundreds of large runs would exceed the
// bound of a response.
func TestActiveRunsAreSentWithoutContents(t *testing.T) {
	large := strings.Repeat("x", 200<<10)
	request := func() *react.Request {
		return &react.Request{Kind: react.RequestTool, Run: "a", Rule: "page", Server: "pager", Tool: "look", Task: large, Input: []byte(large),
			Tools: []react.Pinned{{Description: trust.Untrusted(large)}}, Choices: []react.Act{{Name: large}}}
	}
	e := &engine{view: react.View{On: true, Revision: 1}}
	run := react.Run{ID: "a", Rule: "page", State: react.Running, Frozen: react.Frozen(`"` + large + `"`), Request: request(), Began: request()}
	for range 500 {
		e.view.Active = append(e.view.Active, run)
	}
	e.view.Waiting = []react.Run{{ID: "w", Request: request()}}
	c := newOwnerWith(t, e).client().Control()
	got := c.Reactions()
	raw, err := json.Marshal(got.Active)
	if err != nil || len(got.Active) != 500 || len(raw) > 1<<20 || got.Active[0].Request.Tool != "look" {
		t.Errorf("%d runs in %d bytes, %v", len(got.Active), len(raw), err)
	}
	if len(got.Waiting) != 1 || got.Waiting[0].Request.Hash() != request().Hash() {
		t.Error("a run that waits for approval is not complete")
	}
	if run.Request.Tools == nil || run.Frozen == nil {
		t.Error("the engine's own runs were changed")
	}
}
