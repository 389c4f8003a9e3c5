package react

import (
	"slices"
	"time"
)

// How long what is approved must have stood before a key counts.
const (
	// Grace is how long nothing may have changed and no key may have been pressed.
	Grace = 400 * time.Millisecond
	// Cooldown is how long after an approval no other one counts: a key that is pressed again,
	// as nothing seemed to happen, must not approve what came to stand there instead.
	Cooldown = 2 * time.Second
	// TickEvery is how often the guard wants to be told that time went by.
	TickEvery = 100 * time.Millisecond
	// late is the time between two beats from which the program may have slept: keys that
	// were typed meanwhile come before what is shown now was read.
	late = 3 * TickEvery
)

// guard decides whether a key may approve what is on the screen. It may once all lines of
// it have stood there, and nothing has changed and nothing was pressed, pasted, clicked or
// focused for [Grace]. Every such thing begins the time anew, so that keys which were typed
// before, or are typed fast, approve nothing.
type guard struct {
	what  string // what would be approved, with everything that is shown of it; "": nothing
	seen  []bool // its lines that have stood on the screen
	from  int    // the lines that the last frame shows
	to    int
	drawn bool // by the frame that is being made
	rest  time.Time
	beat  time.Time
	until time.Time // no key counts before
	ready bool
	open  bool // for the key that is being handled
}

// disturb takes that the operator or the terminal did something.
func (g *guard) disturb(now time.Time) { g.rest, g.ready, g.open = now, false, false }

// key takes a key press. The key itself may approve only if everything was at rest before
// it and it is not one that is held down.
func (g *guard) key(now time.Time, repeated bool) {
	open := g.ready && !repeated
	g.disturb(now)
	g.open = open
}

// spend takes that the key approved: nothing stands there any more, and for [Cooldown] nothing
// counts.
func (g *guard) spend(now time.Time) { *g = guard{beat: g.beat, until: now.Add(Cooldown)} }

// frame begins a frame; shows follows if the frame shows what can be approved, and then
// framed.
func (g *guard) frame() { g.drawn = false }

// shows takes that a frame shows some of the lines of what can be approved.
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

// framed ends a frame.
func (g *guard) framed() {
	if !g.drawn && g.what != "" {
		*g = guard{beat: g.beat, until: g.until}
	}
}

// tick takes that time went by. It reports whether that made the guard ready.
func (g *guard) tick(now time.Time) bool {
	slept := now.Sub(g.beat) > late
	g.beat = now
	switch {
	case g.what == "" || g.ready:
		return false
	case slept:
		g.disturb(now)
		return false
	}
	if now.Sub(g.rest) >= TickEvery {
		for i := g.from; i < g.to; i++ {
			g.seen[i] = true
		}
	}
	g.ready = now.Sub(g.rest) >= Grace && !now.Before(g.until) && g.unseen() == 0
	return g.ready
}

// waits tells whether the guard wants to be told that time goes by.
func (g *guard) waits() bool { return g.what != "" && !g.ready }

// unseen is how many lines have not stood on the screen yet.
func (g *guard) unseen() int {
	n := 0
	for _, s := range g.seen {
		if !s {
			n++
		}
	}
	return n
}

// below and above tell where lines are that were not on the screen.
func (g *guard) below() bool { return g.to < len(g.seen) && slices.Contains(g.seen[g.to:], false) }
func (g *guard) above() bool { return slices.Contains(g.seen[:min(g.from, len(g.seen))], false) }
