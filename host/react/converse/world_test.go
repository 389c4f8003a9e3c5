package converse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"eventdeck/host/event"
	"eventdeck/host/model/modeltest"
	"eventdeck/host/react"
	"eventdeck/host/react/act"
	"eventdeck/host/react/converse"
	"eventdeck/host/react/engine"
	"eventdeck/host/trust"
	"eventdeck/store"
	"eventdeck/store/seal"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}

const patience = time.Minute

// called is a call that reached a server.
type called struct{ server, tool, args string }

// box has the tools of some servers. A change of a tool shows in the next list.
type box struct {
	mu     sync.Mutex
	tools  map[string][]react.ToolDef
	answer func(server, tool, args string) (react.ToolResult, error)
	calls  []called
	lists  map[string]int // how often each server was asked for its tools
	within time.Duration  // that was left for the last list; 0: any time
}

func (b *box) ToolsOf(ctx context.Context, server string) ([]react.ToolDef, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lists == nil {
		b.lists = map[string]int{}
	}
	b.lists[server]++
	if end, ok := ctx.Deadline(); ok {
		b.within = time.Until(end)
	}
	tools, ok := b.tools[server]
	if !ok {
		return nil, errors.New("no such server")
	}
	return slices.Clone(tools), nil
}

func (b *box) CallTool(_ context.Context, server, tool string, args json.RawMessage) (react.ToolResult, error) {
	b.mu.Lock()
	b.calls = append(b.calls, called{server, tool, string(args)})
	answer := b.answer
	b.mu.Unlock()
	if answer == nil {
		return react.ToolResult{Content: trust.Untrusted("ok")}, nil
	}
	return answer(server, tool, string(args))
}

func (b *box) got() []called {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.calls)
}

// change replaces the description of a tool.
func (b *box) change(server, tool string, fn func(*react.ToolDef)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.tools[server] {
		if d := &b.tools[server][i]; d.Name == tool {
			fn(d)
		}
	}
}

func def(name, schema string) react.ToolDef {
	return react.ToolDef{Name: name, Description: trust.Untrusted("does " + name), Schema: json.RawMessage(schema), Pin: "pin of " + name}
}

const anything = `{"type":"object"}`

// runners are acts and models as one.
type runners struct {
	*converse.Runner
	acts *act.Runner
}

func (r runners) of(req react.Request) react.Runner {
	switch req.Kind {
	case react.RequestModel, react.RequestChoice, react.RequestTool:
		return r.Runner
	}
	return r.acts
}

func (r runners) Ready(ctx context.Context, req react.Request, n int) (react.Attempt, error) {
	return r.of(req).Ready(ctx, req, n)
}

func (r runners) Adopt(ctx context.Context, req react.Request, h react.Handle) (react.Attempt, error) {
	return r.of(req).Adopt(ctx, req, h)
}

// world is a store with an engine, a model, and servers with tools.
type world struct {
	t     testing.TB
	dir   string
	file  react.File
	model *modeltest.Server
	box   *box
	store *store.Store
	e     *engine.Engine
	now   func() time.Time
	wait  func(context.Context, time.Duration) error // before a busy model is asked again; nil: by a timer

	mu    sync.Mutex
	marks []event.Mark
}

func (w *world) SetMark(_ context.Context, m event.Mark) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.marks = append(w.marks, m)
	return nil
}

func (w *world) marked() []event.Mark {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.marks)
}

