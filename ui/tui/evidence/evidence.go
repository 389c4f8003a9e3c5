// Package evidence describes servers, subscriptions and the store in words: their states, the facts
// from which these are derived, and what silence means. Its functions are pure.
package evidence

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
)

// quietAfter is the time without an event after which a working subscription is called quiet.
const quietAfter = 10 * time.Minute

// States that are derived here; the others come from the host.
const (
	stateQuiet   event.State = "quiet"   // works, without an event for quietAfter
	stateGap     event.State = "gap"     // works, and has stored nothing but gaps
	stateWaiting event.State = "waiting" // is starting, and its server cannot be used
)

// NoReplay marks event types whose missed events cannot be requested again.
const NoReplay = "no-replay"

// StateWord returns the state of a subscription as rows show it.
func StateWord(v *host.SubscriptionView, now time.Time) event.State {
	s := StateOf(*v)
	if v.Waits() {
		return stateWaiting
	}
	if s != event.StateLive {
		return s
	}
	if v.Gaps > 0 && v.Stored == 0 {
		return stateGap
	}
	since := cells.Latest(v.Status.LastEvent, v.Status.LastDelivery, v.Status.Opened)
	if !since.IsZero() && now.Sub(since) >= quietAfter {
		return stateQuiet
	}
	return s
}

// Of returns the facts from which the state of a subscription is derived, the most important first.
func Of(v host.SubscriptionView, now time.Time) string {
	s := v.Status
	var parts []string
	add := func(when bool, text string) {
		if when {
			parts = append(parts, text)
		}
	}
	switch s.State {
	case event.StateRefused:
		add(s.Error.IsZero(), refusedWords(s.Refused)) // the error says the same
	case event.StateNotRunning:
		add(v.NoServer, "waits for its server")
		add(!v.LastSeen.IsZero(), string(v.State)+" when last seen "+cells.At(now, v.LastSeen))
	case event.StateBackoff:
		add(true, tryWords(s.Attempt+1, s.NextTry, now))
	case event.StateThrottled:
		add(!s.Throttled.IsZero(), "until "+cells.At(now, s.Throttled))
	case event.StatePaused:
		add(true, "by you")
		add(!s.Since.IsZero(), cells.Ago(now, s.Since))
	case event.StateStale:
		last := cells.Latest(s.LastHeartbeat, s.LastEvent, s.LastByte)
		add(!last.IsZero(), "silent for "+cells.Span(now.Sub(last)))
	case event.StatePolling, event.StateDraining:
		if s.Reason == event.ReasonUnreachable {
			add(true, Cause(&v))
			break
		}
		add(s.State == event.StateDraining, "the server has more")
		pause := s.NextTry.Sub(s.LastPoll).Round(time.Second)
		add(s.State == event.StatePolling && !s.LastPoll.IsZero() && pause > 0, everyWords(pause))
		next := s.State == event.StatePolling && pause > 5*time.Second && s.NextTry.After(now)
		add(next, "next in "+cells.Span(s.NextTry.Sub(now)))
		add(!next && !s.LastPoll.IsZero(), "last answer "+cells.At(now, s.LastPoll))
	case event.StateSuspended:
		add(true, suspendedWords(v, now))
	case event.StateEnded, event.StateDenied:
		add(!s.Since.IsZero(), "since "+cells.At(now, s.Since))
	case event.StateStarting, event.StateVerifying, event.StateResumed:
		switch why, _, _ := strings.Cut(Why(&v, now), ", "); {
		case !v.Waits():
			add(!s.Since.IsZero(), "for "+cells.Span(now.Sub(s.Since)))
		case s.Reason == event.ReasonUnreachable:
			add(true, "unreachable for "+cells.Span(now.Sub(s.Since)))
		default:
			add(true, why)
			add(!s.Since.IsZero(), "for "+cells.Span(now.Sub(s.Since)))
		}
	default:
		add(s.State == event.StateFlapping, trust.Line(s.Error).Plain())
		parts = append(parts, alive(v, now)...)
	}
	if len(parts) == 0 && s.State == "" && v.Evidence != "" {
		parts = append(parts, cells.Sanitize(v.Evidence).Plain())
	}
	if v.Gaps > 0 {
		parts = append(parts, cells.Count(v.Gaps, "gap"))
	}
	return strings.Join(parts, ", ")
}

// tryWords describes attempt n, which is due at next.
func tryWords(n int, next, now time.Time) string {
	if wait := next.Sub(now); wait >= time.Second {
		return fmt.Sprintf("try %d in %s", n, cells.Span(wait))
	}
	return "retrying (" + ordinal(n) + ")"
}

// ordinal formats an ordinal number: 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

// everyWords describes an interval: every second, every 28 s.
func everyWords(pause time.Duration) string {
	switch pause {
	case time.Second:
		return "every second"
	case time.Minute:
		return "every minute"
	}
	return "every " + cells.Span(pause)
}

