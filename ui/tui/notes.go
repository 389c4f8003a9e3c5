package tui

import (
	"cmp"
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// How long the status line tells what was done and what failed, and for how long
// what was done can be undone.
const (
	noteFor   = 5 * time.Second
	failedFor = 15 * time.Second
	undoFor   = 10 * time.Second
	// lateFor is how long after that the key of undoing says that it is too late, and does
	// nothing of what it means otherwise.
	lateFor = time.Minute
)

// note is a line for the operator: what was done, or what failed. The next key
// takes it away, and so does time.
type note struct {
	text string
	bad  bool
	at   time.Time
}

// Tell tells what was done on the status line.
func (a *app) Tell(text string) { a.note = note{text: text, at: a.Clock()} }

// Hush takes away what is told.
func (a *app) Hush() { a.note = note{} }

// Fail tells on the status line what failed, and why.
func (a *app) Fail(what string, err error) { a.TellBad(fmt.Sprintf("%s: %v", what, err)) }

// tellFailed tells why something was not done, the cause first: lines are short.
func (a *app) tellFailed(what string, err error) {
	why := err.Error()
	if words, ok := host.CallbackWords(trust.Unescaped(why)); ok {
		why = words
	}
	if what != "" {
		why += " (" + what + ")"
	}
	a.TellBad(why)
}

func (a *app) TellBad(text string) { a.note = note{text: text, bad: true, at: a.Clock()} }

// expire takes away what was told for long enough.
func (a *app) expire() {
	shown := noteFor
	if a.note.bad {
		shown = failedFor
	}
	if now := a.Clock(); now.Sub(a.note.at) >= shown {
		a.note = note{}
	}
	if a.undo.left(a.Clock()) <= -lateFor {
		a.undo = undo{}
	}
}

// undo is what the newest act that can be undone did, and how to undo it.
type undo struct {
	did   string
	until time.Time
	run   func() tea.Cmd
}

func (u *undo) open() bool { return u.run != nil }

// left is for how long it can be undone.
func (u *undo) left(now time.Time) time.Duration { return u.until.Sub(now) }

// offerUndo tells what was done, and for how long it can be undone.
func (a *app) offerUndo(did string, run func() tea.Cmd) {
	a.note = note{}
	a.undo = undo{did: did, until: a.Clock().Add(undoFor), run: run}
}

func (a *app) canUndo() bool { return a.undo.open() && a.undo.left(a.Clock()) > 0 }

// undoing tells whether the key of undoing means what was done last: it can be undone, or
// could be a moment ago.
func (a *app) undoing() bool { return a.undo.open() && a.undo.left(a.Clock()) > -lateFor }

func (a *app) undoHint() string {
	if a.canUndo() {
		return "undo"
	}
	return ""
}

func (a *app) undoLast() tea.Cmd {
	if !a.canUndo() {
		a.Tell("too late to undo: " + a.undo.did + " more than " + cells.Span(undoFor) + " ago")
		return nil
	}
	run := a.undo.run
	a.undo = undo{}
	return run()
}

// undoWords tell on the status line what can be undone, and for how long.
func (a *app) undoWords() string {
	left := (a.undo.left(a.Clock()) + time.Second - 1).Truncate(time.Second)
	return a.undo.did + "; " + a.KeyOf("undo") + " undoes it, " + cells.Span(left) + " left"
}

// undoOfUnsubscribe says before a subscription ends what undoing that can bring back.
func (a *app) undoOfUnsubscribe(v *host.SubscriptionView) string {
	switch {
	case v.NoServer:
		return "This cannot be undone: no server of its name is configured."
	case v.NoReplay || !v.Opening().Valid:
		return a.KeyOf("undo") + " undoes it for 10 s; what comes in between is missed."
	}
	return a.KeyOf("undo") + " undoes it for 10 s, from the saved position on."
}

// unsubscribe ends a subscription and offers to begin it again where it stood.
func (a *app) unsubscribe(v host.SubscriptionView) tea.Cmd {
	name := evidence.SubName(&v.Subscription)
	did := "unsubscribed from " + name
	return a.Do(func(ctx context.Context) tea.Msg {
		if err := a.api.Unsubscribe(ctx, v.ID); err != nil {
			return widget.Done{What: did, Err: err}
		}
		return widget.Then(func() tea.Cmd {
			if v.NoServer {
				a.Tell(did)
			} else {
				a.offerUndo(did, func() tea.Cmd { return a.resubscribe(v) })
			}
			return a.read()
		})
	})
}

// resubscribe begins a subscription again that was ended, as it was.
func (a *app) resubscribe(v host.SubscriptionView) tea.Cmd {
	r := host.Request{
		Server: v.Key.Server, Type: v.Key.Type, Args: v.Key.Args, Mode: cmp.Or(v.Preferred, v.Mode),
		From: host.From{Cursor: v.Opening()}, MaxAge: v.MaxAge, TTL: v.TTL,
	}
	return a.Ask("subscribed again to "+evidence.SubName(&v.Subscription), func(ctx context.Context) error {
		sub, err := a.api.Subscribe(ctx, r)
		if err == nil && v.Failover {
			err = a.api.SetFailover(ctx, sub.ID, true)
		}
		if err == nil && v.Paused {
			err = a.api.Pause(ctx, sub.ID)
		}
		return err
	})
}
