package host

import (
	"maps"
	"slices"
	"time"
)

// How often the host compares the clock with its timer, and how far they may differ.
const (
	wakeEvery = 2 * time.Second
	wakeSlack = 3 * time.Second
)

// watchClock has every subscription prove its continuity after the clock was set, the machine
// slept, or the process was stopped: events that servers sent meanwhile may be lost.
func (subs *subscriptions) watchClock() {
	timer := time.NewTicker(wakeEvery)
	defer timer.Stop()
	last, clock := time.Now(), subs.opts.Now().Round(0)
	for {
		select {
		case <-timer.C:
		case <-subs.ctx.Done():
			return
		}
		now, wall := time.Now(), subs.opts.Now().Round(0)
		if late, set := now.Sub(last)-wakeEvery, wall.Sub(clock)-wakeEvery; late > wakeSlack || set.Abs() > wakeSlack {
			subs.opts.Log.Info("the process was suspended or the clock was set; every subscription proves its continuity", "late", late, "clock", set)
			subs.mu.Lock()
			runs := slices.Collect(maps.Values(subs.runs))
			subs.mu.Unlock()
			for _, l := range runs {
				l.runner.Doubt()
			}
		}
		last, clock = now, wall
	}
}
