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
	began time.Time // of the process; set before anything is delivered
	mu    sync.Mutex
	at    time.Time

	late *late // of webhooks; nil before the first delivery
}

// late is what is remembered of deliveries that may have overtaken others: when the
// events occurred that were delivered last, and the positions that came with them.
type late struct {
	newest    [arrivals]time.Time
	positions [arrivals]trust.Text
	events    int // that were delivered
	places    int // positions that were noted
	fresh     int // of these, told by events of this run
}

// till returns the moment, zero if it is not known.
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

// told takes note that gaps are in the log: later ones begin behind them.
func (w *whole) told(gaps []*event.Gap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, gap := range gaps {
		w.at = gap.Continue(w.at)
	}
}

// delivered notes an event by webhook that is stored. position is what came with it, nil if that is of
// no account. Deliveries overtake each other. A position stands behind an event up to
// which all were acknowledged; which one that is, is not known. But each further position
// that is told has passed at least one event more of those that were delivered since the
// first of them. So if n were delivered and the position has moved m times, it stands
// behind at least m of them, and all is there up to the m-th oldest.
//
// An event that occurred before the start may tell a position that was moved by what was
// delivered then: it shows nothing.
func (w *whole) delivered(at time.Time, position *event.Cursor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.late == nil {
		w.late = new(late)
	}
	l := w.late
	l.newest[l.events%arrivals] = at.UTC()
	l.events++
	if position == nil || slices.Contains(l.positions[:min(l.places, arrivals)], position.Text) {
		return
	}
	l.positions[l.places%arrivals] = position.Text
	l.places++
	if at.Before(w.began) {
		return
	}
	l.fresh++
	moves := l.fresh - 1
	if moves == 0 {
		return
	}
	newest := l.newest
	times := newest[:min(l.events, arrivals)]
	slices.SortFunc(times, time.Time.Compare)
	if passed := times[max(0, len(times)-1-(l.events-moves))]; passed.After(w.at) {
		w.at = passed
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
