// Package evidence puts into words what is known of servers, subscriptions and the
// store: their states, from what these were derived, and what silence means. It
// reads views of the host and asks it nothing.
package evidence

import (
	"cmp"
	"fmt"
	"strconv"
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
	// begins, and its server cannot be used
	stateWaiting event.State = "waiting"
)

// NoReplay marks what cannot be asked for again once it is missed.
const NoReplay = "no-replay"

// StateWord is the word of a subscription's state as rows show it.
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
		add(true, tryWords(s.Attempt+1, s.NextTry, now))
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

// tryWords tell of the attempt n, which is due at next.
func tryWords(n int, next, now time.Time) string {
	if wait := next.Sub(now); wait >= time.Second {
		return fmt.Sprintf("try %d in %s", n, cells.Span(wait))
	}
	return "retrying (" + ordinal(n) + ")"
}

// ordinal spells a number in an order: 1st, 2nd, 3rd, 4th.
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

// everyWords tell how often something is done.
func everyWords(pause time.Duration) string {
	switch pause {
	case time.Second:
		return "every second"
	case time.Minute:
		return "every minute"
	}
	return "every " + cells.Span(pause)
}

// Why tells in a few words why a subscription brings nothing; "" if there is no reason
// to tell. It is for one line.
func Why(v *host.SubscriptionView, now time.Time) string {
	return trust.Line(trust.Unescaped(v.Why(clockOf(now)))).Plain()
}

// ServerWhy is Why for a server that cannot be used.
func ServerWhy(s *host.ServerView, now time.Time) string {
	return trust.Line(trust.Unescaped(s.Why(clockOf(now)))).Plain()
}

// Cause is Why for the line below a row that tells the state and the tries: without
// these.
func Cause(v *host.SubscriptionView) string { return brief(v.Why(nil)) }

// ServerCause is Cause for a server.
func ServerCause(s *host.ServerView) string { return brief(s.Why(nil)) }

func brief(why string) string {
	why = strings.TrimPrefix(strings.TrimPrefix(why, "unreachable: "), "callback refused: ")
	return trust.Line(trust.Unescaped(why)).Plain()
}

// clockOf spells times as lines tell them, with the day where that is another one.
func clockOf(now time.Time) func(time.Time) string {
	return func(t time.Time) string {
		if t = t.In(now.Location()); t.YearDay() != now.YearDay() || t.Year() != now.Year() {
			return t.Format("Jan 2 15:04:05")
		}
		return cells.At(now, t)
	}
}

// Row is the state of a subscription as a row tells it: what strikes the eye, and the
// evidence behind it.
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
	if s := StateOf(*v); v.NoServer || s == event.StatePaused || s.Over() {
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
	label, role, head := "silence ", themes.Warn, "proves nothing: "
	switch why := Why(v, now); {
	case why != "" && v.InTrouble():
		label, head, verdict = "cause   ", "", why
	case v.InTrouble(), StateOf(*v) == event.StatePaused:
		head = "no events come: "
	case arriving(v, last, now):
		role, head, verdict = themes.Good, "it is not quiet: ", "the last event came "+cells.Ago(now, last)
	case known && !last.IsZero():
		role, head = themes.Good, "nothing happened since "+cells.At(now, last)+": "
	case known:
		role, head = themes.Good, "nothing happened: "
	}
	add(label, role, head+verdict)
	if words, step, ok := CallbackAdvice(v, ""); ok && v.InTrouble() {
		add("do      ", themes.Strong, words+" "+step)
	}
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
	return StateOf(*v).Alive() && !last.IsZero() && now.Sub(last) < busyWithin
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
		if s.Reason == event.ReasonUnreachable {
			return false, Cause(v)
		}
		if s.LastPoll.IsZero() {
			return false, "no poll was answered in this run"
		}
		return true, "the poll at " + cells.At(now, s.LastPoll) + " was answered and brought all there was"
	case event.ModeWebhook:
		until := ""
		if s.NextTry.After(now) {
			until = "; a server that forgot the subscription shows that at the refresh in " + cells.Span(s.NextTry.Sub(now))
		}
		d := LeaseOf(v).Status
		if d != nil && d.Active {
			return false, "the lease is valid and the server says that it delivers, but a delivery that got lost on its way leaves no trace here" + until
		}
		return false, "the lease is valid, but a webhook that gets lost on its way leaves no trace here" + until
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

// nextTry tells of the attempt n; in is when it is due, "" for now.
func nextTry(n int, in string) string {
	if in == "" {
		return "it tries again at once"
	}
	return fmt.Sprintf("try %d%s", n, in)
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
		return nextTry(s.Attempt+1, in)
	case event.StateStarting, event.StateVerifying, event.StateResumed, event.StateRefreshing:
		if v.Waits() {
			return nextTry(s.Attempt+1, in)
		}
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
