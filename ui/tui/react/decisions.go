package react

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// killWithin is how soon a second stop must follow the first to end what runs.
const killWithin = 5 * time.Second

// grantMost is the longest grant.
const grantMost = 24 * time.Hour

// Tab is one of the tables.
type Tab int

// The tabs, in their order.
const (
	Waiting Tab = iota
	Runs
	Rules
)

// Tab is the one that is shown.
func (p *Pane) Tab() Tab { return Tab(p.Board.On) }

// ShowTab shows a table, with the words that its rows must have.
func (p *Pane) ShowTab(t Tab, words string) {
	p.Board.On = int(t)
	if p.Board.Table().Finds() {
		p.Board.Table().Find(words)
	}
	p.Board.Table().Load()
}

// Choose shows the row of a run or a rule, and reports whether there is one.
func (p *Pane) Choose(t Tab, name string) bool {
	p.ShowTab(t, "")
	table := p.Board.Table()
	for i := range table.Rows() {
		if id := table.RowAt(i); id.Name == name {
			table.At = id
			return true
		}
	}
	return false
}

// OnWaiting tells whether the chosen row waits for the operator.
func (p *Pane) OnWaiting() bool { return p.Tab() == Waiting && p.chosenWaiting() != nil }

// Grantable tells whether the chosen row may be granted for some hours: calls of tools, and
// what agents and clients want, are asked about each time.
func (p *Pane) Grantable() bool {
	if !p.OnWaiting() {
		return false
	}
	r := p.chosenWaiting().Request
	return r == nil || r.Kind.Grantable()
}

// OnRow tells whether a run or a rule is chosen.
func (p *Pane) OnRow() bool { return p.Board.Table().At != table.RowID{} }

// WaitingCount is how many runs wait for the operator.
func (p *Pane) WaitingCount() int { return len(p.view.Waiting) }

// OnRule tells whether a rule is chosen.
func (p *Pane) OnRule() bool { return p.chosenRule() != nil }

// OnEnded tells whether a run is chosen with which nothing happens any more, OnParked
// whether one of which it is not known what became of it.
func (p *Pane) OnEnded() bool { r := p.chosenRun(); return r != nil && r.State.Over() }

// OnParked is told with [Pane.OnEnded].
func (p *Pane) OnParked() bool { r := p.chosenRun(); return r != nil && r.State == react.Parked }

func (p *Pane) chosenWaiting() *react.Run { return p.waiting.run(p.Board.Tabs[Waiting].At) }

func (p *Pane) chosenRun() *react.Run {
	if p.Tab() != Runs {
		return nil
	}
	return p.runs.run(p.Board.Table().At)
}

func (p *Pane) chosenRule() *react.RuleView {
	if p.Tab() != Rules {
		return nil
	}
	if i := p.rules.Find(p.Board.Table().At); i >= 0 {
		return &p.rules.rules[i]
	}
	return nil
}

// mayApprove tells whether the key that is handled may approve, and says why not.
func (p *Pane) mayApprove() bool {
	if p.guard.open && p.block.kind != noBlock && p.block.text == p.guard.what {
		return true
	}
	why := p.standing()
	switch {
	case p.env.Masked:
		p.env.Screen.Tell("not here: values are masked for the audience (--present); eventdeck approve and eventdeck rules arm show them")
		return false
	case p.guard.what == "" && p.tooSmallNow():
		why = fmt.Sprintf("it takes a terminal of %d columns and %d lines", LeastWidth, LeastHeight)
	case p.guard.what == "":
		why = "it must be on the screen: " + p.env.Screen.KeyOf("open") + " opens it"
	case p.guard.unseen() == 0:
		why = "wait a moment without pressing a key, then press it again"
	}
	p.env.Screen.Tell("not yet: " + why)
	return false
}

func (p *Pane) tooSmallNow() bool {
	w, h := p.env.Size()
	return w < LeastWidth || h < LeastHeight
}

// Approve lets the run that is shown act once, or arms the rule that is shown.
func (p *Pane) Approve() tea.Cmd {
	if !p.mayApprove() {
		return nil
	}
	b := p.block
	p.spent = b.text
	p.guard.spend(p.env.Now())
	if b.kind == toArm {
		return p.perform("armed "+b.title+": it acts by itself as far as its mode allows", nil, func(ctx context.Context) error {
			return p.withNextStep(p.env.Engine.Arm(ctx, b.name, react.Hash(b.hash)))
		})
	}
	return p.perform("approved "+b.title+", once", nil, func(ctx context.Context) error {
		return p.withNextStep(p.env.Engine.Approve(ctx, react.RunID(b.name), b.hash))
	})
}

