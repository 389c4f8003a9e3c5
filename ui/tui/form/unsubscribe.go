package form

import (
	"cmp"
	"context"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// AskUnsubscribe asks before it ends a subscription, and offers to undo that. row describes the row
// that was chosen, "" for none.
func (e *Manager) AskUnsubscribe(v *host.SubscriptionView, row string) {
	name := evidence.SubName(&v.Subscription)
	ends := "It ends here and at the server. Stored events stay."
	if v.NoServer {
		ends = "It ends here; its server is not configured and hears nothing. Stored events stay."
	}
	gone := *v
	lines := []string{name + " (" + string(v.Mode) + ")"}
	if row != "" {
		lines = append(lines, "Of the row "+row)
	}
	e.Show(&widget.Confirm{Screen: e,
		Head:    "Unsubscribe",
		Lines:   append(lines, ends, e.undoWords(v)),
		Choices: []widget.Choice{{Key: "y", Title: "unsubscribe", Run: func() tea.Cmd { return e.unsubscribe(gone) }}},
	})
}

// undoWords says what undo can restore after a subscription has ended.
func (e *Manager) undoWords(v *host.SubscriptionView) string {
	switch {
	case v.NoServer:
		return "This cannot be undone: no server of its name is configured."
	case v.NoReplay || !v.Opening().Valid:
		return e.KeyOf("undo") + " undoes it for 10 s; what comes in between is missed."
	}
	return e.KeyOf("undo") + " undoes it for 10 s, from the saved position on."
}

// unsubscribe ends a subscription and offers to subscribe again from its position.
func (e *Manager) unsubscribe(v host.SubscriptionView) tea.Cmd {
	name := evidence.SubName(&v.Subscription)
	did := "unsubscribed from " + name
	return e.Do(func(ctx context.Context) tea.Msg {
		if err := e.Host.Unsubscribe(ctx, v.ID); err != nil {
			return widget.Done{What: did, Err: err}
		}
		return widget.Then(func() tea.Cmd {
			if v.NoServer {
				e.Tell(did)
			} else {
				e.OfferUndo(did, func() tea.Cmd { return e.resubscribe(v) })
			}
			return e.Read()
		})
	})
}

// resubscribe subscribes again as a subscription was before it ended.
func (e *Manager) resubscribe(v host.SubscriptionView) tea.Cmd {
	r := host.Request{
		Server: v.Key.Server, Type: v.Key.Type, Args: v.Key.Args, Mode: cmp.Or(v.Preferred, v.Mode),
		From: host.From{Cursor: v.Opening()}, MaxAge: v.MaxAge, TTL: v.TTL,
	}
	return e.Ask("subscribed again to "+evidence.SubName(&v.Subscription), func(ctx context.Context) error {
		sub, err := e.Host.Subscribe(ctx, r)
		if err == nil && v.Failover {
			err = e.Host.SetFailover(ctx, sub.ID, true)
		}
		if err == nil && v.Paused {
			err = e.Host.Pause(ctx, sub.ID)
		}
		return err
	})
}
