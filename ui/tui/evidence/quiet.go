package evidence

import (
	"cmp"
	"fmt"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Fact is a line of evidence.
type Fact struct {
	Label string
	Role  themes.Role
	Text  trust.Rendered
}

// Quietness explains why a subscription is quiet: what was seen last, what the host does next, and
// whether silence means that nothing happened. cursorless says that the type has no replay.
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
	if !v.Expires.IsZero() && !s.State.Over() {
		add("ends    ", themes.Plain, cells.TimeText(v.Expires, now.Location(), cells.StampFull)+", in "+cells.Span(v.Expires.Sub(now)))
	}
	if cursorless {
		add("replay  ", themes.Warn, NoReplay+": what is missed stays missed")
	}
	if !s.Error.IsZero() {
		out = append(out, Fact{"error   ", themes.Warn, trust.Line(s.Error)})
	}
	return out
}

// busyWithin is the age of the last event below which a subscription is not called silent.
const busyWithin = 30 * time.Second

// arriving reports whether a subscription works and its last event is new.
func arriving(v *host.SubscriptionView, last, now time.Time) bool {
	return StateOf(*v).Alive() && !last.IsZero() && now.Sub(last) < busyWithin
}

// LeaseFacts describes a webhook lease and what the server said at its last refresh.
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

// withReason appends the reason to words, if there is one.
func withReason(words string, r event.Reason) string {
	if r == "" {
		return words
	}
	return words + ": " + r.Words()
}

// Silence reports whether the silence of a subscription means that nothing happened, and why it
// does or does not.
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
		return false, "no server of its name is configured, so no events are asked for"
	case event.StateBackoff:
		return false, withReason(cells.Count(max(s.Attempt, 1), "attempt")+" in a row failed", s.Reason)
	case event.StateThrottled:
		return false, s.Reason.Words()
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

// nextTry describes attempt n; in says when it is due, "" for now.
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
		if s.Reason == event.ReasonSignIn {
			return "nothing, until you sign in"
		}
		return "nothing; subscribe again once you have the rights"
	case event.StateBackoff:
		return nextTry(s.Attempt+1, in)
	case event.StateStarting, event.StateVerifying, event.StateResumed, event.StateRefreshing:
		if v.Waits() {
			return nextTry(s.Attempt+1, in)
		}
		return "it waits for the server's answer"
	case event.StateThrottled:
		if s.Attempt > 0 {
			return nextTry(s.Attempt+1, in)
		}
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
