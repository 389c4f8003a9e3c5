package edges

import (
	"log/slog"
	"time"

	"eventdeck/host"
	"eventdeck/host/eventlog"
)

// troubleFor is how long the status line tells of an error that was not looked at.
const troubleFor = time.Minute

// Trouble is the newest error of the program's own log. It is told on the status
// line until it was looked at or is old, and takes no key from anything.
type Trouble struct {
	seen uint64 // of the ring: examined so far
	line host.LogLine
	open bool
}

// Take looks at what the log has got.
func (t *Trouble) Take(ring *eventlog.Ring[host.LogLine]) {
	if ring == nil || ring.Last() == t.seen {
		return
	}
	if ring.Last() < t.seen { // the log of another process
		t.seen = 0
	}
	ring.After(t.seen, func(seq uint64, l host.LogLine) bool {
		t.seen = seq
		if l.Level >= slog.LevelError {
			t.line, t.open = l, true
		}
		return true
	})
}

// See takes that it was looked at.
func (t *Trouble) See() { t.open = false }

// Shown reports whether the status line tells of it now.
func (t *Trouble) Shown(now time.Time) bool { return t.open && now.Sub(t.line.At) < troubleFor }
