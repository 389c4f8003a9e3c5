package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

func (a *app) onServerRow() bool { return a.tree.at.level() == 1 }

// askRemoveServer tells what ends with a server, and removes it if that is wanted.
func (a *app) askRemoveServer() {
	name := a.tree.at.server
	subs := 0
	for i := range a.snap.Subs {
		if a.snap.Subs[i].Key.Server == name {
			subs++
		}
	}
	text := []string{name, endsWith(subs), "Stored events stay."}
	if a.canConfigure() {
		text = append(text, "The configuration stays as it is: what it lists", "is there again after the next start.")
	}
	a.dialog = &confirm{
		head: "Remove the server", text: text,
		choices: []choice{{"y", "remove it", func(a *app) tea.Cmd {
			return a.do(func(ctx context.Context) tea.Msg {
				err := a.api.RemoveServer(ctx, name)
				return takeMsg{func(a *app) { a.serverRemoved(name, err) }}
			})
		}}},
	}
}

// serverRemoved leaves the scope of a server that is gone.
func (a *app) serverRemoved(name string, err error) {
	a.take(a.api.Snapshot())
	if err != nil {
		a.fail("cannot remove "+ours(name).Plain(), err)
		return
	}
	a.tell("removed " + ours(name).Plain())
	a.rescope()
}

func endsWith(subs int) string {
	switch subs {
	case 0:
		return "It has no subscriptions here."
	case 1:
		return "Its subscription ends here and at the server."
	}
	return "Its " + count(subs, "subscription") + " end here and at the server."
}
