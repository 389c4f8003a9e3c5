package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// world is what outlives an engine: the log, the journal, and what commands and receivers
// of webhooks have seen. An engine lives in it until it is killed: then nothing that it does
// has an effect any more.
type world struct {
	t    testing.TB
	dir  string
	file react.File
	edit int // versions of rules.json

	mu      sync.Mutex
	records map[uint64]event.Record
	last    uint64
	tables  map[event.JournalTable]map[string][]byte
	audits  []event.AuditEntry
	commits int
	full    bool // the disk is
	// unreadable is a record at which Scan fails; 0: none. unread counts how often it did.
	unreadable uint64
	unread     int
	watches    map[int]func([]event.Record)
	watchID    int

	begun   map[string]int           // run/attempt -> how often it was begun
	results map[string]react.Result  // of what is over
	ends    map[string]chan struct{} // closed with the result
	inputs  map[react.RunID][]uint64 // sequence numbers that the act got
	sends   map[react.RunID]int      // of webhooks
	program string                   // what stands where the command is
	runBy   []react.Interpreter      // of the command, as a script
	lasts   time.Duration            // how long an act runs
	outcome func(react.RunID, int) react.Outcome
	cut     bool                   // acts that were begun leave nothing behind, as in a power cut
	live    bool                   // subscriptions are
	unbound bool                   // commands cannot be confined
	lacks   string                 // where the disk is full: "", "prepare", "ready"
	logged  strings.Builder        // warnings of engines
	unset   func(members int) bool // the secret of an act with so many members, 0 for the act of a rule, is not set

	plan    func(react.Request) []planned // what the model of a run does
	called  map[string]int                // run/step -> how often a tool was really called
	wrote   map[string]int                // of these, those that write
	paid    map[react.RunID]int64         // micro-dollars that models really took
	lives   int                           // that are over
	said    string                        // what a model answers
	input   func(rule string) []byte      // what an act gets beside the numbers of its records
	listing chan struct{}                 // closed when servers have listed their tools; nil: at once
	calls   []react.Call                  // of tools, with its answer
	words   string                        // that a model says
	skew    time.Duration                 // by which the clock of the host is wrong
	answers map[react.RunID][]react.Answered
}

func newWorld(t testing.TB, rules ...react.Rule) *world {
	w := &world{
		t: t, dir: t.TempDir(), records: map[uint64]event.Record{}, tables: map[event.JournalTable]map[string][]byte{},
		watches: map[int]func([]event.Record){}, begun: map[string]int{}, results: map[string]react.Result{}, ends: map[string]chan struct{}{},
		inputs: map[react.RunID][]uint64{}, sends: map[react.RunID]int{}, program: "v1", live: true,
		called: map[string]int{}, wrote: map[string]int{}, paid: map[react.RunID]int64{}, answers: map[react.RunID][]react.Answered{},
		outcome: func(react.RunID, int) react.Outcome { return react.OutcomeDone },
	}
	w.rules(rules...)
	return w
}

// rules replaces rules.json.
func (w *world) rules(rules ...react.Rule) {
	w.mu.Lock()
	w.file = react.File{Path: w.path(), Rules: rules, Limits: react.Limits{Running: 4}, Models: []react.Model{theModel()}}
	n := w.commits
	w.mu.Unlock()
	w.write(fmt.Sprintf("rules of test %d %d", n, len(fmt.Sprint(rules))))
}

func (w *world) path() string { return filepath.Join(w.dir, "rules.json") }

// write replaces rules.json. Each version is modified a second later than the one before: in
// simulated time two of them may have the same size and be written at the same moment.
func (w *world) write(content string) {
	w.t.Helper()
	w.edit++
	modified, draft := time.Unix(1e9+int64(w.edit), 0), w.path()+".new"
	must(w.t, os.WriteFile(draft, []byte(content), 0o600))
	must(w.t, os.Chtimes(draft, modified, modified))
	must(w.t, os.Rename(draft, w.path()))
}

// life is the world as one engine sees it.
type life struct {
	w      *world
	mu     sync.Mutex
	dead   bool
	target string // failpoint at which it dies
	left   int    // how often that is passed before
	passed map[string]int
}

func (l *life) kill() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
}

func (l *life) isDead() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dead
}

func (l *life) failpoint(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed[name]++
	if name == l.target && !l.dead {
		if l.left--; l.left < 0 {
			l.dead = true
		}
	}
}

