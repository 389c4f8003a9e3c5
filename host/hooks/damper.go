package hooks

import (
	"maps"
	"sync"
	"time"

	"eventdeck/host/event"
)

// auditPause is how long further results of a kind are only counted after one was noted in the
// audit log: a flood of bad requests must not push the operator's acts out of it.
const auditPause = 10 * time.Second

// auditDamper lets one result of a kind through in [auditPause], and counts the others.
type auditDamper struct {
	mu   sync.Mutex
	last map[auditKind]*lastEntry
}

// auditKind is what results of the same kind share.
type auditKind struct {
	sub  event.SubID
	what string
}

type lastEntry struct {
	at      time.Time
	skipped uint64 // since then
}

// forget drops the results of a subscription.
func (d *auditDamper) forget(id event.SubID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.last, func(kind auditKind, _ *lastEntry) bool { return kind.sub == id })
}

// pass reports whether a result of this kind is to be noted now, and how many were skipped
// since the last noted one.
func (d *auditDamper) pass(kind auditKind, now time.Time) (left uint64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil {
		d.last = map[auditKind]*lastEntry{}
	}
	q := d.last[kind]
	if q == nil {
		q = &lastEntry{}
		d.last[kind] = q
	} else if now.Sub(q.at) < auditPause {
		q.skipped++
		return 0, false
	}
	left = q.skipped
	q.at, q.skipped = now, 0
	return left, true
}
