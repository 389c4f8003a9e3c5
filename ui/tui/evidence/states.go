package evidence

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/schema"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Sign returns the glyph and the role of a subscription's state. It must be shown with the word of
// the state.
func Sign(g *cells.Glyphs, s event.State) (string, themes.Role) {
	switch s {
	case event.StateLive, event.StatePolling:
		return g.Live, themes.Good
	case stateQuiet:
		return g.Leaf, themes.Good
	case stateGap:
		return g.Gap, themes.Warn
	case event.StateDraining, event.StateRefreshing, event.StateResumed, event.StateSwitched:
		return g.Live, themes.Busy
	case event.StateStarting, event.StateVerifying:
		return g.Busy, themes.Busy
	case event.StateStale, event.StateBackoff, event.StateThrottled, event.StateFlapping, stateWaiting:
		return g.Quiet, themes.Warn
	case event.StateSuspended, event.StateRefused, event.StateDenied:
		return g.Bad, themes.Bad
	case event.StatePaused:
		return g.Paused, themes.Dim
	case event.StateEnded, event.StateNotRunning:
		return g.Ended, themes.Bad
	}
	return g.Busy, themes.Dim
}

// ModesOf returns the modes of a type as rows show them.
func ModesOf(t event.Type) string {
	var words []string
	for _, m := range t.Modes {
		words = append(words, ModeWord(m))
	}
	return strings.Join(words, " ")
}

// clockSlack is how far the clock of a server may be ahead of ours without a word.
const clockSlack = time.Minute

// Lag describes how long an event was on its way, "" if that is not known. A time that has not
// come yet is the error of the sender's clock.
func Lag(r event.Record) string {
	d, ok := LagOf(&r)
	if ahead := r.Occurred().Sub(r.ReceivedAt); ahead > clockSlack && r.Kind == event.KindEvent {
		return ", " + cells.Span(ahead) + " before it occurred by the sender's clock"
	}
	if !ok {
		return ""
	}
	if d < time.Minute {
		return fmt.Sprintf(", %.1f s after it occurred", d.Seconds())
	}
	return ", " + cells.Span(d) + " after it occurred"
}

// LagOf returns how long an event was on its way; known is false if its time is missing or absurd.
func LagOf(r *event.Record) (lag time.Duration, known bool) {
	t, ok := r.Timestamp.Time()
	if !ok || r.Kind != event.KindEvent {
		return 0, false
	}
	if lag = r.ReceivedAt.Sub(t); lag < 0 || lag > 365*24*time.Hour {
		return 0, false
	}
	return lag, true
}

// StateRole returns the role of a change of state in a row.
func StateRole(s event.State) themes.Role {
	switch s {
	case event.StateResumed, event.StateSwitched, event.StateLive:
		return themes.Busy
	case event.StateStale, event.StateBackoff, event.StateSuspended, event.StateRefused, event.StateDenied, event.StateEnded:
		return themes.Warn
	}
	return themes.Dim
}

// StateWords describes a change of state in one line.
func StateWords(r event.Record) trust.Rendered {
	text := string(r.State.State)
	if r.State.State == event.StateSwitched {
		return cells.Sanitize(r.State.Evidence) // it names both modes
	}
	if r.Mode != "" {
		text = ModeWord(r.Mode) + " " + text
	}
	if grounds := r.State.Grounds(); grounds != "" {
		text += ", " + grounds
	}
	if words, ok := host.CallbackWords(r.State.Error); ok {
		return cells.Sanitize(strings.TrimSpace(ModeWord(r.Mode) + " " + string(r.State.State) + ", " + words))
	}
	line := cells.Sanitize(text)
	if !r.State.Error.IsZero() {
		line = cells.Join(line, cells.Sanitize(": "), trust.Line(r.State.Error))
	}
	return line
}

// Urgency returns the rank of a subscription in a list: those that need attention come first.
func Urgency(v *host.SubscriptionView) int {
	if v.Waits() {
		return 1
	}
	switch StateOf(*v) {
	case event.StateEnded, event.StateDenied, event.StateSuspended, event.StateRefused, event.StateNotRunning:
		return 0
	case event.StateBackoff, event.StateThrottled, event.StateStale:
		return 1
	case event.StateStarting, event.StateVerifying, event.StateResumed, event.StateFlapping:
		return 2
	case event.StatePaused:
		return 4
	}
	return 3
}

// SubName returns the name of a subscription for one line, with the server's text made safe.
func SubName(s *event.Subscription) string {
	name := cells.Sanitize(s.Key.Server).Plain() + " " + trust.Line(s.Key.Type).Plain()
	if !NoArgs(s.Key.Args) {
		name += " " + cells.Sanitize(string(s.ShownArgs())).Plain()
	}
	return name
}

// RequestName is [SubName] for a request.
func RequestName(t event.Type, r host.Request) string {
	return SubName(&event.Subscription{
		Key: event.Key{Server: r.Server, Type: r.Type, Args: r.Args}, Shown: schema.MaskArguments(t, r.Args),
	})
}

// Unconfirmed turns the error that the server has not confirmed a subscription yet into words: the
// subscription is stored, and the host goes on trying. It returns other errors as they are.
func Unconfirmed(what string, err error) (string, error) {
	if errors.Is(err, host.ErrUnconfirmed) {
		return what + "; the server has not confirmed it yet", nil
	}
	return what, err
}

// NotOffered says why a mode cannot be chosen that the type does not offer.
func NotOffered(t event.Type) string {
	if len(t.Modes) == 0 {
		return "the server names no mode that is known here"
	}
	return "not offered by the type"
}

// Failing returns the number of subscriptions at a server that are in trouble. Of a server without
// a session only they show, between calls, that it is gone.
func Failing(subs []host.SubscriptionView, server string) (n int) {
	for i := range subs {
		if v := &subs[i]; v.Key.Server == server && Urgency(v) < 2 {
			n++
		}
	}
	return n
}
