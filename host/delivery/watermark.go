package delivery

import (
	"slices"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// recentKept is how many of the newest webhook deliveries are remembered: about as many as a server
// has under way at once.
const recentKept = 64

// watermark is the moment up to which nothing of a subscription is known to be missing
// ([event.Subscription.CompleteUntil]). It follows the times of events, not the times at
// which something came: when a server loses its history in the middle of a replay, all is
// missing since the newest event that was replayed.
type watermark struct {
	began  time.Time // when this process began; set before anything is delivered
	mu     sync.Mutex
	moment time.Time

	recent *recentDeliveries // webhook; nil before the first delivery
}

// recentDeliveries are the newest webhook deliveries, which may have overtaken each other.
// Its arrays are rings.
type recentDeliveries struct {
	times          [recentKept]time.Time  // when the events occurred
	positions      [recentKept]trust.Text // distinct cursors that came with them
	eventsNoted    int                    // events so far
	positionsNoted int                    // positions so far
	fresh          int                    // of these, with events that occurred in this run
}

// at returns the watermark; zero: not known.
func (w *watermark) at() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.moment
}

// reset goes back to the stored moment when an attempt begins. In webhook mode it does not
// go back: deliveries come, and are stored, between attempts too.
func (w *watermark) reset(stored time.Time, mode event.Mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if mode != event.ModeWebhook || stored.After(w.moment) {
		w.moment = stored
	}
}

// advance moves the watermark forward, never back.
func (w *watermark) advance(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.After(w.moment) {
		w.moment = at.UTC()
	}
}

// passGaps moves the watermark over gaps that are in the log, so that a later gap begins
// behind them.
func (w *watermark) passGaps(gaps []*event.Gap) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, gap := range gaps {
		w.moment = gap.Continue(w.moment)
	}
}

// noteDelivery notes an event that a webhook delivered and that is stored, with the cursor
// that came with it (nil: none that counts), and advances the watermark.
//
// Deliveries overtake each other, and a cursor says only that the server has seen all events
// up to some event acknowledged, not which event that is. But each new cursor lies behind at
// least one more event than the cursor before it. So after n events and m moves of the
// cursor, at least m of the n lie before the cursor, and nothing is missing up to the m-th
// oldest of them.
//
// The cursor of an event that occurred before this run may have been moved by deliveries of
// an earlier run, and is not counted.
func (w *watermark) noteDelivery(at time.Time, position *event.Cursor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.recent == nil {
		w.recent = new(recentDeliveries)
	}
	l := w.recent
	l.times[l.eventsNoted%recentKept] = at.UTC()
	l.eventsNoted++
	if position == nil || slices.Contains(l.positions[:min(l.positionsNoted, recentKept)], position.Text) {
		return
	}
	l.positions[l.positionsNoted%recentKept] = position.Text
	l.positionsNoted++
	if at.Before(w.began) {
		return
	}
	l.fresh++
	moves := l.fresh - 1
	if moves == 0 {
		return
	}
	times := slices.SortedFunc(slices.Values(l.times[:min(l.eventsNoted, recentKept)]), time.Time.Compare)
	if passed := times[max(0, len(times)-1-(l.eventsNoted-moves))]; passed.After(w.moment) {
		w.moment = passed
	}
}

// gapStart returns the beginning of a gap that is recorded now: the watermark, or the last
// sign of life where that is earlier. It is zero while the watermark is not known, as after
// the operator set a position.
func (in *ingest) gapStart(seen time.Time) time.Time {
	if at := in.watermark.at(); at.Before(seen) {
		return at
	}
	return seen
}

// occurredAt returns when an event occurred by its timestamp, or now where that is missing,
// unreadable or in the future.
func occurredAt(timestamp trust.Text, now time.Time) time.Time {
	if at, ok := timestamp.Time(); ok && at.Before(now) {
		return at
	}
	return now
}
