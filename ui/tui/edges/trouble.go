package edges

import (
	"log/slog"
	"time"

	"eventdeck/host"
	"eventdeck/host/eventlog"
)

// troubleFor is how long the status line shows an error.
const troubleFor = time.Minute

// Trouble is the newest error of the program's own log. The status line shows it for a minute, or
// until the operator opens the log.
type Trouble struct {
	seen uint64 // sequence number of the last examined line of the log
	line host.LogLine
	open bool
}

// Take examines new lines of the log.
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

// See notes that the operator opened the log.
func (t *Trouble) See() { t.open = false }

// Shown reports whether the status line shows the error.
func (t *Trouble) Shown(now time.Time) bool { return t.open && now.Sub(t.line.At) < troubleFor }
