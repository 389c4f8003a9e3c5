package react

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// killWithin is the time after a stop in which a second stop also ends running acts.
const killWithin = 5 * time.Second

// grantMax is the longest duration of a grant.
const grantMax = 24 * time.Hour

// Tab is one of the tables.
type Tab int

// The tabs, in their order.
const (
	Waiting Tab = iota
	Runs
	Rules
)

// Tab returns the tab that is shown.
func (p *Pane) Tab() Tab { return Tab(p.Board.On) }

// ShowTab shows a tab, limited to rows with the words.
func (p *Pane) ShowTab(t Tab, words string) {
	p.Board.On = int(t)
	if p.Board.Table().Finds() {
		p.Board.Table().Find(words)
	}
	p.Board.Table().Load()
}

// Choose shows a tab, and chooses a run or a rule by name. It reports whether the row exists.
func (p *Pane) Choose(t Tab, name string) bool {
	p.ShowTab(t, "")
	row := table.RowID{Name: name}
	if p.Board.Table().Src.Find(row) < 0 {
		return false
	}
	p.Board.Table().At = row
	return true
}

// OnWaiting reports whether the chosen row is a run that waits for the operator.
func (p *Pane) OnWaiting() bool { return p.Tab() == Waiting && p.chosenWaiting() != nil }

// Grantable reports whether the chosen run may be approved for hours. Calls of tools and requests of
// agents and clients must be approved one by one.
func (p *Pane) Grantable() bool {
	if !p.OnWaiting() {
		return false
	}
	r := p.chosenWaiting().Request
	return r == nil || r.Kind.Grantable()
}

// OnRow reports whether a row is chosen.
func (p *Pane) OnRow() bool { return p.Board.Table().At != table.RowID{} }

// WaitingCount returns the number of runs that wait for the operator.
func (p *Pane) WaitingCount() int { return len(p.view.Waiting) }

// OnRule reports whether a rule is chosen.
func (p *Pane) OnRule() bool { return p.chosenRule() != nil }

// OnEnded reports whether the chosen row is a run that has ended.
func (p *Pane) OnEnded() bool { r := p.chosenRun(); return r != nil && r.State.Over() }

// OnParked reports whether the chosen row is a parked run: it is not known whether it acted.
func (p *Pane) OnParked() bool { r := p.chosenRun(); return r != nil && r.State == react.Parked }

func (p *Pane) chosenWaiting() *react.Run { return p.waiting.row(p.Board.Tabs[Waiting].At) }

func (p *Pane) chosenRun() *react.Run {
	if p.Tab() != Runs {
		return nil
	}
	return p.runs.row(p.Board.Table().At)
}

func (p *Pane) chosenRule() *react.RuleView {
	if p.Tab() != Rules {
		return nil
	}
	return p.rules.row(p.Board.Table().At)
}

// mayApprove reports whether the current key press may approve; otherwise it says why not.
func (p *Pane) mayApprove() bool {
	if p.guard.open && p.block.kind != noBlock && p.block.text == p.guard.what {
		return true
	}
	why := p.guardState()
	switch {
	case p.env.Masked:
		p.env.Screen.Tell("not here: values are masked for the audience (--present); eventdeck approve and eventdeck rules arm show them")
		return false
	case p.guard.what == "" && p.belowMinSize():
		why = fmt.Sprintf("it takes a terminal of %d columns and %d lines", MinWidth, MinHeight)
	case p.guard.what == "":
		why = "it must be on the screen: " + p.env.Screen.KeyOf("open") + " opens it"
	case p.guard.unseen() == 0:
		why = "wait a moment without pressing a key, then press it again"
	}
	p.env.Screen.Tell("not yet: " + why)
	return false
}

