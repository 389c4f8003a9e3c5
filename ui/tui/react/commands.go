package react

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/react"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
)

var errNoEngine = errors.New("there are no reactions here; key 6 says why")

// Commands returns the typed commands for  None approves or arms.
func (p *Pane) Commands() []palette.ActionCommand {
	names := func([]string) []string { return p.RuleNames() }
	ids := func([]string) []string { return p.RunIDs() }
	rows := []palette.ActionCommand{
		{Name: "react", Usage: "[stop | kill | go]", Title: "make a rule for events like the chosen one; stop all reactions, end what runs, go on", Dangerous: true, Run: p.runReact, Complete: func([]string) []string { return []string{"stop", "kill", "go"} }},
		{Name: "runs", Usage: "[STATE…] [WORDS]", Title: "runs of reactions, by state or words", Run: p.typedRuns, Complete: func([]string) []string { return StateNames() }},
		{Name: "rules", Usage: "[RULE]", Title: "rules of reactions", Run: p.runRules, Complete: names},
		{Name: "deny", Usage: "RUN [REASON]", Title: "deny what a run wants to do", Dangerous: true, Run: p.runDeny, Complete: ids},
		{Name: "retry", Usage: "RUN", Title: "act on the events of a run again; it asks first", Dangerous: true, Run: p.runRetry},
		{Name: "settle", Usage: "RUN done | failed [REASON]", Title: "say what became of a parked run", Dangerous: true, Run: p.runSettle},
		{Name: "disarm", Usage: "RULE", Title: "take from a rule that it acts by itself", Dangerous: true, Run: p.runDisarm, Complete: names},
		{Name: "silence", Usage: "RULE 2h | 0", Title: "silence a rule for a time, or no longer", Also: "mute snooze", Dangerous: true, Run: p.runSilence, Complete: names},
		{Name: "why-not", Usage: "RULE [#SEQ]", Title: "why did this rule not fire for this event?", Run: p.runWhyNot, Complete: names},
		{Name: "once", Usage: "RULE [#SEQ]", Title: "have a rule act on an event, whatever its filter says; it asks first", Dangerous: true, Run: p.runOnce, Complete: names},
	}
	for i := range rows {
		rows[i].When = p.On
	}
	ask := palette.ActionCommand{Name: "ask", Usage: "[MODEL] WHAT…", Title: "ask a model about the chosen event: it reads the event and answers, without tools", Dangerous: true, When: p.CanAsk, Run: p.env.Stream.Halted(p.runAsk), Complete: func([]string) []string { return p.View().Models }}
	return append(rows, ask)
}

// need returns an error if no engine runs, or if a command has less than least or more than
// most words; most -1 is any number.
func (p *Pane) need(words []string, least, most int) error {
	switch {
	case !p.On():
		return errNoEngine
	case len(words) < least || most >= 0 && len(words) > most:
		return palette.ErrUsage
	}
	return nil
}

func (p *Pane) runReact(words []string) (tea.Cmd, error) {
	if err := p.need(words, 0, 1); err != nil {
		return nil, err
	}
	if len(words) == 0 {
		if !p.CanWriteRule() || !p.env.Stream.OnEvent() {
			return nil, errors.New("choose an event in the stream: the rule is made for events like it")
		}
		return p.makeRule(), nil
	}
	switch words[0] {
	case "stop":
		return p.Stop(), nil
	case "kill":
		return p.Kill(), nil
	case "go":
		return p.AskResume(), nil
	}
	return nil, palette.ErrUsage
}

// openReactions shows a table of the
func (p *Pane) openReactions(tab Tab, words string) {
	p.ShowTab(tab, words)
	p.env.Panes.Enter(layout.React)
}

func (p *Pane) typedRuns(words []string) (tea.Cmd, error) {
	p.openReactions(Runs, strings.Join(words, " "))
	return nil, nil
}

func (p *Pane) runRules(words []string) (tea.Cmd, error) {
	p.openReactions(Rules, "")
	if len(words) > 0 && !p.Choose(Rules, words[0]) {
		return nil, p.noRule(words[0])
	}
	return nil, nil
}

func (p *Pane) noRule(name string) error {
	return fmt.Errorf("there is no rule %q; there are: %s", name, strings.Join(p.RuleNames(), ", "))
}

func (p *Pane) runDeny(words []string) (tea.Cmd, error) {
	if err := p.need(words, 1, -1); err != nil {
		return nil, err
	}
	id := react.RunID(words[0])
	rule := p.RuleOf(id)
	if rule == "" {
		return nil, fmt.Errorf("no run %q waits; the tab Waiting lists those that do", words[0])
	}
	return p.DenyRun(id, rule, strings.Join(words[1:], " ")), nil
}

func (p *Pane) runRetry(words []string) (tea.Cmd, error) {
	if err := p.need(words, 1, 1); err != nil {
		return nil, err
	}
	return p.RetryRun(react.RunID(words[0])), nil
}

func (p *Pane) runSettle(words []string) (tea.Cmd, error) {
	if err := p.need(words, 2, -1); err != nil {
		return nil, err
	}
	if words[1] != "done" && words[1] != "failed" {
		return nil, palette.ErrUsage
	}
	return p.SettleRun(react.RunID(words[0]), words[1] == "done", strings.Join(words[2:], " ")), nil
}

func (p *Pane) runDisarm(words []string) (tea.Cmd, error) {
	if err := p.need(words, 1, 1); err != nil {
		return nil, err
	}
	return p.Disarm(words[0]), nil
}

func (p *Pane) runSilence(words []string) (tea.Cmd, error) {
	if err := p.need(words, 2, 2); err != nil {
		return nil, err
	}
	d, err := ParseSilence(words[1])
	if err != nil {
		return nil, err
	}
	return p.SilenceRule(words[0], d), nil
}

// ofRecord returns the record that the second word of a typed command names, else the chosen one.
func (p *Pane) ofRecord(words []string) (uint64, error) {
	if err := p.need(words, 1, 2); err != nil {
		return 0, err
	}
	if len(words) < 2 {
		if p.env.Stream.At == 0 {
			return 0, errors.New("no event is chosen; choose one in the stream, or name it as #SEQ")
		}
		return p.env.Stream.At, nil
	}
	seq, err := strconv.ParseUint(strings.TrimPrefix(words[1], "#"), 10, 64)
	if err != nil || seq == 0 || seq > p.env.Last() {
		return 0, fmt.Errorf("there is no record %q; the newest is #%d", words[1], p.env.Last())
	}
	return seq, nil
}

func (p *Pane) runWhyNot(words []string) (tea.Cmd, error) {
	seq, err := p.ofRecord(words)
	if err != nil {
		return nil, err
	}
	return p.Explain(seq, words[0]), nil
}

func (p *Pane) runOnce(words []string) (tea.Cmd, error) {
	seq, err := p.ofRecord(words)
	if err != nil {
		return nil, err
	}
	return p.RunOnce(words[0], seq), nil
}

func (p *Pane) runAsk(words []string) (tea.Cmd, error) {
	if err := p.need(words, 1, -1); err != nil {
		return nil, err
	}
	if !p.env.Stream.OnEvent() {
		return nil, errors.New("no event is chosen; choose the one to ask about in the stream")
	}
	return p.Ask(p.env.Stream.At, strings.Join(words, " "))
}
