package events

import (
	"log/slog"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/ui/cli/plain"
)

// tellEvery is how often one cause is reported (contracts, command line).
const tellEvery = time.Minute

// Warner reports problems on standard error while records are printed: one line per cause and
// minute. It belongs to one goroutine at a time.
type Warner struct {
	say  func(format string, args ...any)
	told map[string]time.Time // when a cause was told last

	looked  bool
	before  uint64        // deliveries that were refused before this command
	refused uint64        // deliveries that are told, or were refused before this command
	newest  event.Refused // as they were at the last look
	fault   time.Time     // of the newest events/error that is told
	began   time.Time
	line    uint64 // of the log, up to which it was read
}

// NewWarner returns a Warner that writes its lines with say.
func NewWarner(say func(string, ...any)) *Warner {
	return &Warner{say: say, told: map[string]time.Time{}, fault: time.Now(), began: time.Now()}
}

// tell writes a line, unless there was one for its cause within the last minute.
func (t *Warner) tell(cause, format string, args ...any) (said bool) {
	if at, ok := t.told[cause]; ok && time.Since(at) < tellEvery {
		return false
	}
	t.told[cause] = time.Now()
	t.say(format, args...)
	return true
}

// look reports what is new in the state of the subscription.
func (t *Warner) look(v host.SubscriptionView) {
	s := &v.Status
	if !t.looked && s.State != event.StateRefused && s.Reason != event.ReasonChallenge {
		t.before = s.Refused.Count // they were followed by one that was accepted
		t.refused = t.before
	}
	t.looked, t.newest = true, s.Refused
	if n := s.Refused.Count; n > t.refused &&
		t.tell("refused", "%s refused, the last one: %s", event.Some(n-t.refused, "delivery was", "deliveries were"), plain.Safe(s.Refused.Reason)) {
		t.refused = n
	}
	if s.State == event.StateThrottled {
		t.throttled(v.Key.Server, s.Throttled, plain.Text(s.Error))
	}
	if s.FaultAt.After(t.fault) && t.tell("fault", "%s reports: %s", plain.Safe(v.Key.Server), plain.Text(s.Fault)) {
		t.fault = s.FaultAt
	}
}

// logged reports the errors that a server has logged since this command began.
func (t *Warner) logged(log *eventlog.Ring[host.LogLine], server string) {
	log.After(t.line, func(seq uint64, l host.LogLine) bool {
		t.line = seq
		if l.Told && l.Server == server && l.Level >= slog.LevelError && l.At.After(t.began) {
			t.tell("logged", "%s logs: %s", plain.Safe(server), plain.Safe(l.Text))
		}
		return true
	})
}

// throttled reports that a server asks to wait until a time, with its words if there are some.
func (t *Warner) throttled(server string, until time.Time, why string) {
	if why != "" {
		why = ": " + why
	}
	t.tell("throttled", "%s is throttled until %s%s", plain.Safe(server), until.Local().Format(time.TimeOnly), why)
}

// end reports the total of refused deliveries, if it grew since the last line about them.
func (t *Warner) end() {
	if n := t.newest.Count; n > t.refused {
		t.say("%s refused in all, the last one: %s", event.Some(n-t.before, "delivery was", "deliveries were"), plain.Safe(t.newest.Reason))
		t.refused = n
	}
}

// gap reports a gap that is only possible: outside of the log nothing else does.
func (t *Warner) gap(g event.Gap) {
	if !g.Certain {
		t.tell("gap", "possible gap: events may be missing%s (%s)", plain.GapTime(g), plain.Safe(string(g.Cause)))
	}
}

// Asked reports that a server was asked for events though it does not say that it has any.
func (t *Warner) Asked(h host.Reader, server string) {
	for _, v := range h.Snapshot().Servers {
		if v.Name == server && v.Unadvertised {
			t.tell("unadvertised", "%s does not say that it has events; events/list was tried all the same", plain.Safe(server))
		}
	}
}
