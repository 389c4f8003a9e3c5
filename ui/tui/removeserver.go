package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

func (a *app) onServerRow() bool { return a.tree.At.Level() == 1 && a.onServer() }

// askRemoveServer is [app.askRemove] for the chosen server.
func (a *app) askRemoveServer() tea.Cmd { return a.askRemove(a.tree.At.Server) }

// runRemove is what `:remove` does.
func (a *app) runRemove(words []string) (tea.Cmd, error) {
	name := strings.Join(words, " ")
	if !slices.Contains(a.completeServer(nil), name) {
		return nil, a.unknownServer(name)
	}
	return a.askRemove(name), nil
}

// askRemove tells what ends with a server, and removes it if that is wanted: for
// this run, or from the configuration too if that lists it.
func (a *app) askRemove(name string) tea.Cmd {
	subs := 0
	for i := range a.snap.Subs {
		if a.snap.Subs[i].Key.Server == name {
			subs++
		}
	}
	d := &widget.Confirm{Screen: a, Head: "Remove the server", Lines: []string{name, endsWith(subs), "Stored events stay.", "This cannot be undone."}}
	a.Show(d)
	if !a.canConfigure() || slices.Contains(a.passing, name) {
		d.Choices = []widget.Choice{a.removal("y", "remove it", name, false)}
		return nil
	}
	told := len(d.Lines)
	d.Lines = append(d.Lines, "Reading "+cells.ShortPath(a.servers.File)+" "+a.Glyphs.More)
	return a.Do(func(context.Context) tea.Msg {
		drafts, err := a.servers.Drafts()
		listed := slices.ContainsFunc(drafts, func(have config.Draft) bool { return have.Name == name })
		return widget.Then(func() tea.Cmd {
			d.Lines = append(d.Lines[:told], a.whereListed(listed, err)...)
			if d.Choices = []widget.Choice{a.removal("y", "remove it", name, false)}; listed {
				d.Choices = []widget.Choice{a.removal("y", "remove it for this run only", name, false), a.removal("f", "remove it from the file too", name, true)}
			}
			return nil
		})
	})
}

// whereListed says what the configuration has to do with a server.
func (a *app) whereListed(listed bool, err error) []string {
	file := cells.ShortPath(a.servers.File)
	switch {
	case err != nil:
		text := []string{"It may be there again after the next start:"}
		for _, l := range cells.Wrap(err.Error(), 60, 3) {
			text = append(text, l.Plain())
		}
		return text
	case listed:
		return []string{file + " lists it."}
	}
	return []string{file + " does not list it."}
}

// removal is a choice that removes a server, first from the file: when that fails
// nothing has happened.
func (a *app) removal(key, title, name string, fromFile bool) widget.Choice {
	return widget.Choice{Key: key, Title: title, Run: func() tea.Cmd {
		return a.Do(func(ctx context.Context) tea.Msg {
			var err error
			what := "removed " + cells.Sanitize(name).Plain()
			if fromFile {
				what += ", also from " + cells.ShortPath(a.servers.File)
				err = a.servers.Remove(name)
			}
			if err == nil {
				err = a.api.RemoveServer(ctx, name)
				if err != nil && fromFile {
					err = fmt.Errorf("%w; it is no longer in %s", err, cells.ShortPath(a.servers.File))
				}
			}
			return widget.Then(func() tea.Cmd { return a.serverRemoved(name, what, err) })
		})
	}}
}

// serverRemoved leaves the scope of a server that is gone.
func (a *app) serverRemoved(name, what string, err error) tea.Cmd {
	if err != nil {
		a.Fail("cannot remove "+cells.Sanitize(name).Plain(), err)
	} else {
		a.Tell(what)
	}
	return a.read()
}

func endsWith(subs int) string {
	switch subs {
	case 0:
		return "It has no subscriptions here."
	case 1:
		return "Its subscription ends here and at the server."
	}
	return "Its " + cells.Count(subs, "subscription") + " end here and at the server."
}
