package react

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/widget"
)

var (
	onReact = []layout.Pane{layout.React, layout.Detail}
	onEvent = []layout.Pane{layout.Stream, layout.Detail}
)

// Actions returns the actions about reactions. Approving and arming work by their keys only, not from a list or
// by a typed name.
func (p *Pane) Actions() []palette.Action {
	r := func(when func() bool) func() bool { return func() bool { return p.Shown() && when() } }
	decides := r(func() bool { return p.OnWaiting() || p.OnRule() })
	return palette.Grouped("Reactions",
		palette.Action{ID: ApproveAction, Title: "approve what is shown, once; a rule: arm it", Keys: []string{"ctrl+y"}, Hint: "approve", HintNow: p.approveWord, Panes: onReact, Dangerous: true, KeyOnly: true, When: decides, Run: p.Approve},
		palette.Action{ID: "react.deny", Title: "deny with a reason; a rule: disarm it", Keys: []string{"ctrl+x"}, Hint: "deny", HintNow: p.denyWord, Panes: onReact, Dangerous: true, When: decides, Run: p.Deny},
		palette.Action{ID: "react.grant", Title: "approve what is shown, and the same again, for some hours", Keys: []string{"ctrl+g"}, Hint: "grant", Panes: onReact, Dangerous: true, KeyOnly: true, When: r(p.Grantable), Run: p.Grant},
		palette.Action{ID: "react.view", Title: "read what is chosen in full, on the whole screen", Also: "view request block result", Keys: []string{"v"}, Hint: "view", Panes: onReact, When: r(p.OnRow), Run: p.readInFull},
		palette.Action{ID: "react.again", Title: "act on the events of the run again; it asks first", Also: "retry repeat rerun", Keys: []string{"ctrl+r"}, Hint: "again", Panes: onReact, Dangerous: true, When: r(p.OnEnded), Run: p.Retry},
		palette.Action{ID: "react.settle", Title: "say what became of a parked run", Also: "unknown outcome resolve", Keys: []string{"ctrl+t"}, Hint: "settle", Panes: onReact, Dangerous: true, When: r(p.OnParked), Run: p.Settle},
		palette.Action{ID: "react.silence", Title: "silence the rule for a time", Also: "mute snooze", Keys: []string{"ctrl+s"}, Hint: "silence", Panes: onReact, Dangerous: true, When: r(p.OnRule), Run: p.Silence},
		palette.Action{ID: "react.new", Title: "react to events like this: make a rule", Needs: palette.Event, Instead: p.env.Stream.NoEvent, Also: "automate rule trigger", Keys: []string{"J"}, Panes: onEvent, Dangerous: true, When: func() bool { return p.CanWriteRule() && p.env.Stream.OnEvent() }, Run: p.makeRule},
		palette.Action{ID: "react.why", Title: "why did rules fire for this event, or not?", Needs: palette.Event, Also: "explain reaction rule", Keys: []string{"Q"}, Panes: onEvent, When: func() bool { return p.On() && p.env.Stream.OnRecord() }, Run: func() tea.Cmd { return p.Explain(p.env.Stream.At, "") }},
		palette.Action{ID: "react.ask", Title: "ask a model about the event", Needs: palette.Event, Instead: p.env.Stream.NoEvent, Also: "question explain llm", Panes: onEvent, Dangerous: true, When: func() bool { return p.CanAsk() && p.env.Stream.OnRecord() && p.env.Stream.OnEvent() }, Run: p.askModel},
		palette.Action{ID: "react.stop", Title: "stop all reactions at once; again within 5 s ends what runs", Also: "kill switch emergency", Keys: []string{"Z"}, Dangerous: true, When: p.On, Run: p.Stop},
		palette.Action{ID: "react.go", Title: "let reactions go on", Also: "resume start", Dangerous: true, When: func() bool { return p.On() && p.Halted() }, Run: p.AskResume},
	)
}

// Shown reports whether keys act on a row of the reactions.
func (p *Pane) Shown() bool { return p.env.Panes.Subject == layout.React && p.On() }

// Enter moves the focus to the reactions, or to an answer of a model that was not shown yet.
func (p *Pane) Enter() {
	answer := p.ShowAnswer()
	p.env.Panes.Enter(layout.React)
	if answer && p.env.Panes.W < layout.TreeWidth {
		p.env.Panes.Enter(layout.Detail)
	}
}

// readInFull shows the detail of the chosen run or rule on the whole screen, from its first line
// on, or goes back to the table.
func (p *Pane) readInFull() tea.Cmd {
	if p.env.Panes.Focus == layout.Detail && p.env.Panes.Size == layout.Full {
		p.env.Panes.Size = layout.Normal
		p.env.Panes.Enter(layout.React)
		return nil
	}
	p.env.Panes.Enter(layout.Detail)
	p.env.Panes.Size = layout.Full
	p.env.Detail.By(-len(p.env.Detail.Lines))
	return nil
}

func (p *Pane) approveWord() string {
	if p.OnRule() {
		return "arm"
	}
	return "approve"
}

func (p *Pane) denyWord() string {
	if p.OnRule() {
		return "disarm"
	}
	return "deny"
}

// askModel opens a prompt for a question about the chosen event, and for a model if there are
// several.
func (p *Pane) askModel() tea.Cmd {
	seq, models := p.env.Stream.At, p.view.Models
	l := &widget.Prompt{Label: "ask " + strings.Join(models, ", ") + " about " + cells.Number(seq) + ":", Says: "what do you want to know?   enter asks, and costs what the model costs   esc goes back"}
	if len(models) > 1 {
		l.Says = "first the model, then what you want to know   enter asks, and costs what the model costs   esc goes back"
	}
	l.Done = func(text string) tea.Cmd {
		cmd, err := p.Ask(seq, text)
		if err != nil {
			l.Problem = err.Error()
		}
		return cmd
	}
	p.env.Screen.AskLine(l, "")
	return nil
}

// makeRule shows the form of a rule for events like the chosen one. Its filter has the chosen value
// of the detail.
func (p *Pane) makeRule() tea.Cmd {
	r, ok := p.env.Stream.Record(p.env.Stream.At)
	if !ok {
		return nil
	}
	term := ""
	if p.env.Panes.Focus == layout.Detail && p.env.Detail.HasValue() {
		term, _, _ = p.env.Detail.Value()
	}
	return form.OpenCustom(p.env.Forms, p.NewRule(&r, term))
}
