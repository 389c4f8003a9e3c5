// Package stats shows the numbers of the run: rates with their course, counters, lag.
package stats

import (
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Screen is what shows the numbers.
type Screen interface {
	widget.Screen
	ShowEvents(n query.Node) // shows what arrives of a part of the tree
}

// Env is what the numbers are made from.
type Env struct {
	*cells.Env
	Screen  Screen
	Snap    *host.Snapshot
	Measure func() host.Stats
	Memory  func() uint64 // bytes that the process has of the system
}

// Rates are the numbers of the run as the screen shows them: asked for at most
// once a second, and only while somebody looks.
type Rates struct {
	host.Stats
	At     time.Time // when they were asked for
	Memory uint64    // bytes that the process has of the system
	env    *Env
}

// New has no numbers yet.
func New(env *Env) Rates { return Rates{env: env} }

// Measure asks for the numbers when a second went by, if they are seen.
func (r *Rates) Measure(seen bool) {
	now := r.env.Clock()
	if !r.At.IsZero() && (!seen || now.Sub(r.At) < time.Second) {
		return
	}
	r.Stats, r.At, r.Memory = r.env.Measure(), now, r.env.Memory()
	if d, ok := r.env.Screen.Shown().(*dialog); ok {
		d.load()
	}
}

// Open shows all numbers.
func (r *Rates) Open() {
	r.At = time.Time{}
	r.env.Screen.Show(&dialog{rates: r})
	r.Measure(true)
}

// headSpark is how many seconds the header draws.
const headSpark = 12

// Head tells the rate of everything, with its course where there is room.
func (r *Rates) Head(course bool) string {
	seconds := r.Total.Seconds[:]
	if cells.Highest(cells.Recent(seconds, headSpark)) == 0 {
		return ""
	}
	words := "  " + cells.Rate(cells.PerSecond(seconds))
	if course {
		words += " " + r.env.Glyphs.Spark(cells.Recent(seconds, headSpark))
	}
	return words
}

// Course draws the course of a subscription's rate, if it has one and there is
// room for it.
func (r *Rates) Course(id event.SubID, room int) string {
	const least, most = 6, 12
	rate, ok := r.BySub[id]
	if !ok || room <= least {
		return ""
	}
	counts := cells.Recent(rate.Seconds[:], min(most, room-1))
	if cells.Highest(counts) == 0 {
		return ""
	}
	return r.env.Glyphs.Spark(counts) + " "
}