// open begins an engine that dies at a failpoint, if one is named.
func (w *world) open(target string, after int) (*Engine, *life) {
	w.t.Helper()
	l := &life{w: w, target: target, left: after, passed: map[string]int{}}
	e, err := Open(Options{
		Store: l, Runner: l, Path: w.path(), Dir: w.dir, Failpoint: l.failpoint, Log: slog.New(slog.NewTextHandler(w, nil)),
		Parse: func(_ string, content []byte) (react.File, error) {
			if string(content) == "broken" {
				return react.File{}, errors.New("rules.json:1:1: broken")
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.file, nil
		},
		Live: func(react.Source) bool {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.live
		},
		Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			return time.Now().Add(w.skew)
		},
		Unsigned: func(id event.SubID) bool { return id == "unsigned" },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return e, l
}

// opened returns an engine that is closed when the test ends.
func (w *world) opened() *Engine {
	w.t.Helper()
	e, _ := w.open("", 0)
	w.t.Cleanup(func() { closed(w.t, e) })
	return e
}

// armed returns such an engine with every rule armed.
func (w *world) armed() *Engine {
	w.t.Helper()
	e := w.opened()
	arm(w.t, e)
	return e
}

// after is closed, or told, when an act has taken its time.
func (w *world) after() <-chan time.Time { return time.After(w.lasts) }

func record(server, typ, data string) event.Record {
	return event.Record{
		Kind: event.KindEvent, Sub: event.SubID(server + typ), Server: server, Type: trust.Untrusted(typ), Mode: event.ModePush,
		ReceivedAt: time.Now().UTC(), Data: []byte(data), Raw: []byte(data),
	}
}

// submit commits records.
func (w *world) submit(records ...event.Record) uint64 {
	w.mu.Lock()
	for i := range records {
		w.last++
		records[i].Seq = w.last
		w.records[w.last] = records[i]
	}
	watches := slices.Collect(maps.Values(w.watches))
	last := w.last
	w.mu.Unlock()
	for _, fn := range watches {
		fn(records)
	}
	return last
}

// happens commits an incident, and lets time pass.
func (w *world) happens(data string, d time.Duration) {
	w.submit(record("pager", "incident", data))
	rest(d)
}

func (l *life) Last() uint64 {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	return l.w.last
}

func (l *life) Get(seq uint64) (event.Record, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	r, ok := l.w.records[seq]
	if !ok {
		return r, event.ErrNotFound
	}
	return r, nil
}

func (l *life) Scan(from, to uint64, fn func(*event.Record) bool) error {
	step := uint64(1)
	if to < from {
		step = ^uint64(0)
	}
	for seq := from; ; seq += step {
		l.w.mu.Lock()
		r, ok := l.w.records[seq]
		last := l.w.last
		damaged := ok && seq == l.w.unreadable
		if damaged {
			l.w.unread++
		}
		l.w.mu.Unlock()
		if damaged {
			return fmt.Errorf("record %d is damaged", seq)
		}
		if ok && !fn(&r) || seq == to || seq > last {
			return nil
		}
	}
}

func (l *life) Watch(fn func([]event.Record)) (stop func()) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	l.w.watchID++
	id := l.w.watchID
	l.w.watches[id] = fn
	return func() {
		l.w.mu.Lock()
		defer l.w.mu.Unlock()
		delete(l.w.watches, id)
	}
}

func (l *life) Journal() event.Journal { return l }

// Change takes as long as a sync of a disk.
func (l *life) Change(_ context.Context, c event.JournalChange) error {
	time.Sleep(3 * time.Millisecond)
	if l.isDead() {
		return event.ErrClosed
	}
	w := l.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.full {
		return event.ErrFull
	}
	for _, e := range c.Put {
		if len(e.Key) == 0 || len(e.Key) > 200 || len(e.Value) > maxEntry {
			w.t.Errorf("entry %q of %s has %d bytes", e.Key, e.Table, len(e.Value))
		}
		if w.tables[e.Table] == nil {
			w.tables[e.Table] = map[string][]byte{}
		}
		w.tables[e.Table][e.Key] = slices.Clone(e.Value)
	}
	for _, e := range c.Delete {
		delete(w.tables[e.Table], e.Key)
	}
	w.audits = append(w.audits, c.Audit...)
	w.commits++
	return nil
}

func (l *life) Entry(table event.JournalTable, key string) ([]byte, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	v, ok := l.w.tables[table][key]
	if !ok {
		return nil, event.ErrNotFound
	}
	return slices.Clone(v), nil
}

func (l *life) Entries(table event.JournalTable, prefix string, fn func(string, []byte) bool) error {
	l.w.mu.Lock()
	all := maps.Clone(l.w.tables[table])
	l.w.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if len(key) >= len(prefix) && key[:len(prefix)] == prefix && !fn(key, all[key]) {
			return nil
		}
	}
	return nil
}

// The world's acts.

