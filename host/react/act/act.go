// Package act carries reactions out: commands under a supervisor that outlives the host,
// signed webhooks, and notes. It decides nothing; the engine says what is done and when.
package act

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/react"
)

// Marks keeps the operator's marks; a host does.
type Marks interface {
	SetMark(ctx context.Context, m event.Mark) error
}

// Options of [New]. Dir and Executable are needed.
type Options struct {
	Dir        string // the data directory
	Executable string // of this program, which must call [Main] first
	// Hidden are files and directories that no confined command may reach, in addition to the
	// data directory: configurations, rules, keys.
	Hidden []string
	// Programs returns the programs of servers and rules. No confined command may write them
	// or Executable. nil: there are none.
	Programs func() []string
	// Env looks up variables of the environment, for commands and for secrets; nil: os.LookupEnv.
	Env   func(name string) (string, bool)
	Marks Marks // nil: notes fail
	// Subscriptions carry out client requests; nil: they fail.
	Subscriptions Subscriptions

	Now    func() time.Time // nil: time.Now
	Jitter func() float64   // from [0,1); nil: random
	Roots  *x509.CertPool   // for webhooks; nil: the system's
}

// Runner is a [react.Runner]. All methods may be called from any goroutine.
type Runner struct {
	o     Options
	trees sync.Mutex // while a tree is made
}

var _ react.Runner = (*Runner)(nil)

// New returns a runner. It keeps the files of attempts in a subdirectory of the data directory.
func New(o Options) (*Runner, error) {
	if o.Env == nil {
		o.Env = os.LookupEnv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	var err error
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return nil, fmt.Errorf("reactions: %w", err)
	}
	r := &Runner{o: o}
	if err := os.MkdirAll(r.place(), 0o700); err != nil {
		return nil, fmt.Errorf("reactions: %w", err)
	}
	return r, nil
}

// place returns the parent of the directories of attempts.
func (r *Runner) place() string { return filepath.Join(r.o.Dir, "react") }

// hidden returns the paths that no confined command may reach.
func (r *Runner) hidden() []string { return append(slices.Clone(r.o.Hidden), r.o.Dir) }

// Time limits of acts whose rule sets none.
const (
	commandTime = 5 * time.Minute
	webhookTime = 10 * time.Second
)

// NoBoundary is [react.Request.Boundary] of a command that is not confined.
const NoBoundary = "none: the command can do whatever this user can"

// Prepare implements [react.Runner].
func (r *Runner) Prepare(rule react.Rule, run react.Run, members []event.Record) (react.Request, error) {
	req := react.Request{Run: run.ID, Rule: rule.Name, Count: run.Members.Count, Time: rule.Limits.Time}
	if len(members) > 0 {
		req.Seq = members[0].Seq
	} else {
		req.Seq = run.Members.Oldest()
	}
	var err error
	switch do := rule.Do; {
	case do.Command != nil:
		err = r.prepareCommand(&req, *do.Command, run, members)
	case do.Webhook != nil:
		err = r.prepareWebhook(&req, *do.Webhook, run, members)
	case do.Wish != nil:
		req.Kind, req.Wish = react.RequestClient, do.Wish
	case do.Note != "":
		req.Kind, req.Note = react.RequestNote, do.Note
	default:
		err = errors.New("the rule says nothing that could be done")
	}
	if err != nil {
		return react.Request{}, fmt.Errorf("rule %s: %w", rule.Name, scarce(err))
	}
	return req, nil
}

func (r *Runner) prepareCommand(req *react.Request, c react.Command, run react.Run, members []event.Record) (err error) {
	req.Kind = react.RequestCommand
	if len(c.Argv) == 0 {
		return fmt.Errorf("%w: there is none", react.ErrProgram)
	}
	req.Argv, req.Env, req.RepeatSafe = slices.Clone(c.Argv), slices.Clone(c.Env), c.RepeatSafe
	req.Code, req.Dir, req.Confine = c.Code, c.Dir, c.Confine
	if err := readFiles(req, r.o.Env); err != nil {
		return err
	}
	if req.Time == 0 {
		req.Time = commandTime
	}
	if req.Boundary, err = r.boundary(*req); err != nil {
		return err
	}
	if c.Stdin == react.StdinNDJSON {
		req.Input = Lines(members)
		return nil
	}
	req.Input, err = Envelope(run, members, nil)
	return err
}

// boundary says in words which confinement is possible. Error: [react.ErrBoundary].
func (r *Runner) boundary(req react.Request) (string, error) {
	if req.Confine == nil {
		return NoBoundary, nil
	}
	opened := *req.Confine
	opened.Read = slices.Concat(opened.Read, req.Code) // a copy may be read
	return Check(opened, r.hidden(), r.programs(req))
}

// programs returns the files that no confined command may write. The command's own program is
// one of them: otherwise a changed one would be started next time.
func (r *Runner) programs(req react.Request) []string {
	all := append([]string{r.o.Executable, req.Argv[0]}, req.Code...)
	for _, i := range req.Interpreters {
		all = append(all, i.Name)
	}
	if r.o.Programs == nil {
		return all
	}
	for _, name := range r.o.Programs() {
		all = append(all, name)
		// A missing program has no path to protect, and is not started.
		run, _ := interpreters(name, searchPath(nil, r.o.Env))
		for _, i := range run {
			all = append(all, i.Name)
		}
	}
	return all
}

// Ready implements [react.Runner].
func (r *Runner) Ready(ctx context.Context, req react.Request, try int) (react.Attempt, error) {
	handle := react.Handle{Attempt: try, At: r.o.Now()}
	switch req.Kind {
	case react.RequestCommand:
		a, err := r.readyCommand(ctx, req, handle)
		if err != nil {
			return nil, err
		}
		return a, nil
	case react.RequestWebhook:
		return r.readyWebhook(req, handle)
	case react.RequestNote:
		return react.NewAttempt(handle, func(ctx context.Context, _ react.Steps) react.Result { return r.note(ctx, req) }), nil
	case react.RequestClient:
		return react.NewAttempt(handle, func(ctx context.Context, _ react.Steps) react.Result { return r.clientRequest(ctx, req) }), nil
	}
	return nil, fmt.Errorf("act of run %s: unknown kind %q", req.Run, req.Kind)
}

// Adopt implements [react.Runner].
func (r *Runner) Adopt(_ context.Context, req react.Request, h react.Handle) (react.Attempt, error) {
	switch req.Kind {
	case react.RequestCommand:
		return r.adoptCommand(h)
	case react.RequestWebhook:
		return react.EndedAttempt(h, r.retry(h.Attempt, 0, react.Result{Why: "eventdeck ended before the answer came; sent again with the same webhook-id"})), nil
	}
	// Notes and client requests are carried out again: a second time changes nothing.
	return react.EndedAttempt(h, react.Result{Outcome: react.OutcomeNever, Why: "eventdeck ended before it was known that it was done", Ended: r.o.Now()}), nil
}

func (r *Runner) note(ctx context.Context, req react.Request) react.Result {
	err := errors.New("there is no place for marks")
	if r.o.Marks != nil {
		err = r.o.Marks.SetMark(ctx, event.Mark{Seq: req.Seq, At: r.o.Now(), Note: req.Note})
	}
	return r.ended("", err)
}

// ended returns the result of an act that succeeded, with why as its text, or failed with err.
func (r *Runner) ended(why string, err error) react.Result {
	if err != nil {
		return react.Result{Outcome: react.OutcomeFailed, Why: err.Error(), Ended: r.o.Now()}
	}
	return react.Result{Outcome: react.OutcomeDone, Why: why, Ended: r.o.Now()}
}