// withNextStep says of an error what to do next.
func (p *Pane) withNextStep(err error) error {
	if errors.Is(err, react.ErrChanged) {
		return fmt.Errorf("%w: read it again and decide anew", err)
	}
	return err
}

// Deny asks for the reason and denies the chosen run by the same act, or disarms the
// chosen rule.
func (p *Pane) Deny() tea.Cmd {
	if r := p.chosenRule(); r != nil {
		return p.Disarm(r.Rule.Name)
	}
	r := p.chosenWaiting()
	if r == nil {
		return nil
	}
	id, rule := r.ID, r.Rule
	q := &question{
		head: "Deny " + rule, lines: []string{act(r.Request)}, label: "reason", says: "it goes into the journal",
		commit: "enter", does: "deny",
	}
	// Those that begin to wait while the reason is typed are not among them.
	all := p.waiting.ofRule(rule)
	if len(all) > 1 {
		q.choices = []string{"this one", fmt.Sprintf("all %d of this rule", len(all))}
		q.lines = append(q.lines, ofAll(all))
	}
	q.run = func(text string, choice int) (tea.Cmd, error) {
		if choice == 0 {
			return p.DenyRun(id, rule, strings.TrimSpace(text)), nil
		}
		return p.denyAll(all, rule, strings.TrimSpace(text)), nil
	}
	p.ask(q)
	return nil
}

// denyAll denies runs of a rule that wait, each by an act of its own.
func (p *Pane) denyAll(runs []react.Run, rule, reason string) tea.Cmd {
	each := func(do func(react.RunID) error) error {
		var errs []error
		for _, r := range runs {
			if err := do(r.ID); err != nil {
				errs = append(errs, fmt.Errorf("run %s: %w", r.ID, err))
			}
		}
		return errors.Join(errs...)
	}
	n := cells.Count(len(runs), "run")
	return p.performUndoable("denied "+n+" of "+rule, func(ctx context.Context) error {
		return each(func(id react.RunID) error { return p.env.Engine.Deny(ctx, id, reason) })
	}, n+" of "+rule+" ask again", func(ctx context.Context) error {
		return each(func(id react.RunID) error { return p.env.Engine.Undeny(ctx, id) })
	})
}

// ofAll names what several runs of a rule want to do, and for which groups.
func ofAll(runs []react.Run) string {
	var all []string
	for _, r := range runs {
		what := act(r.Request)
		if r.Key != "" {
			what = quoted(string(r.Key)) + ": " + what
		}
		all = append(all, what)
	}
	return fmt.Sprintf("All %d that wait: ", len(all)) + strings.Join(all, "; ")
}

// DenyRun denies a run.
func (p *Pane) DenyRun(id react.RunID, rule, reason string) tea.Cmd {
	return p.performUndoable("denied "+rule, func(ctx context.Context) error { return p.env.Engine.Deny(ctx, id, reason) },
		"asks again: "+rule, func(ctx context.Context) error { return p.env.Engine.Undeny(ctx, id) })
}

// Disarm takes from a rule that it acts by itself.
func (p *Pane) Disarm(name string) tea.Cmd {
	v := p.rule(name)
	off := func(ctx context.Context) error { return p.env.Engine.Disarm(ctx, name) }
	switch {
	case !v.Armed && granted(&v, p.env.Clock()):
		return p.perform("ended the grant of "+name+": it asks again", nil, off)
	case !v.Armed:
		p.env.Screen.Tell(name + " is not armed")
		return nil
	}
	if p.env.Masked {
		return p.perform("disarmed "+name+"; it is armed again without --present", nil, off)
	}
	// It is armed again only as it stood when it was disarmed.
	var was react.RuleView
	return p.performUndoable("disarmed "+name, func(ctx context.Context) (err error) {
		if was, err = p.env.Engine.Rule(ctx, name); err != nil {
			return err
		}
		return off(ctx)
	}, "armed "+name+" again", func(ctx context.Context) error { return p.withNextStep(p.env.Engine.Arm(ctx, name, was.ArmHash())) })
}

