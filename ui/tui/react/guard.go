package react

import (
	"slices"
	"time"
)

// Times of the guard.
const (
	// Grace is the time before an approving key press in which the screen must not change and no
	// other key may be pressed.
	Grace = 400 * time.Millisecond
	// Cooldown is the time after an approval in which no other one is accepted: an operator who
	// presses the key twice must not approve what is shown next.
	Cooldown = 2 * time.Second
	// TickEvery is the time between two ticks of the guard.
	TickEvery = 100 * time.Millisecond
	// suspendedAfter is the time between two ticks from which the program may have been suspended:
	// keys typed meanwhile were typed before the screen could be read.
	suspendedAfter = 3 * TickEvery
)

// guard decides whether a key press may approve what is on the screen. It may if all lines were
// visible, and for [Grace] nothing has changed and nothing was pressed, pasted, clicked or focused.
// Every such event restarts that time, so that keys that were typed ahead or fast approve nothing.
type guard struct {
	what         string // what would be approved, with all text that is shown of it; "": nothing
	seen         []bool // the lines that were visible
	from         int    // the visible lines of the last frame
	to           int
	drawn        bool      // by the frame that is being drawn
	quietSince   time.Time // since when nothing happened
	lastTick     time.Time // the last one
	blockedUntil time.Time // no key approves before
	ready        bool      // the next key may approve
	open         bool      // the key that is being handled may approve
}

// disturb restarts [Grace] after an event of the operator or the terminal.
func (g *guard) disturb(now time.Time) { g.quietSince, g.ready, g.open = now, false, false }

// key notes a key press. The key may approve if the guard was ready before it and it is not an
// automatic repeat.
func (g *guard) key(now time.Time, repeated bool) {
	open := g.ready && !repeated
	g.disturb(now)
	g.open = open
}

// markUsed notes an approval and starts [Cooldown].
func (g *guard) markUsed(now time.Time) {
	*g = guard{lastTick: g.lastTick, blockedUntil: now.Add(Cooldown)}
}

// beginFrame begins a frame. It is followed by shows, if the frame shows something to approve, and by
// endFrame.
func (g *guard) beginFrame() { g.drawn = false }

// shows notes that a frame shows the lines from up to, but not including, to of what can be approved.
func (g *guard) shows(now time.Time, what string, lines, from, to int) {
	g.drawn = true
	if g.what != what || len(g.seen) != lines {
		g.what, g.seen = what, make([]bool, lines)
		g.disturb(now)
	}
	if to = min(to, lines); from != g.from || to != g.to {
		g.from, g.to = from, to
		g.disturb(now)
	}
}

// endFrame ends a frame.
func (g *guard) endFrame() {
	if !g.drawn && g.what != "" {
		*g = guard{lastTick: g.lastTick, blockedUntil: g.blockedUntil}
	}
}

// ticked is called every [TickEvery]. It reports whether the guard has become ready.
func (g *guard) ticked(now time.Time) bool {
	slept := now.Sub(g.lastTick) > suspendedAfter
	g.lastTick = now
	switch {
	case g.what == "" || g.ready:
		return false
	case slept:
		g.disturb(now)
		return false
	}
	if now.Sub(g.quietSince) >= TickEvery {
		for i := g.from; i < g.to; i++ {
			g.seen[i] = true
		}
	}
	g.ready = now.Sub(g.quietSince) >= Grace && !now.Before(g.blockedUntil) && g.unseen() == 0
	return g.ready
}

// waits reports whether the guard needs ticks.
func (g *guard) waits() bool { return g.what != "" && !g.ready }

// unseen returns the number of lines that were not visible yet.
func (g *guard) unseen() int {
	n := 0
	for _, s := range g.seen {
		if !s {
			n++
		}
	}
	return n
}

// below reports whether lines after the visible ones were not visible yet.
func (g *guard) below() bool { return g.to < len(g.seen) && slices.Contains(g.seen[g.to:], false) }

// above reports whether lines before the visible ones were not visible yet.
func (g *guard) above() bool { return slices.Contains(g.seen[:min(g.from, len(g.seen))], false) }
