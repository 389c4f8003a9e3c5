package engine

import (
	"fmt"
	"time"
)

// Pauses before the log is read again after it could not be read: the first, and the longest
// that doubling it leads to.
const (
	readAgainFirst = time.Second
	readAgainMost  = time.Minute
)

// unread is the backoff of a log that cannot be read. The zero value: it can.
type unread struct {
	why   string // for the operator
	pause time.Duration
	again time.Time // when it is read again
}

// waits reports whether it is too early to read the log again.
func (u *unread) waits(now time.Time) bool {
	left := u.again.Sub(now)
	return left > 0 && left <= u.pause // more: the clock was set back
}

// noteRead takes up how reading the log behind the position went.
func (e *Engine) noteRead(err error) {
	if err == nil {
		if e.unread != (unread{}) {
			e.unread, e.stale = unread{}, true
			e.o.Log.Info("reactions read the log again", "position", e.position)
		}
		return
	}
	pause := min(max(2*e.unread.pause, readAgainFirst), readAgainMost)
	e.unread = unread{why: fmt.Sprintf("records behind %d wait undecided: the log cannot be read: %v", e.position, err), pause: pause, again: e.now().Add(pause)}
	e.stale = true
	e.o.Log.Error("reactions cannot read the log", "position", e.position, "err", err, "retry", pause)
}
