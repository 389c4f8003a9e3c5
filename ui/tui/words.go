package tui

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
)

// span spells a duration in its one or two largest units: 3 s, 12 m, 2 h 5 m.
func span(d time.Duration) string {
	switch {
	case d < 0:
		d = 0
		fallthrough
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " m"
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d m", int(d/time.Hour), int(d%time.Hour/time.Minute))
	}
	return fmt.Sprintf("%d d %d h", int(d/(24*time.Hour)), int(d%(24*time.Hour)/time.Hour))
}

// ago spells how long something is past.
func ago(now, t time.Time) string { return span(now.Sub(t)) + " ago" }

// number groups digits: 18,332.
func number(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count spells a number with its noun: 1 delivery, 1,204 deliveries.
func count[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return number(uint64(n)) + " " + noun + "s"
}

// reachMissing is said of a server that only subscriptions name.
const reachMissing host.Reach = "not configured"

// reach says how far the host has got with a server.
func reach(s host.ServerView, now time.Time) string {
	switch s.Reach {
	case host.ReachReady:
		return "ready"
	case host.ReachConnecting:
		if s.Attempt > 0 {
			return fmt.Sprintf("connecting, try %d", s.Attempt+1)
		}
		return "connecting"
	case host.ReachBackoff:
		if !s.NextTry.IsZero() && !s.NextTry.After(now) { // the attempt runs until the host tells how it went
			return fmt.Sprintf("connecting, try %d", s.Attempt+1)
		}
		return fmt.Sprintf("unreachable, try %d in %s", s.Attempt+1, span(s.NextTry.Sub(now)))
	case host.ReachSignIn:
		return "needs sign-in"
	}
	return string(s.Reach)
}

// commas joins the parts that say something by commas.
func commas(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// protocol says which protocol a server speaks; an era may begin with its version.
func protocol(s *host.ServerView) string {
	if strings.HasPrefix(s.Era, s.Version) {
		return s.Era
	}
	return strings.TrimSpace(s.Version + " " + s.Era)
}

// stateOf is the state that is shown: that of the running subscription, else
// the stored one.
func stateOf(v host.SubscriptionView) event.State {
	if v.Status.State != "" {
		return v.Status.State
	}
	if v.State != "" {
		return v.State
	}
	return event.StateStarting
}

func newest(times ...time.Time) time.Time {
	var t time.Time
	for _, u := range times {
		if u.After(t) {
			t = u
		}
	}
	return t
}

// noArgs tells whether a subscription's arguments say nothing.
func noArgs(raw []byte) bool {
	t := bytes.TrimSpace(raw)
	return len(t) == 0 || string(t) == "{}"
}

// modeWord is the mode as rows show it.
func modeWord(m event.Mode) string {
	if m == event.ModeWebhook {
		return "hook"
	}
	return string(m)
}

// causes explains gaps in our words.
var causes = map[event.Cause]string{
	event.CauseTruncated:      "the server no longer had the events from the saved position on",
	event.CauseGap:            "the server said that it skipped events",
	event.CauseLapsed:         "the webhook lease ended while nobody refreshed it",
	event.CauseCursorRejected: "the server refused the saved position",
	event.CauseRestarted:      "the server lost its history in a restart",
	event.CauseSilent:         "the stream went on elsewhere without a word",
	event.CauseNoReplay:       "the type cannot be replayed and nobody was listening",
	event.CausePaused:         "you paused a type that cannot be replayed",
}

// demoGaps explains the gaps that a start of the demo on kept data begins with.
const demoGaps = "Demo servers start anew with this program and remember nothing, so each start on kept data begins with a gap."

// gapWords tells a gap on one line, with times as they are shown.
func gapWords(g event.Gap, clock timeView) string {
	text := "gap: events may be missing"
	if g.Certain {
		text = "gap: events are missing"
	}
	if !g.From.IsZero() {
		text += " from " + timeText(g.From, clock.zone(), timeShort)
	}
	if !g.To.IsZero() {
		text += " to " + timeText(g.To, clock.zone(), timeShort)
	}
	return text + " (" + string(g.Cause) + ")"
}

// shortSpan spells a duration for a narrow column: 120 ms, 2.5 s, 4 m.
func shortSpan(d time.Duration) string {
	switch {
	case d < time.Second:
		return strconv.Itoa(int(d/time.Millisecond)) + " ms"
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return span(d)
}