// Grant asks for how long the run that is shown, and what asks exactly the same, may act.
func (p *Pane) Grant() tea.Cmd {
	if r := p.chosenWaiting(); r != nil && r.Request != nil && r.Request.Act != "" {
		p.env.Screen.Tell("not for hours: a model chose this act and its arguments; " + p.env.Screen.KeyOf(ApproveAction) + " approves it once")
		return nil
	}
	if !p.mayApprove() {
		return nil
	}
	b := p.block
	if b.kind != toApprove {
		return nil
	}
	key := p.env.Screen.KeyOf(ApproveAction)
	q := &question{
		head: "Grant " + b.title, lines: []string{"This run acts, and until then the rule as it stands does exactly the same without asking, with other events. Events that call for care ask all the same. Disarming the rule ends it."},
		label: "hours", says: "1 to 24", commit: key, does: "grant", rests: true,
		run: func(text string, _ int) (tea.Cmd, error) {
			hours, err := react.ParseDuration(strings.TrimSpace(text) + "h")
			if err != nil || hours < time.Hour || hours > grantMost {
				return nil, errors.New("write the hours as a number from 1 to 24")
			}
			p.spent = b.text
			return p.perform(fmt.Sprintf("granted %s for %s", b.title, cells.Span(hours)), nil, func(ctx context.Context) error {
				return p.withNextStep(p.env.Engine.Grant(ctx, react.RunID(b.name), b.hash, p.env.Now().Add(hours)))
			}), nil
		},
	}
	q.field.Set("1")
	p.ask(q)
	return nil
}

// Retry has a rule act on the events of the chosen run again; it asks first.
func (p *Pane) Retry() tea.Cmd {
	if r := p.chosenRun(); r != nil {
		return p.RetryRun(r.ID)
	}
	return nil
}

// RetryRun is [Pane.Retry] for a run by its id.
func (p *Pane) RetryRun(id react.RunID) tea.Cmd {
	return p.perform("made again from "+string(id)+"; it is in the tab Waiting", nil, func(ctx context.Context) error {
		_, err := p.env.Engine.Retry(ctx, id)
		return err
	})
}

// Settle asks what became of the chosen parked run.
func (p *Pane) Settle() tea.Cmd {
	r := p.chosenRun()
	if r == nil {
		return nil
	}
	id := r.ID
	p.ask(&question{
		head: "Settle " + r.Rule, lines: []string{act(r.Request), "It is not known whether this was done. Look, then say what you found."},
		choices: []string{"it was done", "it failed"}, label: "how you know", says: "it goes into the journal", commit: "enter", does: "settle",
		run: func(text string, choice int) (tea.Cmd, error) {
			return p.SettleRun(id, choice == 0, strings.TrimSpace(text)), nil
		},
	})
	return nil
}

// SettleRun says what became of a parked run.
func (p *Pane) SettleRun(id react.RunID, done bool, reason string) tea.Cmd {
	word := "failed"
	if done {
		word = "done"
	}
	return p.perform("settled "+string(id)+": "+word, nil, func(ctx context.Context) error { return p.env.Engine.Settle(ctx, id, done, reason) })
}

// Silence asks for how long the chosen rule does nothing.
func (p *Pane) Silence() tea.Cmd {
	r := p.chosenRule()
	if r == nil {
		return nil
	}
	name := r.Rule.Name
	q := &question{
		head: "Silence " + name, lines: []string{"It goes on judging and does nothing. Events of that time are counted as suppressed."},
		label: "for", says: "such as 30m or 2h; 0 ends the silence", commit: "enter", does: "silence",
		run: func(text string, _ int) (tea.Cmd, error) {
			d, err := ParseSilence(text)
			if err != nil {
				return nil, err
			}
			return p.SilenceRule(name, d), nil
		},
	}
	q.field.Set("1h")
	p.ask(q)
	return nil
}

// ParseSilence reads how long a silence is; 0 ends one.
func ParseSilence(text string) (time.Duration, error) {
	if text = strings.TrimSpace(text); text == "0" {
		return 0, nil
	}
	d, err := react.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("write how long, such as 30m, 2h or 1d; 0 ends the silence")
	}
	return d, nil
}

// SilenceRule keeps a rule from acting for a time; 0 ends that.
func (p *Pane) SilenceRule(name string, d time.Duration) tea.Cmd {
	end := func(ctx context.Context) error { return p.env.Engine.Silence(ctx, name, time.Time{}) }
	if d == 0 {
		return p.perform("the silence of "+name+" is over", nil, end)
	}
	until := p.env.Now().Add(d)
	return p.performUndoable("silenced "+name+" for "+cells.Span(d), func(ctx context.Context) error { return p.env.Engine.Silence(ctx, name, until) },
		"the silence of "+name+" is over", end)
}

// Stop lets nothing start any more. Again within five seconds it ends what runs; later it
// asks what is wanted.
func (p *Pane) Stop() tea.Cmd {
	now := p.env.Now()
	switch {
	case !p.stopped.IsZero() && now.Sub(p.stopped) < killWithin:
		p.stopped = time.Time{}
		return p.Kill()
	case p.view.Stopped:
		p.askStopped()
		return nil
	}
	p.stopped = now
	return p.perform("STOPPED: "+p.env.Screen.KeyOf("react.stop")+" again within 5 s ends what runs, later lets it go on", nil,
		func(ctx context.Context) error { return p.env.Engine.Stop(ctx, false) })
}

