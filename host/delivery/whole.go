package delivery

import (
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// arrivals is how many deliveries by webhook are looked back on: those that a
// server has under way at once.
const arrivals = 64

// whole is the moment up to which nothing of a subscription is missing, as far as
// that can be shown. A sign of life alone does not show it: what is replayed after
// an absence may be cut by the loss of the history, and then all is missing since
// the newest event that came, and not since it came.
type whole struct {
	mu sync.Mutex
	at time.Time

	late *late // of webhooks; nil before the first delivery
}

// late is what is remembered of deliveries that may have overtaken others: when the
// events occurred that were delivered last, the positions that came with them, and
// how many of each there were.
type late struct {
	newest    [arrivals]time.Time
	positions [arrivals]trust.Text
	events    int
	places    int
}

// till returns the moment, zero if nobody can tell.
func (w *whole) till() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

// reset takes over what is stored: what came after it is lost, except that
// deliveries by webhook come at any time.
func (w *whole) reset(stored time.Time, mode event.Mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if mode != event.ModeWebhook || stored.After(w.at) {
		w.at = stored
	}
}

// to moves the moment on.
func (w *whole) to(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.After(w.at) {
		w.at = at.UTC()
	}
}

// delivered notes an event by webhook. Deliveries overtake each other: when the
// server tells a position that it did not tell before, one of the events that came
// shortly before stands behind it; which one is not known. The first positions
// after a start show nothing: what moved them may have come before it.
func (w *whole) delivered(at time.Time, position trust.Text) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.late == nil {
		w.late = new(late)
	}
	l := w.late
	l.newest[l.events%arrivals] = at.UTC()
	l.events++
	if slices.Contains(l.positions[:min(l.places, arrivals)], position) {
		return
	}
	l.positions[l.places%arrivals] = position
	if l.places++; l.places < 3 {
		return
	}
	first := at.UTC()
	for _, t := range l.newest[:min(l.events, arrivals)] {
		if t.Before(first) {
			first = t
		}
	}
	if first.After(w.at) {
		w.at = first
	}
}

// since returns where a gap begins that is told now, when seen was the last sign
// of life: zero while nothing shows how far back what came is whole, as behind a
// position that the operator gave.
func (in *ingest) since(seen time.Time) time.Time {
	if at := in.whole.till(); at.Before(seen) {
		return at
	}
	return seen
}

// occurred returns when an event occurred, as far as its server can be believed.
func occurred(timestamp trust.Text, now time.Time) time.Time {
	if at, ok := wire.ParseTime(timestamp); ok && at.Before(now) {
		return at
	}
	return now
}
