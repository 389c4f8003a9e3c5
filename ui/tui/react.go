package tui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	reactions "eventdeck/ui/tui/react"
	"eventdeck/ui/tui/widget"
)

// reactTickMsg is a tick of the guard of approvals.
type reactTickMsg struct{}

// reactEnv is what the screen of reactions needs.
func (a *app) reactEnv(engine react.Control) *reactions.Env {
	return &reactions.Env{
		Env: &a.Env, Screen: a, Engine: engine, Masked: a.o.Present, Writer: a.o.Rules, Log: func() eventlog.Records { return a.o.API.Log() },
		Focused: func() bool { return a.panes.Focus == layout.React },
		Size:    func() (int, int) { return a.panes.W, a.panes.H },
		Covered: func() bool { return a.dialog != nil || a.prompt != nil },
		Chosen: func() (uint64, bool) {
			r, ok := a.stream.Record(a.recordShown())
			return r.Seq, ok
		},
	}
}

// reactTick returns a command that ticks the guard of approvals, nil while it needs none.
func (a *app) reactTick() tea.Cmd {
	if !a.react.WantsTick() {
		return nil
	}
	return a.schedule.After(reactions.TickEvery, reactTickMsg{})
}

var (
	onReact     = []layout.Pane{layout.React, layout.Detail}
	anywhere    []layout.Pane
	errNoEngine = errors.New("there are no reactions here; key 6 says why")
)

// onReactions reports whether keys act on a row of the reactions.
func (a *app) onReactions() bool { return a.panes.Subject == layout.React && a.react.On() }

// toReactions moves the focus to the reactions, or to an answer of a model that was not shown yet.
func (a *app) toReactions() {
	answer := a.react.ShowAnswer()
	a.enter(layout.React)
	if answer && a.panes.W < layout.TreeWidth {
		a.toDetail()
	}
}

// viewReaction shows the detail of the chosen run or rule on the whole screen, from its first line
// on, or goes back to the table.
func (a *app) viewReaction() tea.Cmd {
	if a.panes.Focus == layout.Detail && a.panes.Size == layout.Full {
		a.panes.Size = layout.Normal
		a.enter(layout.React)
		return nil
	}
	a.toDetail()
	a.panes.Size = layout.Full
	a.detail.By(-len(a.detail.Lines))
	return nil
}

func (a *app) approveWord() string {
	if a.react.OnRule() {
		return "arm"
	}
	return "approve"
}

func (a *app) denyWord() string {
	if a.react.OnRule() {
		return "disarm"
	}
	return "deny"
}

// reactCommands are the typed commands for reactions. None approves or arms.
func (a *app) reactCommands() []palette.ActionCommand {
	names := func([]string) []string { return a.react.RuleNames() }
	ids := func([]string) []string { return a.react.RunIDs() }
	rows := []palette.ActionCommand{
		{Name: "react", Usage: "[stop | kill | go]", Title: "make a rule for events like the chosen one; stop all reactions, end what runs, go on", Dangerous: true, Run: a.runReact, Complete: func([]string) []string { return []string{"stop", "kill", "go"} }},
		{Name: "runs", Usage: "[STATE…] [WORDS]", Title: "runs of reactions, by state or words", Run: a.runRuns, Complete: func([]string) []string { return reactions.StateNames() }},
		{Name: "rules", Usage: "[RULE]", Title: "rules of reactions", Run: a.runRules, Complete: names},
		{Name: "deny", Usage: "RUN [REASON]", Title: "deny what a run wants to do", Dangerous: true, Run: a.runDeny, Complete: ids},
		{Name: "retry", Usage: "RUN", Title: "act on the events of a run again; it asks first", Dangerous: true, Run: a.runRetry},
		{Name: "settle", Usage: "RUN done | failed [REASON]", Title: "say what became of a parked run", Dangerous: true, Run: a.runSettle},
		{Name: "disarm", Usage: "RULE", Title: "take from a rule that it acts by itself", Dangerous: true, Run: a.runDisarm, Complete: names},
		{Name: "silence", Usage: "RULE 2h | 0", Title: "silence a rule for a time, or no longer", Also: "mute snooze", Dangerous: true, Run: a.runSilence, Complete: names},
		{Name: "why-not", Usage: "RULE [#SEQ]", Title: "why did this rule not fire for this event?", Run: a.runWhyNot, Complete: names},
		{Name: "once", Usage: "RULE [#SEQ]", Title: "have a rule act on an event, whatever its filter says; it asks first", Dangerous: true, Run: a.runOnce, Complete: names},
	}
	for i := range rows {
		rows[i].When = a.react.On
	}
	ask := palette.ActionCommand{Name: "ask", Usage: "[MODEL] WHAT…", Title: "ask a model about the chosen event: it reads the event and answers, without tools", Dangerous: true, When: a.react.CanAsk, Run: a.halted(a.runAsk), Complete: func([]string) []string { return a.react.View().Models }}
	return append(rows, ask)
}

