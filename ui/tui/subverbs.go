package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// subRows are the panes in which a subscription is a row.
var subRows = []layout.Pane{layout.Tree, layout.Subs}

// lifeActions change how a subscription lives.
func lifeActions() []action {
	return grouped("Subscriptions",
		action{id: "sub.refresh", title: "ask the server again from the saved position", needs: aSubscription, also: "poll now retry", keys: []string{"u"}, dangerous: true, when: (*app).onSub, run: (*app).refreshSub},
		action{id: "sub.mode", title: "change the delivery mode, or failover", needs: aSubscription, also: "push poll webhook", keys: []string{"M"}, dangerous: true, when: (*app).onSub, run: (*app).openModeSwitch},
		action{id: "sub.failover", title: "automatic failover on or off: webhook, push, poll", needs: aSubscription, keys: []string{"F"}, panes: subRows, dangerous: true, when: (*app).onSub, run: (*app).turnFailover},
		action{id: "sub.reset", title: "reset the saved position", needs: aSubscription, also: "cursor rewind seek", keys: []string{"C"}, panes: subRows, dangerous: true, when: (*app).onSub, run: act((*app).askReset)},
		action{id: "sub.rotate", title: "make a new webhook secret", keys: []string{"K"}, panes: subRows, dangerous: true, when: (*app).onHook, run: act((*app).askRotate)},
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
