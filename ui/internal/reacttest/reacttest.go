// Package reacttest stands in for the engine of reactions in tests of frontends.
package reacttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// Start is the current time of an [Engine].
var Start = time.Date(2026, 3, 14, 14, 3, 5, 0, time.UTC)

// Engine is a [react.Control] with fixed runs that notes the acts it is asked for. Tests that
// change its fields while it is used hold its lock.
type Engine struct {
	sync.Mutex
	View  react.View
	All   []react.Run                  // the newest first
	Taken map[react.RunID][]react.Step // by run
	Did   []string                     // acts with their arguments, in order
	Tools []react.Pinned               // of each rule, as Rule returns them
	Fails error                        // the error of every act
	Asked func()                       // called by every method, if not nil
}

var _ react.Control = (*Engine)(nil)

func (e *Engine) asked() {
	if e.Asked != nil {
		e.Asked()
	}
}

func (e *Engine) act(format string, args ...any) error {
	e.asked()
	e.Lock()
	defer e.Unlock()
	e.Did = append(e.Did, strings.TrimSpace(fmt.Sprintf(format, args...)))
	e.View.Revision++
	return e.Fails
}

// Acts counts the acts that begin with a word.
func (e *Engine) Acts(word string) (n int) {
	e.Lock()
	defer e.Unlock()
	for _, d := range e.Did {
		if strings.HasPrefix(d, word) {
			n++
		}
	}
	return n
}

// Reactions implements [react.Control].
func (e *Engine) Reactions() react.View {
	e.asked()
	e.Lock()
	defer e.Unlock()
	v := e.View
	v.Asking = len(v.Waiting)
	return v
}

// Runs implements [react.Control].
func (e *Engine) Runs(_ context.Context, q react.Query) (out []react.Run, _ error) {
	e.asked()
	e.Lock()
	defer e.Unlock()
	for _, r := range e.All {
		seq := q.Seq == 0 || slices.Contains(r.Members.First, q.Seq)
		state := len(q.States) == 0 || slices.Contains(q.States, r.State)
		if seq && state && (q.Rule == "" || q.Rule == r.Rule) {
			out = append(out, r)
		}
	}
	return out, nil
}

// Run implements [react.Control].
func (e *Engine) Run(_ context.Context, id react.RunID) (react.Run, error) {
	e.asked()
	e.Lock()
	defer e.Unlock()
	for _, r := range e.All {
		if r.ID == id {
			return r, nil
		}
	}
	return react.Run{}, react.ErrNoRun
}

// Steps implements [react.Control].
func (e *Engine) Steps(_ context.Context, id react.RunID) ([]react.Step, error) {
	e.asked()
	e.Lock()
	defer e.Unlock()
	return e.Taken[id], nil
}

// Explain implements [react.Control].
func (e *Engine) Explain(_ context.Context, seq uint64, rule string) ([]react.Verdict, error) {
	e.asked()
	if rule == "nope" {
		return nil, react.ErrNoRule
	}
	return []react.Verdict{
		{Rule: "page-p1", Seq: seq, State: react.Suppressed, Why: "the filter does not match", Line: "rules.json:4:5", Value: trust.Untrusted("P2\x1b[2J")},
		{Rule: "note-pages", Seq: seq, State: react.Suppressed, Elsewhere: true, Why: "the rule listens to page.sent of pager", Line: "rules.json:20:5"},
		{Rule: "note-deploys", Seq: seq, State: react.Asking, Why: "the rule's mode is ask", Line: "rules.json:12:5"},
	}, nil
}

// Approve implements [react.Control].
func (e *Engine) Approve(_ context.Context, id react.RunID, hash string) error {
	return e.act("approve %s %.8s", id, hash)
}

// Deny implements [react.Control].
func (e *Engine) Deny(_ context.Context, id react.RunID, reason string) error {
	return e.act("deny %s %s", id, reason)
}

// Undeny implements [react.Control].
func (e *Engine) Undeny(_ context.Context, id react.RunID) error { return e.act("undeny %s", id) }

// Grant implements [react.Control].
func (e *Engine) Grant(_ context.Context, id react.RunID, hash string, until time.Time) error {
	return e.act("grant %s %.8s %s", id, hash, until.Sub(Start).Round(time.Hour))
}

// Retry implements [react.Control].
func (e *Engine) Retry(_ context.Context, id react.RunID) (react.RunID, error) {
	return "again", e.act("retry %s", id)
}

// Settle implements [react.Control].
func (e *Engine) Settle(_ context.Context, id react.RunID, done bool, reason string) error {
	return e.act("settle %s %v %s", id, done, reason)
}

// Once implements [react.Control].
func (e *Engine) Once(_ context.Context, rule string, seq uint64) (react.RunID, error) {
	return "once", e.act("once %s %d", rule, seq)
}

// AskModel implements [react.Control].
func (e *Engine) AskModel(_ context.Context, q react.Question) (react.RunID, error) {
	return "asked", e.act("ask-model %s %d %s", q.Model, q.Seq, q.Task)
}

// Rule implements [react.Control].
func (e *Engine) Rule(_ context.Context, name string) (react.RuleView, error) {
	e.asked()
	e.Lock()
	defer e.Unlock()
	for _, v := range e.View.Rules {
		if v.Rule.Name == name {
			v.Tools, v.Listed = e.Tools, true
			return v, nil
		}
	}
	return react.RuleView{}, react.ErrNoRule
}

// ClientRequest implements [react.Control].
func (e *Engine) ClientRequest(_ context.Context, w react.ClientRequest) (react.Run, error) {
	return react.Run{}, e.act("wish %s %v", w.Server, w.Type)
}