// needReactions returns an error if no engine runs, or if a command has less than least or more than
// most words; most -1 is any number.
func (a *app) needReactions(name string, words []string, least, most int) error {
	switch {
	case !a.react.On():
		return errNoEngine
	case len(words) < least || most >= 0 && len(words) > most:
		return a.actions.Usage(name)
	}
	return nil
}

func (a *app) runReact(words []string) (tea.Cmd, error) {
	if err := a.needReactions("react", words, 0, 1); err != nil {
		return nil, err
	}
	if len(words) == 0 {
		if !a.react.CanWriteRule() || !a.onEvent() {
			return nil, errors.New("choose an event in the stream: the rule is made for events like it")
		}
		return a.makeRule(), nil
	}
	switch words[0] {
	case "stop":
		return a.react.Stop(), nil
	case "kill":
		return a.react.Kill(), nil
	case "go":
		return a.react.AskResume(), nil
	}
	return nil, a.actions.Usage("react")
}

// openReactions shows a table of the reactions.
func (a *app) openReactions(tab reactions.Tab, words string) {
	a.react.ShowTab(tab, words)
	a.enter(layout.React)
}

func (a *app) runRuns(words []string) (tea.Cmd, error) {
	a.openReactions(reactions.Runs, strings.Join(words, " "))
	return nil, nil
}

func (a *app) runRules(words []string) (tea.Cmd, error) {
	a.openReactions(reactions.Rules, "")
	if len(words) > 0 && !a.react.Choose(reactions.Rules, words[0]) {
		return nil, a.noRule(words[0])
	}
	return nil, nil
}

func (a *app) noRule(name string) error {
	return fmt.Errorf("there is no rule %q; there are: %s", name, strings.Join(a.react.RuleNames(), ", "))
}

func (a *app) runDeny(words []string) (tea.Cmd, error) {
	if err := a.needReactions("deny", words, 1, -1); err != nil {
		return nil, err
	}
	id := react.RunID(words[0])
	rule := a.react.RuleOf(id)
	if rule == "" {
		return nil, fmt.Errorf("no run %q waits; the tab Waiting lists those that do", words[0])
	}
	return a.react.DenyRun(id, rule, strings.Join(words[1:], " ")), nil
}

func (a *app) runRetry(words []string) (tea.Cmd, error) {
	if err := a.needReactions("retry", words, 1, 1); err != nil {
		return nil, err
	}
	return a.react.RetryRun(react.RunID(words[0])), nil
}

func (a *app) runSettle(words []string) (tea.Cmd, error) {
	if err := a.needReactions("settle", words, 2, -1); err != nil {
		return nil, err
	}
	if words[1] != "done" && words[1] != "failed" {
		return nil, a.actions.Usage("settle")
	}
	return a.react.SettleRun(react.RunID(words[0]), words[1] == "done", strings.Join(words[2:], " ")), nil
}

