package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// errNoSubscription: a command is about a subscription, and none is chosen.
var errNoSubscription = errors.New("no subscription is chosen: choose one in the tree or a record of it")

// subCommands are the typed commands about the chosen subscription and about servers.
func (a *app) subCommands() []action.Command {
	return []action.Command{
		{Name: "mode", Usage: "push | poll | webhook", Title: "switch the delivery mode", Dangerous: true, Run: a.onSubscription(a.runMode), Complete: a.completeMode},
		{Name: "failover", Usage: "on | off", Title: "go on in another mode when this one fails", Dangerous: true, Run: a.onSubscription(a.runFailover), Complete: func([]string) []string { return []string{"on", "off"} }},
		{Name: "rotate", Title: "make a new webhook secret", Dangerous: true, Run: a.onSubscription(a.runRotate)},
		{Name: "refresh", Title: "poll, refresh the lease or open the stream again now", Dangerous: true, Run: a.onSubscription(a.runRefresh)},
		{Name: "reset", Usage: "now | here", Title: "go on from now, or from the chosen record", Dangerous: true, Run: a.onSubscription(a.runReset), Complete: func([]string) []string { return []string{"now", "here"} }},
		{Name: "remove", Usage: "SERVER", Title: "remove a server, and end its subscriptions", Dangerous: true, Run: a.runRemove, Complete: a.completeServer},
		{Name: "reconnect", Usage: "SERVER", Title: "reconnect, and list the types again", Dangerous: true, Run: a.runReconnect, Complete: a.completeServer},
	}
}

// onSubscription makes a command of one that is about the chosen subscription.
func (a *app) onSubscription(fn func(v *host.SubscriptionView, words []string) (tea.Cmd, error)) func([]string) (tea.Cmd, error) {
	return func(words []string) (tea.Cmd, error) {
		v := a.selected()
		if v == nil {
			return nil, errNoSubscription
		}
		return fn(v, words)
	}
}

func (a *app) runMode(v *host.SubscriptionView, words []string) (tea.Cmd, error) {
	mode := strings.Join(words, " ")
	if mode == string(event.ModeAuto) || !slices.Contains(modeNames, mode) {
		return nil, a.actions.Usage("mode")
	}
	id, name := v.ID, evidence.SubName(&v.Subscription)
	return a.Ask(name+" goes on by "+mode, func(ctx context.Context) error { return a.api.SetMode(ctx, id, event.Mode(mode)) }), nil
}

func (a *app) completeMode(_ []string) []string {
	v := a.selected()
	if v == nil {
		return nil
	}
	typ := a.typeOf(&event.Record{Server: v.Key.Server, Type: v.Key.Type})
	var out []string
	for _, m := range typ.Modes {
		if m != v.Mode {
			out = append(out, string(m))
		}
	}
	return out
}

func (a *app) runFailover(v *host.SubscriptionView, words []string) (tea.Cmd, error) {
	word := strings.Join(words, " ")
	if word != "on" && word != "off" {
		return nil, a.actions.Usage("failover")
	}
	id := v.ID
	return a.Ask("failover is "+word+" for "+evidence.SubName(&v.Subscription), func(ctx context.Context) error { return a.api.SetFailover(ctx, id, word == "on") }), nil
}

func (a *app) runRotate(v *host.SubscriptionView, _ []string) (tea.Cmd, error) {
	id := v.ID
	return a.Ask("new secret for "+evidence.SubName(&v.Subscription), func(ctx context.Context) error { return a.api.RotateSecret(ctx, id) }), nil
}

func (a *app) runRefresh(v *host.SubscriptionView, _ []string) (tea.Cmd, error) {
	id := v.ID
	return a.Ask("asked the server again for "+evidence.SubName(&v.Subscription), func(ctx context.Context) error { return a.api.Refresh(ctx, id) }), nil
}

func (a *app) runReset(v *host.SubscriptionView, words []string) (tea.Cmd, error) {
	switch strings.Join(words, " ") {
	case "now":
		return a.resetTo(v, host.From{}, "goes on from now"), nil
	case "here":
		r, ok := a.rereadable()
		if !ok || r.Sub != v.ID {
			return nil, errors.New("the chosen record has no cursor of this subscription to go on from")
		}
		return a.resetTo(v, host.From{Cursor: r.Cursor}, fmt.Sprintf("is read again from record %s on", cells.Number(r.Seq))), nil
	}
	return nil, a.actions.Usage("reset")
}

func (a *app) resetTo(v *host.SubscriptionView, from host.From, what string) tea.Cmd {
	id := v.ID
	return a.Ask(evidence.SubName(&v.Subscription)+" "+what, func(ctx context.Context) error { return a.api.ResetCursor(ctx, id, from) })
}

// rereadable returns the chosen record, if its subscription can be read again
// from it.
func (a *app) rereadable() (event.Record, bool) {
	r, ok := a.stream.Record(a.stream.At)
	return r, ok && r.Cursor.Valid && a.sub(r.Sub) != nil
}

func (a *app) canReread() bool { _, ok := a.rereadable(); return ok && !a.onNode() }

// askReread has the subscription of the chosen record read again from there.
func (a *app) askReread() {
	r, ok := a.rereadable()
	if !ok {
		return
	}
	v := a.sub(r.Sub)
	a.Show(&widget.Confirm{Screen: a,
		Head:  "Read again",
		Lines: []string{evidence.SubName(&v.Subscription), fmt.Sprintf("The server is asked for everything after record %s.", cells.Number(r.Seq)), "What is stored stays, and is not stored twice."},
		Choices: []widget.Choice{{Key: "y", Title: "read again from here", Run: func() tea.Cmd {
			return a.resetTo(v, host.From{Cursor: r.Cursor}, fmt.Sprintf("is read again from record %s on", cells.Number(r.Seq)))
		}}},
	})
}

func (a *app) runReconnect(words []string) (tea.Cmd, error) {
	name := strings.Join(words, " ")
	if a.server(name) == nil {
		return nil, a.unknownServer(name)
	}
	return a.reconnectTo(name), nil
}