// Approve approves the shown run once, or arms the shown rule, if the current key press may do so; see
// [Pane.Key].
func (p *Pane) Approve() tea.Cmd {
	if !p.mayApprove() {
		return nil
	}
	b := p.block
	p.approved = b.text
	p.guard.markUsed(p.env.Now())
	if b.kind == toArm {
		return p.perform("armed "+b.title+": it acts by itself as far as its mode allows", nil, func(ctx context.Context) error {
			return withNextStep(p.env.Engine.Arm(ctx, b.name, react.Hash(b.hash)))
		})
	}
	return p.perform("approved "+b.title+", once", nil, func(ctx context.Context) error {
		return withNextStep(p.env.Engine.Approve(ctx, react.RunID(b.name), b.hash))
	})
}

// withNextStep adds to a [react.ErrChanged] what to do next.
func withNextStep(err error) error {
	if errors.Is(err, react.ErrChanged) {
		return fmt.Errorf("%w: read it again, then decide", err)
	}
	return err
}

// Deny asks for a reason and denies the chosen run, or all waiting runs of its rule. If a rule is
// chosen it disarms that.
func (p *Pane) Deny() tea.Cmd {
	if r := p.chosenRule(); r != nil {
		return p.Disarm(r.Rule.Name)
	}
	r := p.chosenWaiting()
	if r == nil {
		return nil
	}
	id, rule := r.ID, r.Rule
	q := &input{
		head: "Deny " + rule, lines: []string{requestText(r.Request)}, label: "reason", says: "it goes into the journal",
		commit: "enter", does: "deny",
	}
	all := p.waiting.ofRule(rule) // a copy, without runs that begin to wait while the reason is typed
	if len(all) > 1 {
		q.choices = []string{"this one", fmt.Sprintf("all %d of this rule", len(all))}
		q.lines = append(q.lines, requestTexts(all))
	}
	q.run = func(text string, choice int) (tea.Cmd, error) {
		if choice == 0 {
			return p.DenyRun(id, rule, strings.TrimSpace(text)), nil
		}
		return p.denyAll(all, rule, strings.TrimSpace(text)), nil
	}
	p.show(q)
	return nil
}

// denyAll denies waiting runs of a rule, one by one.
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

// requestTexts describes the requests of several runs, with their groups.
func requestTexts(runs []react.Run) string {
	var all []string
	for _, r := range runs {
		what := requestText(r.Request)
		if r.Key != "" {
			what = quoted(string(r.Key)) + ": " + what
		}
		all = append(all, what)
	}
	return fmt.Sprintf("All %d that wait: ", len(all)) + strings.Join(all, "; ")
}

// DenyRun denies a waiting run, and offers to undo that.
func (p *Pane) DenyRun(id react.RunID, rule, reason string) tea.Cmd {
	return p.performUndoable("denied "+rule, func(ctx context.Context) error { return p.env.Engine.Deny(ctx, id, reason) },
		"asks again: "+rule, func(ctx context.Context) error { return p.env.Engine.Undeny(ctx, id) })
}

// Disarm disarms a rule or ends its grant, so that it asks before it acts.
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
	// Undo arms only the version of the rule that was disarmed.
	var was react.RuleView
	return p.performUndoable("disarmed "+name, func(ctx context.Context) (err error) {
		if was, err = p.env.Engine.Rule(ctx, name); err != nil {
			return err
		}
		return off(ctx)
	}, "armed "+name+" again", func(ctx context.Context) error { return withNextStep(p.env.Engine.Arm(ctx, name, was.ArmHash())) })
}

// Grant asks for a number of hours, and approves for that time the shown run and equal requests.
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
	q := &input{
		head: "Grant " + b.title, lines: []string{"This run acts, and until then the rule as it stands does exactly the same without asking, with other events. Events that call for care ask all the same. Disarming the rule ends it."},
		label: "hours", says: "1 to 24", commit: key, does: "grant", rests: true,
		run: func(text string, _ int) (tea.Cmd, error) {
			hours, err := react.ParseDuration(strings.TrimSpace(text) + "h")
			if err != nil || hours < time.Hour || hours > grantMax {
				return nil, errors.New("write the hours as a number from 1 to 24")
			}
			p.approved = b.text
			return p.perform(fmt.Sprintf("granted %s for %s", b.title, cells.Span(hours)), nil, func(ctx context.Context) error {
				return withNextStep(p.env.Engine.Grant(ctx, react.RunID(b.name), b.hash, p.env.Now().Add(hours)))
			}), nil
		},
	}
	q.field.Set("1")
	p.show(q)
	return nil
}