// Why says in one short line why a subscription brings nothing; "" if there is no reason.
func Why(v *host.SubscriptionView, now time.Time) string {
	return trust.Line(trust.Unescaped(v.Why(clockOf(now)))).Plain()
}

// ServerWhy is [Why] for a server that cannot be used.
func ServerWhy(s *host.ServerView, now time.Time) string {
	return trust.Line(trust.Unescaped(s.Why(clockOf(now)))).Plain()
}

// Cause is [Why] without the state and the attempts, for a line below a row that shows them.
func Cause(v *host.SubscriptionView) string { return brief(v.Why(nil)) }

// ServerCause is [Cause] for a server.
func ServerCause(s *host.ServerView) string { return brief(s.Why(nil)) }

func brief(why string) string {
	why = strings.TrimPrefix(strings.TrimPrefix(why, "unreachable: "), "callback refused: ")
	return trust.Line(trust.Unescaped(why)).Plain()
}

// clockOf returns a function that formats times of day, with the day if that is not today.
func clockOf(now time.Time) func(time.Time) string {
	return func(t time.Time) string {
		if t = t.In(now.Location()); t.YearDay() != now.YearDay() || t.Year() != now.Year() {
			return t.Format("Jan 2 15:04:05")
		}
		return cells.At(now, t)
	}
}

// Row returns the state of a subscription for a row: its word, and the evidence that follows.
func Row(v *host.SubscriptionView, now time.Time) (word, rest string) {
	word, rest = string(StateWord(v, now)), Of(*v, now)
	switch {
	case v.Waits():
		return "waiting for the server", rest
	case StateOf(*v) == event.StatePolling && strings.HasPrefix(rest, "every "):
		word, rest, _ = strings.Cut(rest, ", ")
	}
	return word, rest
}

// refusedWords describes the deliveries that the receiver refused in this run and before. The cause
// comes first, because narrow rows cut off the end.
func refusedWords(r event.Refused) string {
	return trust.Line(trust.Unescaped(r.Reason)).Plain() + ", " + cells.Number(r.Count) + " refused in all"
}

// alive returns the facts about a working push stream or webhook lease.
func alive(v host.SubscriptionView, now time.Time) []string {
	s := v.Status
	var parts []string
	if StateWord(&v, now) == stateQuiet {
		parts = append(parts, "no event for "+cells.Span(now.Sub(cells.Latest(s.LastEvent, s.LastDelivery, s.Opened))))
	}
	if v.Mode == event.ModeWebhook {
		if lease := LeaseOf(&v); s.NextTry.After(now) {
			parts = append(parts, "refresh due in "+cells.Span(s.NextTry.Sub(now)))
		} else if !lease.RefreshBefore.IsZero() {
			parts = append(parts, "lease "+cells.Span(lease.RefreshBefore.Sub(now)))
		}
		if !s.LastDelivery.IsZero() {
			parts = append(parts, "last "+cells.Ago(now, s.LastDelivery))
		}
		return parts
	}
	switch {
	case !s.LastHeartbeat.IsZero() && !s.LastHeartbeat.Before(s.LastEvent):
		parts = append(parts, "heartbeat "+cells.Ago(now, s.LastHeartbeat))
	case !s.LastEvent.IsZero():
		parts = append(parts, "event "+cells.Ago(now, s.LastEvent))
	case !s.Opened.IsZero():
		parts = append(parts, "opened "+cells.Ago(now, s.Opened))
	}
	return parts
}

// LeaseOf returns the lease of the running subscription, else the stored one.
func LeaseOf(v *host.SubscriptionView) event.Lease {
	if !v.Status.Lease.GrantedAt.IsZero() {
		return v.Status.Lease
	}
	return v.Lease
}

// suspendedWords says why a server stopped delivering, and since when.
func suspendedWords(v host.SubscriptionView, now time.Time) string {
	why, since := "", ""
	if d := LeaseOf(&v).Status; d != nil {
		why = trust.Line(d.LastError).Clip(40).Plain()
		if t, ok := d.FailedSince.Time(); ok {
			since = "since " + cells.At(now, t)
		}
	}
	if since == "" && !v.Status.Since.IsZero() {
		since = "since " + cells.At(now, v.Status.Since)
	}
	return strings.TrimSpace(why + " " + since)
}

// Upcoming returns the next deliveries of a subscription on a schedule.
func Upcoming(v *host.SubscriptionView, now time.Time) []time.Time {
	if s := StateOf(*v); v.NoServer || s == event.StatePaused || s.Over() {
		return nil
	}
	return host.Firings(v.Subscription, now)
}

// Firing formats the time of a scheduled delivery, in the zone of the schedule.
func Firing(t time.Time) string { return t.Format("Mon 2006-01-02 15:04 MST") }
