package evidence

import (
	"bytes"
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// ReachMissing is the reach of a server that has subscriptions but is not configured.
const ReachMissing host.Reach = "not configured"

// Reach describes the connection to a server.
func Reach(s host.ServerView, now time.Time) string {
	switch s.Reach {
	case host.ReachReady:
		return "ready"
	case host.ReachConnecting:
		if s.Attempt > 0 {
			return "retrying (" + ordinal(s.Attempt+1) + ")"
		}
		return "connecting"
	case host.ReachBackoff:
		return "unreachable, " + tryWords(s.Attempt+1, s.NextTry, now) // an attempt runs until the host reports its result
	case host.ReachSignIn:
		return "needs sign-in"
	}
	return string(s.Reach)
}

// Protocol returns the version and era of a server's protocol. The era may begin with the version.
func Protocol(s *host.ServerView) string {
	if strings.HasPrefix(s.Era, s.Version) {
		return s.Era
	}
	return strings.TrimSpace(s.Version + " " + s.Era)
}

// StateOf returns the state of the running subscription, else the stored one.
func StateOf(v host.SubscriptionView) event.State {
	if v.Status.State != "" {
		return v.Status.State
	}
	if v.State != "" {
		return v.State
	}
	return event.StateStarting
}

// NoArgs reports whether a subscription has no arguments.
func NoArgs(raw []byte) bool {
	t := bytes.TrimSpace(raw)
	return len(t) == 0 || string(t) == "{}"
}

// ModeWord returns a mode as rows show it.
func ModeWord(m event.Mode) string {
	if m == event.ModeWebhook {
		return "hook"
	}
	return string(m)
}

// Causes explains the causes of gaps.
var Causes = map[event.Cause]string{
	event.CauseTruncated:      "the server no longer had the events from the saved position on",
	event.CauseGap:            "the server said that it skipped events",
	event.CauseLapsed:         "the webhook lease ended without a refresh",
	event.CauseCursorRejected: "the server refused the saved position",
	event.CauseRestarted:      "the server lost its history in a restart",
	event.CauseSilent:         "the stream went on elsewhere without a word",
	event.CauseNoReplay:       "the type cannot be replayed, and this host was not listening",
	event.CauseRefused:        "a delivery was too large for the receiver, and its server drops it",
	event.CauseUnproved:       "nothing shows that all came",
	event.CausePaused:         "you paused a type that cannot be replayed",
}

// DemoGaps explains the gaps of cause truncated at each start of the demo with a kept store.
const DemoGaps = "Demo servers start anew with this program and remember nothing, so each start on kept data begins with a gap."

// GapWords describes a gap in one line. Times come first, because narrow rows cut off the end.
func GapWords(g event.Gap, clock cells.TimeView) string {
	text := "gap"
	if !g.From.IsZero() {
		text += " from " + cells.TimeText(g.From, clock.Zone(), cells.TimeShort)
	}
	if !g.To.IsZero() {
		text += " to " + cells.TimeText(g.To, clock.Zone(), cells.TimeShort)
	}
	if g.Certain {
		return text + ": events are missing (" + string(g.Cause) + ")"
	}
	return text + ": events may be missing (" + string(g.Cause) + ")"
}

// LevelRole returns the role of a reading. It must be shown with the sender's word.
func LevelRole(l reading.Level) themes.Role {
	switch l {
	case reading.Critical, reading.Error:
		return themes.Bad
	case reading.Warning:
		return themes.Warn
	case reading.Good:
		return themes.Good
	}
	return themes.Dim
}

// WordRole returns the role in which a sender's word for a severity is written: critical ones stand
// out among errors.
func WordRole(l reading.Level) themes.Role {
	if l == reading.Critical {
		return themes.Critical
	}
	return LevelRole(l)
}

// WordLevelRole is [LevelRole] for a sender's word.
func WordLevelRole(word string) themes.Role { return LevelRole(reading.LevelOf(word)) }

// TagWords returns the tags of an event, separated by blanks.
func TagWords(l *event.Labels) trust.Text {
	words := make([]string, len(l.Tags))
	for i, t := range l.Tags {
		words[i] = t.Raw()
	}
	return trust.Untrusted(strings.Join(words, " "))
}
