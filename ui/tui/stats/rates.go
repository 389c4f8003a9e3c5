// Package stats shows the numbers of the run: rates with sparklines, counters, lag.
package stats

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

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

// Env is what the numbers need.
type Env struct {
	*cells.Env
	Screen  Screen
	Snap    *host.Snapshot
	Measure func() host.Stats
	Memory  func() uint64 // bytes that the process has of the system
}

// Rates are the numbers of the run as the screen shows them: asked for at most
// once a second.
type Rates struct {
	host.Stats
	At     time.Time // when they were asked for
	Memory uint64    // bytes that the process has of the system
	env    *Env
	busy   bool // they are being asked for
}

// New returns rates without numbers.
func New(env *Env) Rates { return Rates{env: env} }

// unfocusedInterval is how often they are asked for while the screen has no focus.
const unfocusedInterval = 5 * time.Second

// Work asks for the numbers in the background when a second went by; without the
// focus, five.
func (r *Rates) Work(focused bool) tea.Cmd {
	now, every := r.env.Clock(), time.Second
	if !focused {
		every = unfocusedInterval
	}
	if r.busy || !r.At.IsZero() && now.Sub(r.At) < every {
		return nil
	}
	r.busy = true
	return r.env.Screen.Do(func(context.Context) tea.Msg {
		stats, memory := r.env.Measure(), r.env.Memory()
		return widget.Then(func() tea.Cmd {
			r.busy = false
			r.Take(stats, memory, now)
			return nil
		})
	})
}

// Take takes the numbers as they were at a moment.
func (r *Rates) Take(stats host.Stats, memory uint64, at time.Time) {
	r.Stats, r.At, r.Memory = stats, at, memory
	if d, ok := r.env.Screen.Shown().(*dialog); ok {
		d.load()
	}
}

// Open shows all numbers, and reads them again.
func (r *Rates) Open() tea.Cmd {
	d := &dialog{rates: r}
	if !r.At.IsZero() {
		d.load()
	}
	r.env.Screen.Show(d)
	r.At = time.Time{}
	return r.Work(true)
}

// headerSeconds is how many seconds the header draws.
const headerSeconds = 12

// Head tells the rate of everything, with its course where there is room.
func (r *Rates) Head(course bool) string {
	seconds := r.Total.Seconds[:]
	if cells.Highest(cells.Recent(seconds, headerSeconds)) == 0 {
		return ""
	}
	words := "  " + cells.Rate(cells.PerSecond(seconds))
	if course {
		words += " " + r.env.Glyphs.Spark(cells.Recent(seconds, headerSeconds))
	}
	return words
}

// RecentCounts returns how many events of a subscription came in each of the last n seconds,
// the newest last; nil if none came.
func (r *Rates) RecentCounts(id event.SubID, n int) []uint32 {
	rate, ok := r.BySub[id]
	if !ok {
		return nil
	}
	counts := cells.Recent(rate.Seconds[:], n)
	if cells.Highest(counts) == 0 {
		return nil
	}
	return counts
}
