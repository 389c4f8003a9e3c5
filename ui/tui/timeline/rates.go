// Shows the statistics of the run: rates with sparklines, counters, lag.

package timeline

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Rates has the statistics of the run, which are read at most once a second.
type Rates struct {
	host.Stats
	At   time.Time // when they were read
	env  *cells.Env
	busy bool // they are being read

	screen  widget.Screen
	snap    *host.Snapshot
	measure func() host.Stats
}

// NewRates returns rates without statistics, which measure reads in the background.
func NewRates(env *cells.Env, screen widget.Screen, snap *host.Snapshot, measure func() host.Stats) Rates {
	return Rates{env: env, screen: screen, snap: snap, measure: measure}
}

// unfocusedInterval is the time between two readings while the terminal has not the focus.
const unfocusedInterval = 5 * time.Second

// Work reads the statistics in the background if they are older than a second, or than
// unfocusedInterval. It returns nil otherwise.
func (r *Rates) Work(focused bool) tea.Cmd {
	now, every := r.env.Clock(), time.Second
	if !focused {
		every = unfocusedInterval
	}
	if r.busy || !r.At.IsZero() && now.Sub(r.At) < every {
		return nil
	}
	r.busy = true
	return r.screen.Do(func(context.Context) tea.Msg {
		stats := r.measure()
		return widget.Then(func() tea.Cmd {
			r.busy = false
			r.Take(stats, now)
			return nil
		})
	})
}

// Take stores the statistics of a time.
func (r *Rates) Take(stats host.Stats, at time.Time) {
	r.Stats, r.At = stats, at
	if d, ok := r.screen.Shown().(*dialog); ok {
		d.load()
	}
}

// Open shows all statistics, and reads them again.
func (r *Rates) Open() tea.Cmd {
	d := &dialog{rates: r}
	if !r.At.IsZero() {
		d.load()
	}
	r.screen.Show(d)
	r.At = time.Time{}
	return r.Work(true)
}

// headerSeconds is the number of seconds in the sparkline of the header.
const headerSeconds = 12

// Head returns the total rate for the header, with a sparkline on request; "" while nothing comes.
func (r *Rates) Head(sparkline bool) string {
	seconds := r.Total.Seconds[:]
	if cells.Highest(cells.Recent(seconds, headerSeconds)) == 0 {
		return ""
	}
	words := "  " + cells.Rate(cells.PerSecond(seconds))
	if sparkline {
		words += " " + r.env.Glyphs.Spark(cells.Recent(seconds, headerSeconds))
	}
	return words
}

// RecentCounts returns the number of events of a subscription in each of the last n seconds, the
// newest last; nil if there were none.
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
