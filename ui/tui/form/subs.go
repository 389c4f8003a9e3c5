package form

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// ErrNoCursor: a subscription cannot go on from the chosen record.
var ErrNoCursor = errors.New("the chosen record has no cursor of this subscription to go on from")

// Paused reports whether a subscription is paused.
func Paused(v *host.SubscriptionView) bool {
	return v.Paused || evidence.StateOf(*v) == event.StatePaused
}

// TogglePause pauses or resumes a subscription.
func (e *Manager) TogglePause(v *host.SubscriptionView) tea.Cmd {
	id, name := v.ID, evidence.SubName(&v.Subscription)
	if Paused(v) {
		return e.Ask("resumed "+name, func(ctx context.Context) error { return e.Host.Resume(ctx, id) })
	}
	return e.Ask("paused "+name+"; its position is kept", func(ctx context.Context) error { return e.Host.Pause(ctx, id) })
}

// Refresh asks the server of a subscription again, unless the subscription is paused.
func (e *Manager) Refresh(v *host.SubscriptionView) tea.Cmd {
	if Paused(v) {
		e.Tell(e.KeyOf("sub.refresh") + " asks the server of " + evidence.SubName(&v.Subscription) + " again, and that is paused: " + e.KeyOf("pause") + " resumes it")
		return nil
	}
	return e.refresh(v)
}

func (e *Manager) refresh(v *host.SubscriptionView) tea.Cmd {
	id := v.ID
	return e.Ask("asked the server again for "+evidence.SubName(&v.Subscription), func(ctx context.Context) error { return e.Host.Refresh(ctx, id) })
}

// SetFailover sets whether a subscription goes on in another mode when its own fails.
func (e *Manager) SetFailover(v *host.SubscriptionView, on bool) tea.Cmd {
	id, word := v.ID, "off"
	if on {
		word = "on"
	}
	return e.Ask("failover is "+word+" for "+evidence.SubName(&v.Subscription), func(ctx context.Context) error { return e.Host.SetFailover(ctx, id, on) })
}

func (e *Manager) reset(v *host.SubscriptionView, from host.From, what string) tea.Cmd {
	id := v.ID
	return e.Ask(evidence.SubName(&v.Subscription)+" "+what, func(ctx context.Context) error { return e.Host.ResetCursor(ctx, id, from) })
}

// AskReset asks from which position a subscription goes on: from now, or from the chosen record,
// which may be nil.
func (e *Manager) AskReset(v *host.SubscriptionView, chosen *event.Record) {
	sub := *v
	d := &widget.Confirm{Screen: e, Head: "Reset the position", Lines: []string{evidence.SubName(&v.Subscription), "What is stored stays, and is not stored twice. This cannot be undone."},
		Choices: []widget.Choice{{Key: "n", Title: "from now: what came meanwhile is skipped", Run: func() tea.Cmd { return e.reset(&sub, host.From{}, "goes on from now") }}}}
	if chosen != nil && chosen.Sub == v.ID && chosen.Cursor.Valid {
		from, cursor := "from record "+cells.Number(chosen.Seq), chosen.Cursor
		d.Choices = append(d.Choices, widget.Choice{Key: "r", Title: from + " on", Run: func() tea.Cmd { return e.reset(&sub, host.From{Cursor: cursor}, "goes on "+from) }})
	}
	e.Show(d)
}

// AskReread asks before it reads the subscription of a record again from there. It does nothing for a
// record without a cursor or subscription.
func (e *Manager) AskReread(r event.Record) {
	v := query.FindSub(e.Snap, r.Sub)
	if v == nil || !r.Cursor.Valid {
		return
	}
	sub := *v
	e.Show(&widget.Confirm{Screen: e,
		Head:    "Read again",
		Lines:   []string{evidence.SubName(&v.Subscription), fmt.Sprintf("The server is asked for everything after record %s.", cells.Number(r.Seq)), "What is stored stays, and is not stored twice."},
		Choices: []widget.Choice{{Key: "y", Title: "read again from here", Run: func() tea.Cmd { return e.reread(&sub, r) }}},
	})
}

func (e *Manager) reread(v *host.SubscriptionView, r event.Record) tea.Cmd {
	return e.reset(v, host.From{Cursor: r.Cursor}, fmt.Sprintf("is read again from record %s on", cells.Number(r.Seq)))
}

// AskRotate asks before it makes a new webhook secret.
func (e *Manager) AskRotate(v *host.SubscriptionView) {
	sub := *v
	e.Show(&widget.Confirm{Screen: e,
		Head:    "New webhook secret",
		Lines:   []string{evidence.SubName(&v.Subscription), "The old one stays accepted for a short while. This cannot be undone."},
		Choices: []widget.Choice{{Key: "y", Title: "make a new secret", Run: func() tea.Cmd { return e.rotate(&sub) }}},
	})
}

func (e *Manager) rotate(v *host.SubscriptionView) tea.Cmd {
	id := v.ID
	return e.Ask("new secret for "+evidence.SubName(&v.Subscription), func(ctx context.Context) error { return e.Host.RotateSecret(ctx, id) })
}

// Words runs a typed command on a subscription; chosen is the chosen record, nil for none. Errors:
// [evidence.ErrUsage], [ErrNoCursor].
func (e *Manager) Words(v *host.SubscriptionView, chosen *event.Record, command string, typed []string) (tea.Cmd, error) {
	word := strings.Join(typed, " ")
	switch command {
	case "rotate":
		return e.rotate(v), nil
	case "refresh":
		return e.refresh(v), nil
	case "failover":
		if word == "on" || word == "off" {
			return e.SetFailover(v, word == "on"), nil
		}
	case "mode":
		if slices.Contains([]event.Mode{event.ModePush, event.ModePoll, event.ModeWebhook}, event.Mode(word)) {
			id := v.ID
			return e.Ask(evidence.SubName(&v.Subscription)+" goes on by "+word, func(ctx context.Context) error { return e.Host.SetMode(ctx, id, event.Mode(word)) }), nil
		}
	case "reset":
		switch {
		case word == "now":
			return e.reset(v, host.From{}, "goes on from now"), nil
		case word == "here" && (chosen == nil || chosen.Sub != v.ID || !chosen.Cursor.Valid):
			return nil, ErrNoCursor
		case word == "here":
			return e.reread(v, *chosen), nil
		}
	}
	return nil, evidence.ErrUsage
}

// OtherModes returns the modes of a subscription's type without its present one.
func (e *Manager) OtherModes(v *host.SubscriptionView) []string {
	var out []string
	for _, m := range query.TypeOf(e.Snap, v.Key.Server, v.Key.Type).Modes {
		if m != v.Mode {
			out = append(out, string(m))
		}
	}
	return out
}