func (a *app) runDisarm(words []string) (tea.Cmd, error) {
	if err := a.needReactions("disarm", words, 1, 1); err != nil {
		return nil, err
	}
	return a.react.Disarm(words[0]), nil
}

func (a *app) runSilence(words []string) (tea.Cmd, error) {
	if err := a.needReactions("silence", words, 2, 2); err != nil {
		return nil, err
	}
	d, err := reactions.ParseSilence(words[1])
	if err != nil {
		return nil, err
	}
	return a.react.SilenceRule(words[0], d), nil
}

// ofRecord returns the record that the second word of a typed command names, else the chosen one.
func (a *app) ofRecord(name string, words []string) (uint64, error) {
	if err := a.needReactions(name, words, 1, 2); err != nil {
		return 0, err
	}
	if len(words) < 2 {
		if a.stream.At == 0 {
			return 0, errors.New("no event is chosen; choose one in the stream, or name it as #SEQ")
		}
		return a.stream.At, nil
	}
	seq, err := strconv.ParseUint(strings.TrimPrefix(words[1], "#"), 10, 64)
	if err != nil || seq == 0 || seq > a.snap.Last {
		return 0, fmt.Errorf("there is no record %q; the newest is #%d", words[1], a.snap.Last)
	}
	return seq, nil
}

func (a *app) runWhyNot(words []string) (tea.Cmd, error) {
	seq, err := a.ofRecord("why-not", words)
	if err != nil {
		return nil, err
	}
	return a.react.Explain(seq, words[0]), nil
}

func (a *app) runOnce(words []string) (tea.Cmd, error) {
	seq, err := a.ofRecord("once", words)
	if err != nil {
		return nil, err
	}
	return a.react.RunOnce(words[0], seq), nil
}

func (a *app) runAsk(words []string) (tea.Cmd, error) {
	if err := a.needReactions("ask", words, 1, -1); err != nil {
		return nil, err
	}
	if !a.onEvent() {
		return nil, errors.New("no event is chosen; choose the one to ask about in the stream")
	}
	return a.react.Ask(a.stream.At, strings.Join(words, " "))
}

// askModel opens a prompt for a question about the chosen event, and for a model if there are
// several.
func (a *app) askModel() tea.Cmd {
	seq, models := a.stream.At, a.react.View().Models
	p := &widget.Prompt{Label: "ask " + strings.Join(models, ", ") + " about " + cells.Number(seq) + ":", Says: "what do you want to know?   enter asks, and costs what the model costs   esc goes back"}
	if len(models) > 1 {
		p.Says = "first the model, then what you want to know   enter asks, and costs what the model costs   esc goes back"
	}
	p.Done = func(text string) tea.Cmd {
		cmd, err := a.react.Ask(seq, text)
		if err != nil {
			p.Problem = err.Error()
		}
		return cmd
	}
	a.AskLine(p, "")
	return nil
}

// onEvent reports whether the chosen record is an event.
func (a *app) onEvent() bool {
	r, ok := a.stream.Record(a.stream.At)
	return ok && r.Kind == event.KindEvent
}

// otherRow names the kind of the chosen record if it is no event.
func (a *app) otherRow() string {
	r, ok := a.stream.Record(a.stream.At)
	switch {
	case !ok || r.Kind == event.KindEvent:
		return ""
	case r.Kind == event.KindState:
		return "a change of state"
	case r.Kind == event.KindRejected:
		return "a payload that was refused"
	}
	return "a gap"
}

// makeRule shows the form of a rule for events like the chosen one. Its filter has the chosen value
// of the detail.
func (a *app) makeRule() tea.Cmd {
	r, ok := a.stream.Record(a.stream.At)
	if !ok {
		return nil
	}
	term := ""
	if a.panes.Focus == layout.Detail && a.detail.HasValue() {
		term, _, _ = a.detail.Value()
	}
	return form.OpenCustom(a.formEnv(), a.react.NewRule(&r, term))
}
