package form

import (
	"context"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/config"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// AskRemove asks before it removes a server: for this run, or also from the configuration if that
// lists it.
func (e *Manager) AskRemove(name string) tea.Cmd {
	subs := 0
	for i := range e.Snap.Subs {
		if e.Snap.Subs[i].Key.Server == name {
			subs++
		}
	}
	d := &widget.Confirm{Screen: e, Head: "Remove the server", Lines: []string{name, endsWith(subs), "Stored events stay.", "This cannot be undone."}}
	e.Show(d)
	if e.Servers.File == "" || e.Passing(name) {
		d.Choices = []widget.Choice{e.removal("y", "remove it", name, false)}
		return nil
	}
	told := len(d.Lines)
	d.Lines = append(d.Lines, "Reading "+cells.ShortPath(e.Servers.File)+" "+e.Glyphs.More)
	return e.Do(func(context.Context) tea.Msg {
		drafts, err := e.Servers.Drafts()
		listed := slices.ContainsFunc(drafts, func(have config.Draft) bool { return have.Name == name })
		return widget.Then(func() tea.Cmd {
			d.Lines = append(d.Lines[:told], e.whereListed(listed, err)...)
			if d.Choices = []widget.Choice{e.removal("y", "remove it", name, false)}; listed {
				d.Choices = []widget.Choice{e.removal("y", "remove it for this run only", name, false), e.removal("f", "remove it from the file too", name, true)}
			}
			return nil
		})
	})
}

// whereListed says whether the configuration lists a server.
func (e *Manager) whereListed(listed bool, err error) []string {
	file := cells.ShortPath(e.Servers.File)
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

// removal returns a choice that removes a server, first from the file: if that fails nothing has
// changed.
func (e *Manager) removal(key, title, name string, fromFile bool) widget.Choice {
	return widget.Choice{Key: key, Title: title, Run: func() tea.Cmd {
		return e.Do(func(ctx context.Context) tea.Msg {
			var err error
			what := "removed " + cells.Sanitize(name).Plain()
			if fromFile {
				what += ", also from " + cells.ShortPath(e.Servers.File)
				err = e.Servers.Remove(name)
			}
			if err == nil {
				err = e.Host.RemoveServer(ctx, name)
				if err != nil && fromFile {
					err = fmt.Errorf("%w; it is no longer in %s", err, cells.ShortPath(e.Servers.File))
				}
			}
			return widget.Then(func() tea.Cmd { return e.serverRemoved(name, what, err) })
		})
	}}
}

// serverRemoved shows the result of a removal and reads the host.
func (e *Manager) serverRemoved(name, what string, err error) tea.Cmd {
	if err != nil {
		e.Fail("cannot remove "+cells.Sanitize(name).Plain(), err)
	} else {
		e.Tell(what)
	}
	return e.Read()
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

// Reconnect connects to a server again and lists its types.
func (e *Manager) Reconnect(name string) tea.Cmd {
	shown := cells.Sanitize(name).Plain()
	return e.Do(func(context.Context) tea.Msg {
		if err := e.Host.Reconnect(name); err != nil {
			return widget.Done{What: "cannot connect to " + shown, Err: err}
		}
		return widget.Done{What: "reconnecting to " + shown}
	})
}

// SignOut revokes and forgets the tokens of a server.
func (e *Manager) SignOut(name string) tea.Cmd {
	return e.Ask("signed out of "+cells.Sanitize(name).Plain(), func(ctx context.Context) error { return e.Host.SignOut(ctx, name) })
}
