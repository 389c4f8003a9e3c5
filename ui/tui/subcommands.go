package tui

import (
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
)

// errNoSubscription says that a command needs a chosen subscription.
var errNoSubscription = errors.New("no subscription is chosen: choose one in the tree or a record of it")

// atOnce makes the Run of an action that changes the chosen subscription without a question.
func (a *app) atOnce(id string, run func(v *host.SubscriptionView) tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if target := a.halt(); target != "" {
			a.Tell(a.KeyOf(id) + " again acts on " + target + "; " + a.KeyOf("follow") + " follows on")
			return nil
		}
		return run(a.selected())
	}
}

// halted makes the Run of a typed command that acts on what is chosen: the first time in a stream that
// follows, the command fails and names that.
func (a *app) halted(run func([]string) (tea.Cmd, error)) func([]string) (tea.Cmd, error) {
	return func(words []string) (tea.Cmd, error) {
		if target := a.halt(); target != "" {
			return nil, fmt.Errorf("the stream went on while you typed; enter again acts on %s", target)
		}
		return run(words)
	}
}

// halt stops a stream that follows, and names what is chosen in it: it may have come after the row
// that the operator looked at. It returns "" if rows do not move.
func (a *app) halt() string {
	row := a.rowName()
	if row == "" || !a.stream.Follow || a.stream.Paused {
		return ""
	}
	a.stream.Follow = false
	if v := a.selected(); v != nil {
		return evidence.SubName(&v.Subscription) + " (" + row + ")"
	}
	return row
}

// manage returns the environment of actions on existing subscriptions and servers.
func (a *app) manage() *form.Manager {
	return &form.Manager{Env: &a.Env, Screen: a, Host: a.o.API, Snap: &a.snap, Servers: a.o.Servers, Passing: a.demo.Has, Read: a.read}
}

// subCommands are the typed commands about the chosen subscription and about servers.
func (a *app) subCommands() []palette.ActionCommand {
	return []palette.ActionCommand{
		{Name: "mode", Usage: "push | poll | webhook", Title: "switch the delivery mode", Dangerous: true, Run: a.onSubscription("mode"), Complete: a.completeMode},
		{Name: "failover", Usage: "on | off", Title: "go on in another mode when this one fails", Dangerous: true, Run: a.onSubscription("failover"), Complete: func([]string) []string { return []string{"on", "off"} }},
		{Name: "rotate", Title: "make a new webhook secret", Dangerous: true, Run: a.onSubscription("rotate")},
		{Name: "refresh", Title: "poll, refresh the lease or open the stream again now", Dangerous: true, Run: a.onSubscription("refresh")},
		{Name: "reset", Usage: "now | here", Title: "go on from now, or from the chosen record", Dangerous: true, Run: a.onSubscription("reset"), Complete: func([]string) []string { return []string{"now", "here"} }},
		{Name: "remove", Usage: "SERVER", Title: "remove a server, and end its subscriptions", Dangerous: true, Run: a.onNamedServer(func(name string) tea.Cmd { return a.manage().AskRemove(name) }), Complete: a.completeServer},
		{Name: "reconnect", Usage: "SERVER", Title: "reconnect, and list the types again", Dangerous: true, Run: a.onNamedServer(func(name string) tea.Cmd { return a.manage().Reconnect(name) }), Complete: a.completeServer},
	}
}

// onSubscription runs a command on the chosen subscription.
func (a *app) onSubscription(command string) func([]string) (tea.Cmd, error) {
	return a.halted(func(words []string) (tea.Cmd, error) {
		v := a.selected()
		if v == nil {
			return nil, errNoSubscription
		}
		return a.manage().Words(v, a.recordOf(a.stream.At), command, words)
	})
}

func (a *app) completeMode([]string) []string {
	if v := a.selected(); v != nil {
		return a.manage().OtherModes(v)
	}
	return nil
}

// recordOf returns a record, nil if it is not in memory.
func (a *app) recordOf(seq uint64) *event.Record {
	if r, ok := a.stream.Record(seq); ok {
		return &r
	}
	return nil
}

// canReread reports whether the subscription of the chosen record can be read again from it.
func (a *app) canReread() bool {
	r, ok := a.stream.Record(a.stream.At)
	return ok && r.Cursor.Valid && query.FindSub(&a.snap, r.Sub) != nil && !a.onNode()
}

// askReread asks whether to read the subscription of the chosen record again from there.
func (a *app) askReread() {
	if r, ok := a.stream.Record(a.stream.At); ok {
		a.manage().AskReread(r)
	}
}

// subRows are the panes in which a subscription is a row.
var subRows = []layout.Pane{layout.Tree, layout.Subs}

func (a *app) onWebhook() bool {
	v := a.selected()
	return v != nil && v.Mode == event.ModeWebhook
}

// chosenSeq returns the record of the chosen row, in a table or in the stream.
func (a *app) chosenSeq() uint64 {
	if t := a.table(); t != nil {
		return t.At.Seq
	}
	return a.stream.At
}

// onNamedServer makes a typed command from a function that acts on a configured server.
func (a *app) onNamedServer(fn func(name string) tea.Cmd) func([]string) (tea.Cmd, error) {
	return func(words []string) (tea.Cmd, error) {
		name := strings.Join(words, " ")
		if query.FindServer(&a.snap, name) == nil {
			return nil, query.UnknownServer(&a.snap, name)
		}
		return fn(name), nil
	}
}

func (a *app) completeServer([]string) []string { return query.ServerNames(&a.snap) }

func (a *app) onServerRow() bool { return a.tree.At.Level() == 1 && a.onServer() }

// onServer reports whether the chosen node is a configured server, or below one.
func (a *app) onServer() bool { return query.FindServer(&a.snap, a.tree.At.Server) != nil }
