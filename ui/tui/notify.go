package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/notify"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/widget"
)

// notifyMsg is sent when the next notification is allowed.
type notifyMsg struct{}

func (a *app) initNotify(env func(string) string) {
	a.notify = notify.New(&a.Env, env)
	if err := a.notify.Read(a.persist.Get(persist.Notify)); err != nil {
		a.Fail("cannot read the notification rules", err)
	}
}

// notifyOperator returns a command that looks for matches of the notification rules, or that
// notifies.
func (a *app) notifyOperator() tea.Cmd {
	if what := a.react.Announcement(); what != "" {
		return a.notify.Waits(what)
	}
	due := a.notify.Due(a.snap.Last)
	if due == nil {
		cmd, wait := a.notify.Notify()
		if wait > 0 {
			cmd = a.Scheduler.After(wait, notifyMsg{})
		}
		return cmd
	}
	log := a.o.API.Log()
	return a.Do(func(context.Context) tea.Msg {
		hits, err := due(log)
		return widget.Then(func() tea.Cmd {
			if a.notify.Take(hits); err != nil {
				a.Fail("cannot read the log", err)
			}
			return nil
		})
	})
}

// windowTitle returns the title of the terminal's window: the session, the number of runs that ask,
// and the number of unread records. It has no text of a server.
func (a *app) windowTitle() string {
	title := "eventdeck"
	if a.o.Session != "" {
		title += ": " + notify.Text(a.o.Session, notify.TitleMax, false)
	}
	var parts []string
	if v := a.react.View(); v.Stopped {
		parts = append(parts, "STOPPED")
	} else if v.Asking > 0 {
		parts = append(parts, fmt.Sprintf("%d ask", v.Asking))
	}
	switch n := a.notify.Unread(a.snap.Last); {
	case n > 999:
		parts = append(parts, "999+")
	case n > 0:
		parts = append(parts, fmt.Sprint(n))
	}
	if len(parts) == 0 {
		return title
	}
	return "(" + strings.Join(parts, ", ") + ") " + title
}