// Arm implements [react.Control].
func (e *Engine) Arm(_ context.Context, rule string, hash react.Hash) error {
	return e.act("arm %s %s", rule, hash)
}

// Disarm implements [react.Control].
func (e *Engine) Disarm(_ context.Context, rule string) error { return e.act("disarm %s", rule) }

// Silence implements [react.Control].
func (e *Engine) Silence(_ context.Context, rule string, until time.Time) error {
	if until.IsZero() {
		return e.act("unsilence %s", rule)
	}
	return e.act("silence %s %s", rule, until.Sub(Start).Round(time.Minute))
}

// Stop implements [react.Control].
func (e *Engine) Stop(_ context.Context, kill bool) error {
	err := e.act("stop %v", kill)
	e.Lock()
	defer e.Unlock()
	e.View.Stopped = true
	return err
}

// Go implements [react.Control].
func (e *Engine) Go(context.Context) error {
	err := e.act("go")
	e.Lock()
	defer e.Unlock()
	e.View.Stopped, e.View.Held = false, ""
	return err
}

// Request returns the request of a run of the rule page-p1.
func Request(id react.RunID, args ...string) *react.Request {
	return &react.Request{Kind: react.RequestCommand, Run: id, Rule: "page-p1", Seq: 1, Count: 2,
		Argv: append([]string{"/usr/local/bin/restart"}, args...), Env: []string{"LANG"},
		Files: react.Files{Path: "/usr/local/bin/restart", Program: strings.Repeat("ab", 32), Confine: &react.Confine{Read: []string{"/srv"}}}, Boundary: "files, network and signals, Landlock 6",
		Input: []byte(`{"envelope":1,"data":{"title":"p99 latency \u202e above 4s"}}`), Time: 5 * time.Minute}
}

// Asks returns a run that waits for approval.
func Asks(id react.RunID, args ...string) react.Run {
	return react.Run{ID: id, NS: react.Live, Rule: "page-p1", Hash: "h1", Key: `"payments"`, State: react.Asking, Why: "the rule's mode is ask", Line: "rules.json:9:7",
		Members: react.Members{Count: 2, First: []uint64{1, 2}, From: Start, To: Start}, Request: Request(id, args...),
		Created: Start.Add(-2 * time.Minute), Due: Start.Add(58 * time.Minute)}
}

// Reacting returns an engine with two rules, two waiting runs and some finished ones.
func Reacting() *Engine {
	e := &Engine{}
	page := react.Rule{Name: "page-p1", On: react.Source{Server: "pager", Types: react.Types{"incident.created"}, Kind: event.KindEvent}, When: `.severity=P1 !flag:any`, Key: []string{".service"},
		Wait: 10 * time.Second, Once: react.Once{By: []string{".incidentId"}, For: 6 * time.Hour}, Age: 15 * time.Minute, Mode: react.ModeAuto, Where: "/home/op/.config/eventdeck/rules.json:3:5",
		Limits: react.Limits{Runs: react.Rate{N: 6, Per: time.Hour}, Running: 1, Queue: 100, Time: 5 * time.Minute},
		Do:     react.Do{Command: &react.Command{Argv: []string{"/usr/local/bin/restart", "payments"}, Stdin: react.StdinEnvelope, Env: []string{"LANG"}, Confine: &react.Confine{Read: []string{"/srv"}}}}}
	note := react.Rule{Name: "note-deploys", On: react.Source{Server: "pager", Types: react.Types{"deploy.finished"}}, Wait: 10 * time.Second, Age: 15 * time.Minute, Mode: react.ModeAsk, Where: "/home/op/.config/eventdeck/rules.json:12:5", Do: react.Do{Note: "a deploy"}}
	e.View = react.View{On: true, Path: "/home/op/.config/eventdeck/rules.json", Revision: 1, Running: 1,
		Rules: []react.RuleView{
			{Rule: page, Hash: "h1", Effective: react.ModeAsk, Why: "it is not armed as it stands", Line: "rules.json:9:7", Letters: "A C", Boundary: "files, network and signals, Landlock 6", Since: 1, Matched: 40, Suppressed: map[string]uint64{"once": 12, "age": 3}, Last: Start.Add(-2 * time.Minute), Approved: Request("r2cccccccccccccc", "payments")},
			{Rule: note, Hash: "h2", Armed: true, Effective: react.ModeAsk, Why: "the rule's mode is ask", Letters: "A", Since: 1, Matched: 2},
		},
		Waiting: []react.Run{Asks("r3aaaaaaaaaaaaaa", "payments"), Asks("r4bbbbbbbbbbbbbb", "db main")}}
	e.View.Waiting[1].Flagged, e.View.Waiting[1].Stale = true, true
	done := Asks("r2cccccccccccccc", "payments")
	done.State, done.Why, done.Approved, done.By = react.Done, "exit 0", done.Request.Hash(), "operator"
	done.Created, done.Started, done.Ended, done.Attempt = Start.Add(-time.Hour), Start.Add(-59*time.Minute), Start.Add(-58*time.Minute), 1
	done.Result = &react.Result{Outcome: react.OutcomeDone, Ended: done.Ended, Boundary: "files, network and signals, Landlock 6",
		Output: react.Output{Stdout: react.Stream{Head: trust.Untrusted("restarted \x1b[31mpayments\x1b[0m\n"), Bytes: 28}}}
	parked := Asks("r1dddddddddddddd", "payments")
	parked.State, parked.Why, parked.Created = react.Parked, "the host ended while it ran, and left no result", Start.Add(-2*time.Hour)
	e.All = []react.Run{e.View.Waiting[1], e.View.Waiting[0], done, parked}
	return e
}
