package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// subRows are the panes in which a subscription is a row.
var subRows = []layout.Pane{layout.Tree, layout.Subs}

// lifeActions change how a subscription lives.
func (a *app) lifeActions() []action.Action {
	return action.Grouped("Subscriptions",
		action.Action{ID: "sub.refresh", Title: "ask the server again from the saved position", Needs: action.Subscription, Also: "poll now retry", Keys: []string{"u"}, Dangerous: true, When: a.onSub, Run: a.refreshSub},
		action.Action{ID: "sub.mode", Title: "change the delivery mode, or failover", Needs: action.Subscription, Also: "push poll webhook", Keys: []string{"M"}, Dangerous: true, When: a.onSub, Run: a.openModeSwitch},
		action.Action{ID: "sub.failover", Title: "automatic failover on or off: webhook, push, poll", Needs: action.Subscription, Keys: []string{"F"}, Panes: subRows, Dangerous: true, When: a.onSub, Run: a.turnFailover},
		action.Action{ID: "sub.reset", Title: "reset the saved position", Needs: action.Subscription, Also: "cursor rewind seek", Keys: []string{"C"}, Panes: subRows, Dangerous: true, When: a.onSub, Run: action.Act(a.askReset)},
		action.Action{ID: "sub.rotate", Title: "make a new webhook secret", Keys: []string{"K"}, Panes: subRows, Dangerous: true, When: a.onHook, Run: action.Act(a.askRotate)},
	)
}

func (a *app) onHook() bool {
	v := a.selected()
	return v != nil && v.Mode == event.ModeWebhook
}

func (a *app) refreshSub() tea.Cmd {
	v := a.selected()
	if paused(v) {
		a.Tell(a.KeyOf("sub.refresh") + " asks the server of " + evidence.SubName(&v.Subscription) + " again, and that is paused: " + a.KeyOf("pause") + " resumes it")
		return nil
	}
	id := v.ID
	return a.Ask("asked the server again for "+evidence.SubName(&v.Subscription), func(ctx context.Context) error { return a.api.Refresh(ctx, id) })
}

func (a *app) turnFailover() tea.Cmd {
	v := a.selected()
	id, on := v.ID, !v.Failover
	word := "off"
	if on {
		word = "on"
	}
	return a.Ask("failover is "+word+" for "+evidence.SubName(&v.Subscription), func(ctx context.Context) error { return a.api.SetFailover(ctx, id, on) })
}

// askReset offers the positions to go on from.
func (a *app) askReset() {
	v := a.selected()
	id, name := v.ID, evidence.SubName(&v.Subscription)
	reset := func(what string, from host.From) func() tea.Cmd {
		return func() tea.Cmd {
			return a.Ask(name+" goes on "+what, func(ctx context.Context) error { return a.api.ResetCursor(ctx, id, from) })
		}
	}
	d := &widget.Confirm{Screen: a, Head: "Reset the position", Lines: []string{name, "What is stored stays, and is not stored twice. This cannot be undone."},
		Choices: []widget.Choice{{Key: "n", Title: "from now: what came meanwhile is skipped", Run: reset("from now", host.From{})}}}
	if seq := a.chosenSeq(); seq > 0 {
		if r, ok := a.stream.Record(seq); ok && r.Sub == id && r.Cursor.Valid {
			d.Choices = append(d.Choices, widget.Choice{Key: "r", Title: fmt.Sprintf("from record %s on", cells.Number(seq)), Run: reset("from record "+cells.Number(seq), host.From{Cursor: r.Cursor})})
		}
	}
	a.Show(d)
}

// chosenSeq is the record that a row of a table or the stream is about.
func (a *app) chosenSeq() uint64 {
	if t := a.table(); t != nil {
		return t.At.Seq
	}
	return a.stream.At
}

func (a *app) askRotate() {
	v := a.selected()
	id, name := v.ID, evidence.SubName(&v.Subscription)
	a.Show(&widget.Confirm{Screen: a,
		Head:  "New webhook secret",
		Lines: []string{name, "The old one stays accepted for a short while. This cannot be undone."},
		Choices: []widget.Choice{{Key: "y", Title: "make a new secret", Run: func() tea.Cmd {
			return a.Ask("new secret for "+name, func(ctx context.Context) error { return a.api.RotateSecret(ctx, id) })
		}}},
	})
}