func (l *life) Prepare(rule react.Rule, run react.Run, members []event.Record) (react.Request, error) {
	if l.w.listing != nil && rule.Do.Task != nil && len(members) > 0 {
		<-l.w.listing
	}
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	req := react.Request{Run: run.ID, Rule: rule.Name, Count: run.Members.Count, Time: time.Minute}
	for _, m := range members {
		req.Input = fmt.Appendf(req.Input, "%d ", m.Seq)
	}
	if len(members) > 0 {
		req.Seq = members[0].Seq
		if l.w.input != nil {
			req.Input = append(req.Input, l.w.input(rule.Name)...)
		}
	}
	switch {
	case l.w.lacks == "prepare":
		return react.Request{}, fmt.Errorf("rule %s: %w", rule.Name, errFull)
	case l.w.unset != nil && l.w.unset(len(members)):
		return react.Request{}, fmt.Errorf("%w: ${HOOK}", react.ErrSecretMissing)
	case rule.Do.Command != nil && l.w.unbound:
		return react.Request{}, fmt.Errorf("%w: this kernel has no Landlock", react.ErrBoundary)
	case rule.Do.Command != nil:
		req.Kind, req.Argv, req.Path = react.RequestCommand, rule.Do.Command.Argv, rule.Do.Command.Argv[0]
		req.RepeatSafe, req.Program, req.Interpreters = rule.Do.Command.RepeatSafe, l.w.program, slices.Clone(l.w.runBy)
	case rule.Do.Webhook != nil:
		req.Kind, req.URL = react.RequestWebhook, rule.Do.Webhook.URL
	case rule.Do.Task != nil, rule.Do.Choice != nil, rule.Do.Agent != nil:
		prepareSteps(&req, rule)
	case rule.Do.Wish != nil:
		req.Kind, req.Wish = react.RequestClient, rule.Do.Wish
	default:
		req.Kind, req.Note = react.RequestNote, rule.Do.Note
	}
	return req, nil
}

var errFull = fmt.Errorf("%w: no space left on device", react.ErrScarce)

// Write takes what an engine logs.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.logged.Write(p)
}

func (l *life) Ready(_ context.Context, r react.Request, n int) (react.Attempt, error) {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if l.w.lacks == "ready" {
		return nil, fmt.Errorf("run %s: %w", r.Run, errFull)
	}
	if r.Kind == react.RequestCommand && r.Program != l.w.program {
		return nil, fmt.Errorf("%w: it is another one now", react.ErrProgram)
	}
	return &attempt{l: l, req: r, n: n, killed: make(chan struct{})}, nil
}

func (l *life) Adopt(_ context.Context, r react.Request, h react.Handle) (react.Attempt, error) {
	if r.Kind == react.RequestTool || r.Kind == react.RequestModel || r.Kind == react.RequestChoice {
		l.w.t.Errorf("an attempt of a %s is to be found again", r.Kind)
	}
	return &attempt{l: l, req: r, n: h.Attempt, adopted: true, killed: make(chan struct{})}, nil
}

func (l *life) Forget(react.Handle) error { return nil }

// arm arms all rules as they stand.
func arm(t testing.TB, e *Engine) {
	t.Helper()
	for _, v := range e.Reactions().Rules {
		if err := e.Arm(t.Context(), v.Rule.Name, v.Hash); err != nil {
			t.Fatal(err)
		}
	}
}

func runsOf(t testing.TB, e *Engine, q react.Query) []react.Run {
	t.Helper()
	q.Limit = 100_000
	runs, err := e.Runs(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func runsIn(t testing.TB, e *Engine, state react.State) []react.Run {
	t.Helper()
	return runsOf(t, e, react.Query{States: []react.State{state}})
}

func only(t testing.TB, e *Engine, states ...react.State) react.Run {
	t.Helper()
	runs := runsOf(t, e, react.Query{})
	if len(runs) != 1 || !slices.Contains(states, runs[0].State) {
		for _, r := range runs {
			t.Logf("run %s of %s: %s, %s, %d members", r.ID, r.Rule, r.State, r.Why, r.Members.Count)
		}
		t.Fatalf("%d runs, not one that is %v", len(runs), states)
	}
	return runs[0]
}

func closed(t testing.TB, e *Engine) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What a test changes and asks while an engine runs.

func (w *world) change(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fn()
}

// failed returns how often the log could not be read.
func (w *world) failed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unread
}

func (w *world) acts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.begun)
}

func (w *world) times(attempt string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begun[attempt]
}

func (w *world) sent(id react.RunID) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sends[id]
}

func (w *world) acted() map[react.RunID][]uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.inputs)
}

func (w *world) audit() []event.AuditEntry {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.audits)
}

func (w *world) entry(key string) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tables[event.TableReact][key]
}
