package react

import (
	"slices"
	"strings"
	"time"
)

// Bounds of a [Watch].
const (
	WindowKeys = 1000 // groups of a rule
	// exactCount is the largest count for which each member has a mark of its own. For larger
	// counts, members within a part of the window's time share a mark.
	exactCount = 256
	parts      = 128 // of the window's time
)

// Watch is the state of a rule's window in each of its groups. It reports when the window
// becomes true, and again only after it was false. With a count or rate above 256, members may
// count for up to a 128th of the window's time too long.
//
// A Watch has no clock: callers pass times. One goroutine at a time may use it. It can be stored
// as JSON and continues where it was, except that an absence begins again.
type Watch struct {
	window Window
	keyed  bool
	groups map[Key]*watched
	over   uint64    // members that were not counted, of groups beyond WindowKeys
	last   time.Time // latest time passed in
	sweep  time.Time // before it, no group can be removed
	alive  bool
}

// watched is the state of one group.
type watched struct {
	marks []mark // of members that count, oldest first
	count int    // members in marks
	fired bool   // the window is true, and was reported
	since time.Time
}

// mark stands for one member, or for several within a short time.
type mark struct {
	first, last time.Time
	seq         uint64 // of the first
	n           int
}

// Fired reports that a window became true.
type Fired struct {
	Key Key
	// From is the sequence number of the oldest member in the window; 0 for an absence.
	From uint64
	// Count is the number of members in the window; 0 for an absence.
	Count int
}

// NewWatch returns the window of a rule without members.
func NewWatch(r *Rule) *Watch {
	w := &Watch{window: r.Window, keyed: len(r.Key) > 0, groups: map[Key]*watched{}}
	if w.window.Absent > 0 && !w.keyed {
		w.groups[""] = &watched{}
	}
	return w
}

// bounds returns the number of members, and the time span, that make the window true.
func (w *Watch) bounds() (int, time.Duration) {
	if w.window.Count > 0 {
		return w.window.Count, w.window.Within
	}
	return w.window.Rate, w.window.Per
}

// Add counts a member, and reports whether the window became true. A time before an earlier
// one is replaced by that one.
func (w *Watch) Add(key Key, seq uint64, at time.Time) (Fired, bool) {
	at = w.advance(at)
	g := w.groups[key]
	if g == nil {
		if g = w.begin(key, at); g == nil {
			w.over++
			return Fired{}, false
		}
	}
	if w.window.Absent > 0 {
		g.fired, g.since = false, at
		return Fired{}, false
	}
	n, span := w.bounds()
	// A member that expires at the very moment another arrives still counts with it.
	g.expire(n, at.Add(-span-1))
	g.add(n > exactCount, span/parts, seq, at)
	g.expire(n, at.Add(-span))
	if g.fired || g.count < n {
		return Fired{}, false
	}
	g.fired = true
	return Fired{Key: key, From: g.marks[0].seq, Count: g.count}, true
}

// advance moves the clock of the window forward, and returns its time.
func (w *Watch) advance(at time.Time) time.Time {
	if at.Before(w.last) {
		return w.last
	}
	w.last = at
	return at
}

// begin adds a group; nil if there are too many.
func (w *Watch) begin(key Key, at time.Time) *watched {
	if len(w.groups) >= WindowKeys {
		w.clear(at)
	}
	if len(w.groups) >= WindowKeys {
		return nil
	}
	g := &watched{}
	w.groups[key] = g
	return g
}

// clear removes the groups in which no member counts any more.
func (w *Watch) clear(at time.Time) {
	if w.window.Absent > 0 || at.Before(w.sweep) {
		return
	}
	n, span := w.bounds()
	w.sweep = at.Add(span)
	for key, g := range w.groups {
		if g.expire(n, at.Add(-span)); g.count == 0 {
			delete(w.groups, key)
		} else if due := g.marks[len(g.marks)-1].last.Add(span); due.Before(w.sweep) {
			w.sweep = due
		}
	}
}

// expire removes members that came at or before a time.
func (g *watched) expire(n int, until time.Time) {
	gone := 0
	for gone < len(g.marks) && !g.marks[gone].last.After(until) {
		g.count -= g.marks[gone].n
		gone++
	}
	g.marks = append(g.marks[:0], g.marks[gone:]...)
	if g.count < n {
		g.fired = false
	}
}

// add counts a member. If coarse, it shares the newest mark when that began less than the time
// together ago.
func (g *watched) add(coarse bool, together time.Duration, seq uint64, at time.Time) {
	g.count++
	if i := len(g.marks) - 1; i >= 0 && coarse && at.Sub(g.marks[i].first) < together {
		g.marks[i].n++
		g.marks[i].last = at
		return
	}
	g.marks = append(g.marks, mark{first: at, last: at, seq: seq, n: 1})
}

// Alive takes whether the subscription is live or polling. An absence counts only while it is,
// and begins again each time the subscription becomes alive.
func (w *Watch) Alive(alive bool, at time.Time) {
	at = w.advance(at)
	if alive && !w.alive {
		for _, g := range w.groups {
			g.since = at
		}
	}
	w.alive = alive
}

// Due returns when the next absence becomes true if no member arrives; the zero time: never.
func (w *Watch) Due() time.Time {
	var due time.Time
	if w.window.Absent == 0 || !w.alive {
		return due
	}
	for _, g := range w.groups {
		if at := g.since.Add(w.window.Absent); !g.fired && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}

// Tick returns the absences that became true by now, ordered by group.
func (w *Watch) Tick(now time.Time) []Fired {
	now = w.advance(now)
	if w.window.Absent == 0 || !w.alive {
		return nil
	}
	var fired []Fired
	for key, g := range w.groups {
		if g.fired || now.Sub(g.since) < w.window.Absent {
			continue
		}
		g.fired = true
		fired = append(fired, Fired{Key: key})
		// An absence is reported once: the group can be forgotten.
		if w.keyed {
			delete(w.groups, key)
		}
	}
	slices.SortFunc(fired, func(a, b Fired) int { return strings.Compare(string(a.Key), string(b.Key)) })
	return fired
}
