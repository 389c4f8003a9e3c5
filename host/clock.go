package host

import (
	"time"

	"eventdeck/host/delivery"
)

// How often the host compares the clock with its timer, and how far they may differ.
const (
	wakeEvery = 2 * time.Second
	wakeSlack = 3 * time.Second
)

// watchClock has every subscription prove its continuity after the clock was set, the machine
// slept, or the process was stopped: events that servers sent meanwhile may be lost.
func (h *Host) watchClock() {
	timer := time.NewTicker(wakeEvery)
	defer timer.Stop()
	last, clock := time.Now(), h.opts.Now().Round(0)
	for {
		select {
		case <-timer.C:
		case <-h.ctx.Done():
			return
		}
		now, wall := time.Now(), h.opts.Now().Round(0)
		if late, set := now.Sub(last)-wakeEvery, wall.Sub(clock)-wakeEvery; late > wakeSlack || set.Abs() > wakeSlack {
			h.opts.Log.Info("the process was suspended or the clock was set; every subscription proves its continuity", "late", late, "clock", set)
			for _, r := range h.runners() {
				r.Doubt()
			}
		}
		last, clock = now, wall
	}
}

func (h *Host) runners() (all []*delivery.Runner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.runs {
		all = append(all, l.runner)
	}
	return all
}
