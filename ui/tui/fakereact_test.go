package tui

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// fakeEngine stands in for the engine of reactions and notes what it is asked to do.
type fakeEngine struct {
	mu    sync.Mutex
	view  react.View
	runs  []react.Run
	steps map[react.RunID][]react.Step
	did   []string
	tools []react.Pinned // of each rule, as Rule tells them
	fail  error
}

func (e *fakeEngine) act(format string, args ...any) error {
	beside()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.did = append(e.did, fmt.Sprintf(format, args...))
	e.view.Revision++
	return e.fail
}

// acts are the acts that begin with a word.
func (e *fakeEngine) acts(word string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, d := range e.did {
		if strings.HasPrefix(d, word) {
			n++
		}
	}
	return n
}

func (e *fakeEngine) Reactions() react.View {
	beside()
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.view
	v.Asking = len(v.Waiting)
	return v
}

func (e *fakeEngine) Runs(_ context.Context, q react.Query) (out []react.Run, _ error) {
	beside()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.runs {
		seq := q.Seq == 0
		for _, s := range r.Members.First {
			seq = seq || s == q.Seq
		}
		state := len(q.States) == 0
		for _, s := range q.States {
			state = state || s == r.State
		}
		if seq && state && (q.Rule == "" || q.Rule == r.Rule) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (e *fakeEngine) Run(_ context.Context, id react.RunID) (react.Run, error) {
	beside()
	for _, r := range e.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return react.Run{}, react.ErrNoRun
}

func (e *fakeEngine) Steps(_ context.Context, id react.RunID) ([]react.Step, error) {
	beside()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.steps[id], nil
}

func (e *fakeEngine) Explain(_ context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	beside()
	if rule == "nope" {
		return nil, react.ErrNoRule
	}
	return []react.Verdict{
		{Rule: "page-p1", Seq: seq, State: react.Suppressed, Why: "the filter does not match", Line: "rules.json:4:5", Value: trust.Untrusted("P2\x1b[2J")},
		{Rule: "note-pages", Seq: seq, State: react.Suppressed, Elsewhere: true, Why: "the rule listens to page.sent of pager", Line: "rules.json:20:5"},
		{Rule: "note-deploys", Seq: seq, State: react.Asking, Why: "the rule's mode is ask", Line: "rules.json:12:5"},
	}, nil
}

func (e *fakeEngine) Approve(_ context.Context, id react.RunID, hash string) error {
	return e.act("approve %s %.8s", id, hash)
}
func (e *fakeEngine) Deny(_ context.Context, id react.RunID, reason string) error {
	return e.act("deny %s %s", id, reason)
}
func (e *fakeEngine) Undeny(_ context.Context, id react.RunID) error { return e.act("undeny %s", id) }
func (e *fakeEngine) Grant(_ context.Context, id react.RunID, hash string, until time.Time) error {
	return e.act("grant %s %.8s %s", id, hash, until.Sub(start).Round(time.Hour))
}
func (e *fakeEngine) Retry(_ context.Context, id react.RunID) (react.RunID, error) {
	return "again", e.act("retry %s", id)
}
func (e *fakeEngine) Settle(_ context.Context, id react.RunID, done bool, reason string) error {
	return e.act("settle %s %v %s", id, done, reason)
}
func (e *fakeEngine) Once(_ context.Context, rule string, seq uint64) (react.RunID, error) {
	return "once", e.act("once %s %d", rule, seq)
}
func (e *fakeEngine) AskModel(_ context.Context, q react.Question) (react.RunID, error) {
	return "asked", e.act("ask-model %s %d %s", q.Model, q.Seq, q.Task)
}
func (e *fakeEngine) Rule(_ context.Context, name string) (react.RuleView, error) {
	beside()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, v := range e.view.Rules {
		if v.Rule.Name == name {
			v.Tools, v.Listed = e.tools, true
			return v, nil
		}
	}
	return react.RuleView{}, react.ErrNoRule
}
func (e *fakeEngine) Wish(_ context.Context, w react.Wish) (react.Run, error) {
	return react.Run{}, e.act("wish %s %v", w.Server, w.Type)
}
func (e *fakeEngine) Arm(_ context.Context, rule string, hash react.Hash) error {
	return e.act("arm %s %s", rule, hash)
}
func (e *fakeEngine) Disarm(_ context.Context, rule string) error { return e.act("disarm %s", rule) }
func (e *fakeEngine) Silence(_ context.Context, rule string, until time.Time) error {
	if until.IsZero() {
		return e.act("unsilence %s", rule)
	}
	return e.act("silence %s %s", rule, until.Sub(start).Round(time.Minute))
}
func (e *fakeEngine) Stop(_ context.Context, kill bool) error {
	err := e.act("stop %v", kill)
	e.view.Stopped = true
	return err
}
func (e *fakeEngine) Go(context.Context) error {
	err := e.act("go")
	e.view.Stopped, e.view.Held = false, ""
	return err
}

// request is what a run of the rule page-p1 wants to do.
func request(id react.RunID, args ...string) *react.Request {
	return &react.Request{Kind: react.RequestCommand, Run: id, Rule: "page-p1", Seq: 1, Count: 2,
		Argv: append([]string{"/usr/local/bin/restart"}, args...), Path: "/usr/local/bin/restart", Program: strings.Repeat("ab", 32),
		Env: []string{"LANG"}, Confine: &react.Confine{Read: []string{"/srv"}}, Boundary: "files, network and signals, Landlock 6",
		Input: []byte(`{"envelope":1,"data":{"title":"p99 latency \u202e above 4s"}}`), Time: 5 * time.Minute}
}

// asks is a run that waits.
func asks(id react.RunID, args ...string) react.Run {
	return react.Run{ID: id, NS: react.Live, Rule: "page-p1", Hash: "h1", Key: `"payments"`, State: react.Asking, Why: "the rule's mode is ask", Line: "rules.json:9:7",
		Members: react.Members{Count: 2, First: []uint64{1, 2}, From: start, To: start}, Request: request(id, args...),
		Created: start.Add(-2 * time.Minute), Due: start.Add(58 * time.Minute)}
}

// reacting is an engine with two rules, two runs that wait and some that are over.
func reacting() *fakeEngine {
	e := &fakeEngine{}
	page := react.Rule{Name: "page-p1", On: react.Source{Server: "pager", Type: "incident.created", Kind: event.KindEvent}, When: `.severity=P1 !flag:any`, Key: []string{".service"},
		Wait: 10 * time.Second, Once: react.Once{By: []string{".incidentId"}, For: 6 * time.Hour}, Age: 15 * time.Minute, Mode: react.ModeAuto, Where: "/home/op/.config/eventdeck/rules.json:3:5",
		Limits: react.Limits{Runs: react.Rate{N: 6, Per: time.Hour}, Running: 1, Queue: 100, Time: 5 * time.Minute},
		Do:     react.Do{Command: &react.Command{Argv: []string{"/usr/local/bin/restart", "payments"}, Stdin: react.StdinEnvelope, Env: []string{"LANG"}, Confine: &react.Confine{Read: []string{"/srv"}}}}}
	note := react.Rule{Name: "note-deploys", On: react.Source{Server: "pager", Type: "deploy.finished"}, Wait: 10 * time.Second, Age: 15 * time.Minute, Mode: react.ModeAsk, Where: "/home/op/.config/eventdeck/rules.json:12:5", Do: react.Do{Note: "a deploy"}}
	e.view = react.View{On: true, Path: "/home/op/.config/eventdeck/rules.json", Revision: 1, Running: 1,
		Rules: []react.RuleView{
			{Rule: page, Hash: "h1", Effective: react.ModeAsk, Why: "it is not armed as it stands", Line: "rules.json:9:7", Letters: "A C", Boundary: "files, network and signals, Landlock 6", Since: 1, Matched: 40, Suppressed: map[string]uint64{"once": 12, "age": 3}, Last: start.Add(-2 * time.Minute), Approved: request("r2cccccccccccccc", "payments")},
			{Rule: note, Hash: "h2", Armed: true, Effective: react.ModeAsk, Why: "the rule's mode is ask", Letters: "A", Since: 1, Matched: 2},
		},
		Waiting: []react.Run{asks("r3aaaaaaaaaaaaaa", "payments"), asks("r4bbbbbbbbbbbbbb", "db main")}}
	e.view.Waiting[1].Flagged, e.view.Waiting[1].Stale = true, true
	done := asks("r2cccccccccccccc", "payments")
	done.State, done.Why, done.Approved, done.By = react.Done, "exit 0", done.Request.Hash(), "operator"
	done.Created, done.Started, done.Ended, done.Attempt = start.Add(-time.Hour), start.Add(-59*time.Minute), start.Add(-58*time.Minute), 1
	done.Result = &react.Result{Outcome: react.OutcomeDone, Ended: done.Ended, Boundary: "files, network and signals, Landlock 6",
		Output: react.Output{Stdout: react.Stream{Head: trust.Untrusted("restarted \x1b[31mpayments\x1b[0m\n"), Bytes: 28}}}
	parked := asks("r1dddddddddddddd", "payments")
	parked.State, parked.Why, parked.Created = react.Parked, "the host ended while it ran, and left no result", start.Add(-2*time.Hour)
	e.runs = []react.Run{e.view.Waiting[1], e.view.Waiting[0], done, parked}
	return e
}
