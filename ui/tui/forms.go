package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/query"
)

// formEnv is what forms need.
func (a *app) formEnv() *form.Env {
	return &form.Env{
		Env: &a.Env, Screen: a, Host: a.o.API, Servers: a.o.Servers, Browse: a.o.Browse, Sub: a.sub,
		TypeOf:    func(server string, typ trust.Text) event.Type { return query.TypeOf(&a.snap, server, typ) },
		Elsewhere: a.commandElsewhere,
		Receiver:  func() string { return a.snap.Receiver },
	}
}

// notConfigured says why no servers can be added from here.
func (a *app) notConfigured() string {
	if a.o.Demo {
		return "the demo has servers of its own; eventdeck without demo adds yours"
	}
	return "this run has no file of servers"
}

// canConfigure reports whether servers can be added from here.
func (a *app) canConfigure() bool { return a.o.Servers.File != "" }

func (a *app) canSubscribe() bool {
	_, t := a.formSubject()
	return t != nil || len(a.tree.Marked()) > 0
}

// formSubject returns the chosen event type and its server: that of the subscription of a table row,
// of the chosen node, or of the chosen record.
func (a *app) formSubject() (string, *event.Type) {
	n := a.tree.At
	if a.table() != nil {
		if n = (query.Node{}); a.rowSub() != nil {
			n = query.Node{Server: a.rowSub().Key.Server, Type: a.rowSub().Key.Type}
		}
	} else if n.Level() < 2 && a.panes.Focus != layout.Tree {
		if r, ok := a.stream.Record(a.stream.At); ok {
			n = query.Node{Server: r.Server, Type: r.Type}
		}
	}
	return n.Server, query.FindType(&a.snap, n)
}

func (a *app) openForm() tea.Cmd {
	if len(a.tree.Marked()) > 0 {
		return a.openBulk()
	}
	server, t := a.formSubject()
	return form.OpenSubscribe(a.formEnv(), server, *t)
}

// editable reports whether the chosen subscription can be edited: its server must
// still list the type.
func (a *app) editable() bool {
	v := a.selected()
	return v != nil && query.FindType(&a.snap, query.Node{Server: v.Key.Server, Type: v.Key.Type}) != nil
}

// openEdit shows a form with the values of the chosen subscription.
func (a *app) openEdit() tea.Cmd {
	v := a.selected()
	t := query.FindType(&a.snap, query.Node{Server: v.Key.Server, Type: v.Key.Type})
	return form.OpenEdit(a.formEnv(), *v, *t)
}

// markType marks an event type for a subscription to several types, or removes its mark.
func (a *app) markType() {
	a.Tell(cells.Count(a.tree.Mark(), "type") + " marked; " + a.KeyOf("subscribe") + " subscribes to all of them")
}

func (a *app) onType() bool {
	return a.tree.At.Level() == 2 && query.FindType(&a.snap, a.tree.At) != nil
}

// openBulk shows one form for all marked types.
func (a *app) openBulk() tea.Cmd {
	many := slices.DeleteFunc(a.tree.Marked(), func(n query.Node) bool { return query.FindType(&a.snap, n) == nil })
	if len(many) == 0 {
		a.tree.Unmark()
		a.Tell("the marked types are no longer there")
		return nil
	}
	types := make([]event.Type, len(many))
	for i, n := range many {
		types[i] = *query.FindType(&a.snap, n)
	}
	return form.OpenMany(a.formEnv(), many, types, a.tree.Unmark)
}

func (a *app) openModeSwitch() tea.Cmd {
	v := a.selected()
	return form.OpenModes(a.formEnv(), *v, query.FindType(&a.snap, query.Node{Server: v.Key.Server, Type: v.Key.Type}))
}

// signInCommands are the typed commands about signing in and out.
func (a *app) signInCommands() []palette.ActionCommand {
	return []palette.ActionCommand{
		{Name: "sign-in", Usage: "SERVER", Title: "sign in to a server, in the browser", Dangerous: true, Run: func(words []string) (tea.Cmd, error) {
			return form.OpenSignIn(a.formEnv(), strings.Join(words, " ")), nil
		}, Complete: a.completeServer},
		{Name: "sign-out", Usage: "SERVER", Title: "revoke and forget the tokens of a server", Dangerous: true, Run: func(words []string) (tea.Cmd, error) {
			return a.manage().SignOut(strings.Join(words, " ")), nil
		}, Complete: a.completeServer},
	}
}

func (a *app) wantsSignIn() bool {
	s := query.FindServer(&a.snap, a.tree.At.Server)
	return s != nil && s.SignIn != ""
}