// newWorld opens a world with one rule, which is armed.
func newWorld(t testing.TB, do func(m react.Model) react.Do) *world {
	w := &world{t: t, dir: t.TempDir(), model: modeltest.New(t), box: &box{}, now: time.Now}
	w.box.tools = map[string][]react.ToolDef{
		"pager": {
			def("get", `{"type":"object","properties":{"id":{"type":"string"},"env":{"type":"string"},"force":{"type":"boolean"}},"required":["id","env"],"additionalProperties":false}`),
			def("undo", `{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`),
		},
		"git": {def("log", anything)},
	}
	m := w.model.Model(react.WireChat)
	w.file = react.File{Path: "rules.json", Models: []react.Model{m}, Rules: []react.Rule{{
		Name: "page", On: react.Source{Server: "pager", Types: react.Types{"incident"}, Kind: event.KindEvent}, Key: []string{".case"}, Age: time.Hour,
		Mode: react.ModeAuto, Limits: react.Limits{Tokens: 100_000, Spend: 500_000, Time: time.Minute}, Do: do(m), Where: "rules.json:1:1",
	}}}
	if err := os.WriteFile(filepath.Join(w.dir, "rules.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) rule() *react.Rule { return &w.file.Rules[0] }

func (w *world) open() {
	w.t.Helper()
	var err error
	if w.store, err = store.Open(w.t.Context(), store.Options{Dir: filepath.Join(w.dir, "data"), Keyring: seal.NoKeyring()}); err != nil {
		w.t.Fatal(err)
	}
	acts, err := act.New(act.Options{Dir: w.dir, Executable: "/nowhere", Marks: w})
	if err != nil {
		w.t.Fatal(err)
	}
	w.e, err = engine.Open(engine.Options{
		Store: w.store, Runner: runners{converse.New(converse.Options{Tools: w.box, Acts: acts, Wait: w.wait, Jitter: func() float64 { return 0 }}), acts}, Now: w.now,
		Path: filepath.Join(w.dir, "rules.json"), Dir: w.dir, Parse: func(string, []byte) (react.File, error) { return w.file, nil },
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) close() {
	w.t.Helper()
	if err := errors.Join(w.e.Close(), w.store.Close()); err != nil {
		w.t.Error(err)
	}
}

// begin opens the world until the test ends, and arms the rule.
func (w *world) begin() {
	w.t.Helper()
	w.open()
	w.t.Cleanup(func() { w.close() })
	w.arm()
}

func (w *world) arm() {
	w.t.Helper()
	w.await("the rule is read", func() bool { return len(w.e.Reactions().Rules) == 1 })
	v, err := w.e.Rule(w.t.Context(), "page")
	if err == nil {
		err = w.e.Arm(w.t.Context(), "page", v.ArmHash())
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// submit stores events.
func (w *world) submit(payloads ...string) {
	w.t.Helper()
	b := event.Batch{Sub: "s1", Awaited: true}
	for _, p := range payloads {
		b.Records = append(b.Records, event.Record{
			Kind: event.KindEvent, Server: "pager", Type: trust.Untrusted("incident"), Sub: "s1", EventID: trust.Untrusted(fmt.Sprint(time.Now().UnixNano(), len(b.Records))),
			ReceivedAt: w.now(), Data: []byte(p),
		})
	}
	done := make(chan error, 1)
	b.Done = func(_ event.Outcome, err error) { done <- err }
	if err := w.store.Submit(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
	if err := <-done; err != nil {
		w.t.Fatal(err)
	}
}

// await waits until a condition holds.
func (w *world) await(what string, so func() bool) {
	w.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !so(); <-tick.C {
		if time.Now().After(deadline) {
			w.t.Fatalf("not within %v: %s; runs %+v", patience, what, w.runs())
		}
	}
}

func (w *world) runs() []react.Run {
	w.t.Helper()
	all, err := w.e.Runs(w.t.Context(), react.Query{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// only waits until the only run is in a state.
func (w *world) only(state react.State) react.Run {
	w.t.Helper()
	var run react.Run
	w.await("the run is "+string(state), func() bool {
		all := w.runs()
		if len(all) == 1 {
			run = all[0]
			if run.State.Over() && run.State != state {
				w.t.Fatalf("the run is %s (%s), not %s", run.State, run.Why, state)
			}
		}
		return len(all) == 1 && run.State == state
	})
	return run
}

func (w *world) steps(id react.RunID) []react.Step {
	w.t.Helper()
	all, err := w.e.Steps(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

func (w *world) approve(r react.Run) {
	w.t.Helper()
	if err := w.e.Approve(w.t.Context(), r.ID, r.Request.Hash()); err != nil {
		w.t.Fatal(err)
	}
}

func call(id, name, args string) react.Call {
	return react.Call{ID: id, Name: name, Args: json.RawMessage(args)}
}

func read(server, name string) react.Tool {
	return react.Tool{Server: server, Name: name, Class: react.ToolRead}
}

func write(server, name string) react.Tool {
	return react.Tool{Server: server, Name: name, Class: react.ToolWrite}
}

// task is an act that has a model call tools.
func task(tools ...react.Tool) func(react.Model) react.Do {
	return func(m react.Model) react.Do {
		return react.Do{Task: &react.Task{Model: m, Task: "Find the cause.", Tools: tools}}
	}
}