// Retry makes a new run from the events of the chosen one. The new run waits for approval.
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

// Settle asks whether the chosen parked run acted.
func (p *Pane) Settle() tea.Cmd {
	r := p.chosenRun()
	if r == nil {
		return nil
	}
	id := r.ID
	p.show(&input{
		head: "Settle " + r.Rule, lines: []string{requestText(r.Request), "It is not known whether this was done. Look, then say what you found."},
		choices: []string{"it was done", "it failed"}, label: "how you know", says: "it goes into the journal", commit: "enter", does: "settle",
		run: func(text string, choice int) (tea.Cmd, error) {
			return p.SettleRun(id, choice == 0, strings.TrimSpace(text)), nil
		},
	})
	return nil
}

// SettleRun records whether a parked run acted, and why the operator thinks so.
func (p *Pane) SettleRun(id react.RunID, done bool, reason string) tea.Cmd {
	word := "failed"
	if done {
		word = "done"
	}
	return p.perform("settled "+string(id)+": "+word, nil, func(ctx context.Context) error { return p.env.Engine.Settle(ctx, id, done, reason) })
}

// Silence asks for how long the chosen rule must not act.
func (p *Pane) Silence() tea.Cmd {
	r := p.chosenRule()
	if r == nil {
		return nil
	}
	name := r.Rule.Name
	q := &input{
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
	p.show(q)
	return nil
}

// ParseSilence parses the duration of a silence, such as 30m or 2h; 0 ends a silence. Error: the text
// is not a duration.
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

// SilenceRule silences a rule for a time, and offers to undo that; 0 ends a silence.
func (p *Pane) SilenceRule(name string, d time.Duration) tea.Cmd {
	end := func(ctx context.Context) error { return p.env.Engine.Silence(ctx, name, time.Time{}) }
	if d == 0 {
		return p.perform("the silence of "+name+" is over", nil, end)
	}
	until := p.env.Now().Add(d)
	return p.performUndoable("silenced "+name+" for "+cells.Span(d), func(ctx context.Context) error { return p.env.Engine.Silence(ctx, name, until) },
		"the silence of "+name+" is over", end)
}

// Stop stops reactions: no further act starts. Called again within killWithin it also ends running
// acts; called later it asks what to do.
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

// Kill stops reactions and ends running acts.
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

// Halted reports whether reactions are stopped or held until the operator resumes them.
func (p *Pane) Halted() bool { return p.view.Stopped || p.view.Held != "" }

// AskResume asks before it resumes reactions.
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

// RunOnce makes a run of a rule from one record, also if the filter of the rule does not match it. The
// run waits for approval.
func (p *Pane) RunOnce(rule string, seq uint64) tea.Cmd {
	return p.perform(rule+" takes record "+cells.Number(seq)+"; it is in the tab Waiting", nil, func(ctx context.Context) error {
		_, err := p.env.Engine.Once(ctx, rule, seq)
		return err
	})
}

// RuleNames returns the names of the rules in force.
func (p *Pane) RuleNames() []string {
	var names []string
	for _, r := range p.view.Rules {
		names = append(names, r.Rule.Name)
	}
	return names
}

// RunIDs returns the ids of the waiting runs.
func (p *Pane) RunIDs() []string {
	var ids []string
	for _, r := range p.view.Waiting {
		ids = append(ids, string(r.ID))
	}
	return ids
}

// RuleOf returns the rule of a waiting run, "" if there is no such run.
func (p *Pane) RuleOf(id react.RunID) string {
	for _, r := range p.view.Waiting {
		if r.ID == id {
			return r.Rule
		}
	}
	return ""
}
