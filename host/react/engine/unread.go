package engine

import (
	"fmt"
	"slices"
	"time"

	"eventdeck/host/react"
)

// Pauses before the log is read again after it could not be read, and before an act is tried again
// for which something was used up: the first, and the longest that doubling it leads to.
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

// shortage is what acts wait for that are tried again by themselves. The zero value: nothing.
type shortage struct {
	why   string
	until time.Time // if nothing is lacked again before
}

// later makes a run wait that could not be prepared or begun because of [react.ErrScarce]. That
// is no failure, and the log has one line about all that wait.
func (e *Engine) later(r *run, why string) {
	now := e.now()
	r.pause = min(max(2*r.pause, readAgainFirst), readAgainMost)
	if r.State == react.Running {
		e.uncount(r)
		e.setState(r, react.Ready, "", "")
	}
	r.Due = now.Add(r.pause)
	e.waits(r, "it is tried again: "+why)
	if e.shortage.why == "" {
		e.o.Log.Warn("acts wait, and are tried again", "run", r.ID, "err", why)
		e.shortage.why, e.stale = "acts wait: "+why, true
	}
	if until := now.Add(2 * r.pause); until.After(e.shortage.until) {
		e.shortage.until = until
	}
}

// uncount takes back that an act was started, as it did not begin.
func (e *Engine) uncount(r *run) {
	if r.Goes {
		return
	}
	rs := e.ruleState(r.Rule)
	for _, starts := range []*[]time.Time{&rs.starts, &e.starts} {
		if i := slices.IndexFunc(*starts, r.Started.Equal); i >= 0 {
			*starts = slices.Delete(*starts, i, i+1)
		}
	}
	e.stageStarts(r.Rule)
	e.stageStarts(allRules)
}