// Kill lets nothing start any more and ends what runs.
func (p *Pane) Kill() tea.Cmd {
	return p.perform("STOPPED: what ran is being ended", nil, func(ctx context.Context) error { return p.env.Engine.Stop(ctx, true) })
}

func (p *Pane) askStopped() {
	p.env.Screen.Show(&widget.Confirm{Screen: p.env.Screen,
		Head:  "Reactions are stopped",
		Lines: []string{"Nothing starts. " + cells.Count(p.view.Running, "act") + " may still run."},
		Choices: []widget.Choice{
			{Key: "k", Title: "end what runs", Run: p.Kill},
			{Key: "g", Title: "let reactions go on", Run: p.resume},
		},
	})
}

// Halted tells whether nothing starts until the operator says so.
func (p *Pane) Halted() bool { return p.view.Stopped || p.view.Held != "" }

// AskResume asks whether reactions go on.
func (p *Pane) AskResume() tea.Cmd {
	lines := []string{"Reactions are stopped; what is ready starts, what asks goes on asking."}
	if p.view.Held != "" {
		lines = []string{p.view.Held, "What is ready starts then, what asks goes on asking."}
	}
	p.env.Screen.Show(&widget.Confirm{Screen: p.env.Screen, Head: "Let reactions go on", Lines: lines,
		Choices: []widget.Choice{{Key: "g", Title: "go on", Run: p.resume}}})
	return nil
}

func (p *Pane) resume() tea.Cmd {
	p.stopped = time.Time{}
	return p.perform("reactions go on", nil, func(ctx context.Context) error { return p.env.Engine.Go(ctx) })
}

// RunOnce has a rule act on one record, whatever its filter says; it asks.
func (p *Pane) RunOnce(rule string, seq uint64) tea.Cmd {
	return p.perform(rule+" takes record "+cells.Number(seq)+"; it is in the tab Waiting", nil, func(ctx context.Context) error {
		_, err := p.env.Engine.Once(ctx, rule, seq)
		return err
	})
}

// CanAsk tells whether there is a model to ask.
func (p *Pane) CanAsk() bool { return p.On() && !p.env.Masked && len(p.view.Models) > 0 }

// Ask has a model read one record and answer what the operator typed: the name of a model
// and a question, or where there is one model the question alone. Error: there is no model,
// none of that name, or nothing was asked.
func (p *Pane) Ask(seq uint64, typed string) (tea.Cmd, error) {
	models := p.view.Models
	model, task, _ := strings.Cut(strings.TrimSpace(typed), " ")
	named := slices.Contains(models, model)
	if !named && len(models) == 1 {
		model, task = models[0], typed
	}
	switch {
	case p.env.Masked:
		return nil, errors.New("no model is asked while names are masked")
	case len(models) == 0:
		return nil, fmt.Errorf("there is no model to ask: %s names none", p.view.Path)
	case !named && len(models) > 1:
		return nil, fmt.Errorf("there is no model %q; begin with one of: %s", model, strings.Join(models, ", "))
	case strings.TrimSpace(task) == "":
		return nil, errors.New("nothing is asked; write what you want to know")
	}
	var made react.RunID
	return p.perform("asked "+model+" about record "+cells.Number(seq)+"; "+p.env.Screen.KeyOf("reactions")+" shows the answer", func() {
		p.question = asked{run: made, model: model, seq: seq, at: p.env.Now(), state: react.Ready}
	}, func(ctx context.Context) (err error) {
		made, err = p.env.Engine.AskModel(ctx, react.Question{Seq: seq, Model: model, Task: strings.TrimSpace(task), Typed: true})
		return err
	}), nil
}

// RuleNames are the rules in force, RunIDs the runs that wait: for completions.
func (p *Pane) RuleNames() []string {
	var names []string
	for _, r := range p.view.Rules {
		names = append(names, r.Rule.Name)
	}
	return names
}

// RunIDs is told with [Pane.RuleNames].
func (p *Pane) RunIDs() []string {
	var ids []string
	for _, r := range p.view.Waiting {
		ids = append(ids, string(r.ID))
	}
	return ids
}

// RuleOf is the rule of a run that waits, "" if none does by that id.
func (p *Pane) RuleOf(id react.RunID) string {
	for _, r := range p.view.Waiting {
		if r.ID == id {
			return r.Rule
		}
	}
	return ""
}

// StateNames are the states of runs, for completions.
func StateNames() []string {
	names := make([]string, len(states))
	for i, s := range states {
		names[i] = string(s)
	}
	return names
}
