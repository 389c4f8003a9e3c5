// Package evidence puts into words what is known of servers, subscriptions and the
// store: their states, from what these were derived, and what silence means. It
// reads views of the host and asks it nothing.
package evidence

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// quietAfter is how long a subscription that works may bring nothing until it
// is called quiet.
const quietAfter = 10 * time.Minute

// Words of the state vocabulary that are derived here: the host tells the rest.
const (
	stateQuiet event.State = "quiet" // works, and nothing has come for a while
	stateGap   event.State = "gap"   // works, and its newest record is a gap
)

// NoReplay marks what cannot be asked for again once it is missed.
const NoReplay = "no-replay"

// StateWord is the word of a subscription's state as rows show it.
func StateWord(v *host.SubscriptionView, now time.Time) event.State {
	s := StateOf(*v)
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

// Of says from what a subscription's state was derived, the most telling
// first.
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
		if s.NextTry.After(now) {
			add(true, fmt.Sprintf("try %d in %s", s.Attempt+1, cells.Span(s.NextTry.Sub(now))))
		} else {
			add(true, fmt.Sprintf("try %d runs", s.Attempt+1))
		}
	case event.StatePaused:
		add(true, "by you")
		add(!s.Since.IsZero(), cells.Ago(now, s.Since))
	case event.StateStale:
		last := cells.Latest(s.LastHeartbeat, s.LastEvent, s.LastByte)
		add(!last.IsZero(), "silent for "+cells.Span(now.Sub(last)))
	case event.StatePolling, event.StateDraining:
		add(!s.LastPoll.IsZero(), "polled "+cells.At(now, s.LastPoll))
		add(s.State == event.StateDraining, "the server has more")
		add(s.State == event.StatePolling && s.NextTry.After(now), "next in "+cells.Span(s.NextTry.Sub(now)))
	case event.StateSuspended:
		add(true, suspendedWords(v, now))
	case event.StateEnded, event.StateDenied:
		add(!s.Since.IsZero(), "since "+cells.At(now, s.Since))
	case event.StateStarting, event.StateVerifying, event.StateResumed:
		add(!s.Since.IsZero(), "for "+cells.Span(now.Sub(s.Since)))
	default:
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

// refusedWords tells of the deliveries that the receiver refused, the cause first: rows
// that are short cut off the rest.
func refusedWords(r event.Refused) string {
	return trust.Line(trust.Unescaped(r.Reason)).Plain() + ", " + cells.Number(r.Count) + " refused"
}

// alive is the evidence of a push stream or a webhook lease that works.
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

// LeaseOf is the lease as the running subscription knows it, else the stored one.
func LeaseOf(v *host.SubscriptionView) event.Lease {
	if !v.Status.Lease.GrantedAt.IsZero() {
		return v.Status.Lease
	}
	return v.Lease
}

// suspendedWords tells why a server stopped delivering, and since when.
func suspendedWords(v host.SubscriptionView, now time.Time) string {
	why, since := "", ""
	if d := LeaseOf(&v).Status; d != nil {
		why = trust.Line(d.LastError).Clip(40).Plain()
		if t, err := time.Parse(time.RFC3339, d.FailedSince.Raw()); err == nil {
			since = "since " + cells.At(now, t)
		}
	}
	if since == "" && !v.Status.Since.IsZero() {
		since = "since " + cells.At(now, v.Status.Since)
	}
	return strings.TrimSpace(why + " " + since)
}

// Upcoming is when a subscription on a schedule delivers next.
func Upcoming(v *host.SubscriptionView, now time.Time) []time.Time {
	if s := StateOf(*v); v.NoServer || s == event.StatePaused || s == event.StateEnded || s == event.StateDenied {
		return nil
	}
	return host.Firings(v.Subscription, now)
}

// Firing spells when a schedule delivers, in its own time zone.
func Firing(t time.Time) string { return t.Format("Mon 2006-01-02 15:04 MST") }

// Fact is a line of evidence.
type Fact struct {
	Label string
	Role  themes.Role
	Text  trust.Rendered
}

// Quietness answers why a subscription is quiet: what was last seen, what the
// host does next, and whether silence means that nothing happened.
func Quietness(v *host.SubscriptionView, cursorless bool, now time.Time) []Fact {
	s := v.Status
	var out []Fact
	add := func(label string, role themes.Role, text string) {
		if text != "" {
			out = append(out, Fact{label, role, cells.Sanitize(text)})
		}
	}
	when := func(label string, t time.Time, never string) {
		switch {
		case !t.IsZero():
			add(label, themes.Plain, cells.At(now, t)+", "+cells.Ago(now, t))
		case never != "":
			add(label, themes.Dim, never)
		}
	}
	last := cells.Latest(s.LastEvent, s.LastDelivery)
	known, verdict := Silence(v, now)
	role, head := themes.Warn, "we cannot know: "
	switch {
	case arriving(v, last, now):
		role, head, verdict = themes.Good, "it is not quiet: ", "the last event came "+cells.Ago(now, last)
	case known && !last.IsZero():
		role, head = themes.Good, "nothing happened since "+cells.At(now, last)+": "
	case known:
		role, head = themes.Good, "nothing happened: "
	}
	add("silence ", role, head+verdict)
	add("next    ", themes.Plain, Next(v, now))
	when("event   ", last, "none in this run")
	switch v.Mode {
	case event.ModePush:
		when("opened  ", s.Opened, "the stream was not confirmed in this run")
		when("beat    ", s.LastHeartbeat, "no heartbeat was seen")
		if s.Interval > 0 {
			add("interval", themes.Plain, cells.Span(s.Interval)+" between heartbeats, as learned")
		}
	case event.ModePoll:
		when("poll    ", s.LastPoll, "no poll was answered in this run")
	case event.ModeWebhook:
		when("delivery", s.LastDelivery, "none in this run")
		if s.Refused.Count > 0 {
			add("refused ", themes.Warn, refusedWords(s.Refused)+", last "+cells.Ago(now, s.Refused.Last)+"; the table Refused has them")
		}
		out = append(out, LeaseFacts(v, now)...)
	}
	for i, t := range Upcoming(v, now) {
		label := "delivers"
		if i > 0 {
			label = "    then"
		}
		add(label, themes.Plain, Firing(t)+", in "+cells.Span(t.Sub(now)))
	}
	if cursorless {
		add("replay  ", themes.Warn, NoReplay+": what is missed stays missed")
	}
	if !s.Error.IsZero() {
		out = append(out, Fact{"error   ", themes.Warn, trust.Line(s.Error)})
	}
	return out
}

// busyWithin is how new an event is when nobody would call the subscription silent.
const busyWithin = 30 * time.Second

// arriving tells whether events come right now: the subscription works, and its last
// event is new.
func arriving(v *host.SubscriptionView, last, now time.Time) bool {
	switch StateOf(*v) {
	case event.StateLive, event.StatePolling, event.StateDraining, event.StateRefreshing:
		return !last.IsZero() && now.Sub(last) < busyWithin
	}
	return false
}

// LeaseFacts tell of a webhook lease and of what the server said at its last refresh.
func LeaseFacts(v *host.SubscriptionView, now time.Time) []Fact {
	lease := LeaseOf(v)
	var out []Fact
	switch {
	case lease.GrantedAt.IsZero() && lease.RefreshBefore.IsZero():
		return append(out, Fact{"lease   ", themes.Warn, cells.Sanitize("none was granted")})
	case lease.RefreshBefore.IsZero():
		out = append(out, Fact{"lease   ", themes.Plain, cells.Sanitize("without an end")})
	default:
		out = append(out, Fact{"lease   ", themes.Plain, cells.Sanitize("ends at " + cells.At(now, lease.RefreshBefore) + ", in " + cells.Span(lease.RefreshBefore.Sub(now)))})
	}
	d := lease.Status
	if d == nil {
		return out
	}
	says := "it delivers"
	if !d.Active {
		says = "it has stopped delivering"
	}
	if d.Throttled {
		says += ", throttled"
	}
	line := cells.Sanitize("at the last refresh: " + says)
	if !d.LastError.IsZero() {
		line = cells.Join(line, cells.Sanitize(", last error "), trust.Line(d.LastError))
	}
	if !d.LastDeliveryAt.IsZero() {
		line = cells.Join(line, cells.Sanitize(", last delivery "), trust.Line(d.LastDeliveryAt))
	}
	return append(out, Fact{"server  ", themes.Plain, line})
}

// withReason adds the reason to words, if there is one.
func withReason(words string, r event.Reason) string {
	if r == "" {
		return words
	}
	return words + ": " + r.Words()
}

// Silence tells whether silence of a subscription is known to mean that nothing
// happened, and why.
func Silence(v *host.SubscriptionView, now time.Time) (known bool, why string) {
	s := v.Status
	switch state := StateOf(*v); state {
	case event.StatePaused:
		if v.NoReplay {
			return false, "you paused it; the server does not keep what happens meanwhile"
		}
		return false, "you paused it; events stay at the server"
	case event.StateDenied:
		return false, cmp.Or(s.Reason, event.ReasonRights).Words()
	case event.StateEnded:
		if s.Error.IsZero() {
			return false, "it ended as planned; nothing will come"
		}
		return false, "the server ended the subscription; nothing will come"
	case event.StateSuspended:
		return false, "the server has stopped delivering"
	case event.StateRefused:
		return false, "what the server delivers is refused here: " + trust.Line(trust.Unescaped(s.Refused.Reason)).Plain()
	case event.StateNotRunning:
		return false, "no server of its name is configured, so nobody asks for events"
	case event.StateBackoff:
		return false, withReason(cells.Count(max(s.Attempt, 1), "attempt")+" in a row failed", s.Reason)
	case event.StateStale:
		return false, "the stream is open, and no byte came for two heartbeats"
	case event.StateStarting, event.StateVerifying, event.StateResumed:
		return false, withReason("the server has not confirmed the subscription yet", s.Reason)
	case event.StateDraining:
		return false, "the server has more, it is being read"
	}
	if s.Reason == event.ReasonProving {
		return false, s.Reason.Words()
	}
	switch v.Mode {
	case event.ModePoll:
		if s.LastPoll.IsZero() {
			return false, "no poll was answered in this run"
		}
		return true, "the poll at " + cells.At(now, s.LastPoll) + " was answered and brought all there was"
	case event.ModeWebhook:
		d := LeaseOf(v).Status
		if d != nil && d.Active {
			return false, "the lease is valid and the server says that it delivers, but a delivery that got lost on its way leaves no trace here"
		}
		return false, "the lease is valid, but a webhook that gets lost on its way leaves no trace here"
	}
	sign := cells.Latest(s.LastHeartbeat, s.LastEvent)
	switch {
	case sign.IsZero():
		return false, "the stream is open, and the server has sent no heartbeat yet"
	case s.Interval == 0 && now.Sub(sign) > time.Minute:
		return false, "the last sign of life is " + cells.Span(now.Sub(sign)) + " old and its interval is not known"
	}
	if s.Apart {
		return false, "the server answers, but its events come on a stream of their own that it leaves silent; a stream that died unseen looks the same"
	}
	return true, "the stream is alive, its last sign of life is " + cells.Span(now.Sub(sign)) + " old"
}

// Next says what the host does next for a subscription, and when.
func Next(v *host.SubscriptionView, now time.Time) string {
	s := v.Status
	in := ""
	if s.NextTry.After(now) {
		in = " at " + cells.At(now, s.NextTry) + ", in " + cells.Span(s.NextTry.Sub(now))
	}
	switch StateOf(*v) {
	case event.StatePaused:
		return "nothing, until you resume it"
	case event.StateEnded:
		return "nothing; subscribe again to go on from the saved position"
	case event.StateDenied:
		return "nothing; sign in, or subscribe again once you have the rights"
	case event.StateBackoff:
		if in == "" {
			return "it tries again at once"
		}
		return fmt.Sprintf("try %d%s", s.Attempt+1, in)
	case event.StateStarting, event.StateVerifying, event.StateResumed, event.StateRefreshing:
		return "it waits for the server's answer"
	case event.StateNotRunning:
		return "nothing, until a server of its name is configured"
	case event.StateRefused:
		return "it takes the next delivery that is right"
	case event.StateDraining:
		return "it polls on without a pause"
	}
	switch v.Mode {
	case event.ModePoll:
		return "it polls" + in
	case event.ModeWebhook:
		if in == "" {
			return "it waits for deliveries"
		}
		return "it refreshes the lease" + in
	}
	if s.Interval == 0 {
		return "it reconnects when the stream stays silent too long"
	}
	sign := cells.Latest(s.LastByte, s.LastHeartbeat, s.LastEvent, s.Opened)
	giveUp := sign.Add(s.Interval * 5 / 2)
	return "it reconnects at " + cells.At(now, giveUp) + " if the stream stays silent until then"
}
