package react

import (
	"slices"
	"strings"
	"time"
)

// Bounds of a [Watch].
const (
	WindowKeys = 1000 // groups of a rule
	// exactCount is up to which count each member is kept apart; members of a greater
	// count are kept together within a part of the window's time.
	exactCount = 256
	parts      = 128
)

// Watch is the state of a rule's window over its groups. It tells when the window becomes
// true, and tells it again only after it was false. A count or a rate above 256 is right to
// a 128th of its time: it may count members for so much longer.
//
// A Watch is pure: times are given in. One goroutine at a time may use it. As JSON it can be
// stored and goes on where it was; an absence begins again.
type Watch struct {
	window Window
	keyed  bool
	groups map[Key]*watched
	over   uint64
	last   time.Time // the latest that was told
	sweep  time.Time // before which no group is worth looking at
	alive  bool
}

// watched is what is known of one group.
type watched struct {
	marks []mark // of members that count, oldest first
	count int    // members in marks
	fired bool   // true, and told
	since time.Time
}

// mark stands for members that came together.
type mark struct {
	first, last time.Time
	seq         uint64 // of the first
	n           int
}

// Fired tells that a window became true.
type Fired struct {
	Key Key
	// From is the sequence number of the oldest member that counts; 0 for an absence.
	From uint64
	// Count is how many members count; 0 for an absence.
	Count int
}

// NewWatch returns the window of a rule with nothing counted.
func NewWatch(r *Rule) *Watch {
	w := &Watch{window: r.Window, keyed: len(r.Key) > 0, groups: map[Key]*watched{}}
	if w.window.Absent > 0 && !w.keyed {
		w.groups[""] = &watched{}
	}
	return w
}

// bounds returns how many members within what time make the window true.
func (w *Watch) bounds() (int, time.Duration) {
	if w.window.Count > 0 {
		return w.window.Count, w.window.Within
	}
	return w.window.Rate, w.window.Per
}

// Uncounted returns how many members were of a group beyond the first [WindowKeys].
func (w *Watch) Uncounted() uint64 { return w.over }

// Groups returns how many groups are watched.
func (w *Watch) Groups() int { return len(w.groups) }

// Oldest returns the sequence number of the oldest member that may still count, 0 if there
// is none.
func (w *Watch) Oldest() uint64 {
	var oldest uint64
	for _, g := range w.groups {
		if len(g.marks) > 0 && (oldest == 0 || g.marks[0].seq < oldest) {
			oldest = g.marks[0].seq
		}
	}
	return oldest
}

// Add counts a member. A time before one that was told before stands for that one.
func (w *Watch) Add(key Key, seq uint64, at time.Time) (Fired, bool) {
	at = w.tell(at)
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
	// A member that leaves at the very moment at which another comes was there until then.
	g.expire(n, at.Add(-span-1))
	g.add(n > exactCount, span/parts, seq, at)
	g.expire(n, at.Add(-span))
	if g.fired || g.count < n {
		return Fired{}, false
	}
	g.fired = true
	return Fired{Key: key, From: g.marks[0].seq, Count: g.count}, true
}

func (w *Watch) tell(at time.Time) time.Time {
	if at.Before(w.last) {
		return w.last
	}
	w.last = at
	return at
}

// begin makes a group, unless there are too many.
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

// clear removes the groups of which nothing counts any more.
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

// expire forgets members that came at a time or before.
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

// add counts a member; together with the newest that came within a time, if coarse.
func (g *watched) add(coarse bool, together time.Duration, seq uint64, at time.Time) {
	g.count++
	if i := len(g.marks) - 1; i >= 0 && coarse && at.Sub(g.marks[i].first) < together {
		g.marks[i].n++
		g.marks[i].last = at
		return
	}
	g.marks = append(g.marks, mark{first: at, last: at, seq: seq, n: 1})
}

// Alive reports whether the subscription is live or polling. An absence counts only while it
// is, and begins again each time that it becomes so.
func (w *Watch) Alive(alive bool, at time.Time) {
	at = w.tell(at)
	if alive && !w.alive {
		for _, g := range w.groups {
			g.since = at
		}
	}
	w.alive = alive
}

// Due returns when an absence becomes true if no member comes, the zero time if none can.
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

// Tick returns the absences that became true until now, ordered by group.
func (w *Watch) Tick(now time.Time) []Fired {
	now = w.tell(now)
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
		// A group that is absent and told is as good as one that was never there.
		if w.keyed {
			delete(w.groups, key)
		}
	}
	slices.SortFunc(fired, func(a, b Fired) int { return strings.Compare(string(a.Key), string(b.Key)) })
	return fired
}
