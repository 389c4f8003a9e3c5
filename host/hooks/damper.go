package hooks

import (
	"sync"
	"time"

	"eventdeck/host/event"
)

// quietFor is how long further results of the same check are only counted: a
// flood of bad requests must not wash the operator's acts out of the audit log.
const quietFor = 10 * time.Second

// damper lets one of a kind through in [quietFor] and counts the others.
type damper struct {
	mu   sync.Mutex
	told map[damped]*quiet
}

type damped struct {
	sub  event.SubID
	what string
}

type quiet struct {
	at   time.Time
	left uint64 // not told since
}

// pass reports whether a result of this kind is to be told now, and how many were
// left out since the last one.
func (d *damper) pass(kind damped, now time.Time) (left uint64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told == nil {
		d.told = map[damped]*quiet{}
	}
	q := d.told[kind]
	if q == nil {
		q = &quiet{}
		d.told[kind] = q
	} else if now.Sub(q.at) < quietFor {
		q.left++
		return 0, false
	}
	left = q.left
	q.at, q.left = now, 0
	return left, true
}
