package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
)

// Feed is the history of one event type. Its events have numbers from 1; what an
// event says follows from its number.
type Feed struct {
	Name string
	// Mode is in which way the host subscribes to it.
	Mode event.Mode
	// Cursorless: the server replays nothing and gives no cursor.
	Cursorless bool
	// CloseAfter is how long the streams of [CloseEvery] last.
	CloseAfter time.Duration

	modes       []event.Mode // that are offered
	deviations  []Deviation
	undisturbed bool // nothing but the host itself fails

	mu           sync.Mutex
	times        []time.Time
	run          int          // cursors of another run mean nothing
	oldest       int          // the first event that is still held
	gone         map[int]bool // cannot be replayed for this host any more
	refused      int          // position that was refused; -1: none
	skipped      map[int]bool // passed over by an opening or a delivery that was given up
	secondPathAt time.Time    // when a second path was asked for while one lived
	denied       bool         // the last poll was refused: the host goes on without
	quiet        bool         // the loss of the last history is not told to streams
	changed      chan struct{}
}

func newFeed(name string, mode event.Mode, cursorless bool) *Feed {
	return &Feed{
		Name: name, Mode: mode, Cursorless: cursorless, modes: []event.Mode{mode},
		run: 1, oldest: 1, refused: -1, gone: map[int]bool{}, skipped: map[int]bool{}, changed: make(chan struct{}),
	}
}

// Offer adds a mode that the type is delivered in. Call it before the server runs.
func (f *Feed) Offer(m event.Mode) { f.modes = append(f.modes, m) }

// Add adds an event that happens now.
func (f *Feed) Add() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = append(f.times, time.Now())
	if f.Cursorless {
		f.gone[len(f.times)] = true // there is no position to ask from
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// Lose forgets the history, as in a restart without a disk. A quiet loss is not
// told to streams that ask for a position of before.
func (f *Feed) Lose(quiet bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run++
	f.quiet = quiet
	f.forget(len(f.times))
}

// Retain forgets all but the newest events.
func (f *Feed) Retain(newest int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(len(f.times) - newest)
}

// forget drops what was up to n. The lock is held.
func (f *Feed) forget(n int) {
	for ; f.oldest <= n; f.oldest++ {
		f.gone[f.oldest] = true
	}
}

// Last returns the newest event's number.
func (f *Feed) Last() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.times)
}

// At returns when an event happened.
func (f *Feed) At(n int) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.times[n-1]
}

// Gone reports whether the server can not replay an event any more.
func (f *Feed) Gone(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone[n]
}

// skip notes that the events after from, up to to, do not come on the path or stream that the
// server should send them on. recoverable: the host can get them by another way.
func (f *Feed) skip(from, to int, recoverable bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	recoverable = recoverable && !f.denied
	for n := from + 1; n <= to; n++ {
		f.skipped[n] = true
		if !recoverable {
			f.gone[n] = true
		}
	}
}

// loseSkipped notes that the host can no longer get what was skipped until now.
func (f *Feed) loseSkipped() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range f.skipped {
		f.gone[n] = true
	}
}

// deny notes whether the last poll was refused.
func (f *Feed) deny(refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.denied = refused
}

// noteSecondPath notes that a second path was made.
func (f *Feed) noteSecondPath() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.secondPathAt = time.Now()
}

// maySecondPath reports whether the host would ask for a second path.
func (f *Feed) maySecondPath() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.secondPathAt.IsZero() || time.Since(f.secondPathAt) > renewEvery
}

// Skipped reports whether an event was passed over, on at least one path.
func (f *Feed) Skipped(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skipped[n]
}

// refuse says that a position is not taken: the host will go on from now.
func (f *Feed) refuse(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = at
}

// startAt returns where a request with a cursor starts, nil meaning from now.
func (f *Feed) startAt(cursor *string) (at int, truncated bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if cursor == nil || f.Cursorless {
		if f.refused >= 0 {
			for n := f.refused + 1; n <= len(f.times); n++ {
				f.gone[n] = true
			}
		}
		return len(f.times), false
	}
	f.refused = -1
	run, at := f.parseCursor(*cursor)
	if run != f.run || at+1 < f.oldest {
		return f.oldest - 1, true
	}
	return at, false
}

func (f *Feed) parseCursor(cursor string) (run, at int) {
	left, right, _ := strings.Cut(cursor, ".")
	run, err := strconv.Atoi(left)
	if err != nil {
		return 0, 0
	}
	if at, err = strconv.Atoi(right); err != nil {
		return 0, 0
	}
	return run, at
}

// oldestFrom returns a position, moved past what was forgotten.
func (f *Feed) oldestFrom(at int) (now int, moved bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at+1 < f.oldest {
		return f.oldest - 1, true
	}
	return at, false
}

func (f *Feed) isQuiet() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.quiet
}

func (f *Feed) wait() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// lastBefore returns the number of the newest event that had happened at a moment.
func (f *Feed) lastBefore(at time.Time) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, _ := slices.BinarySearchFunc(f.times, at, time.Time.Compare)
	return n
}

// cursor returns the position behind event n; nil for a type without.
func (f *Feed) cursor(n int) any {
	if f.Cursorless {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("%d.%d", f.run, n)
}

func (f *Feed) id(n int) string { return fmt.Sprintf("%s-%d", f.Name, n) }

func (f *Feed) data(n int) string {
	return fmt.Sprintf(`{"n":%d,"text":"%s"}`, n, strings.Repeat(string(rune('a'+n%26)), 20+n*7%200))
}

// occurrence returns event n with the position that it leads to.
func (f *Feed) occurrence(n, position int) map[string]any {
	return map[string]any{
		"eventId": f.id(n), "name": f.Name, "timestamp": f.At(n).UTC().Format(time.RFC3339Nano),
		"cursor": f.cursor(position), "data": json.RawMessage(f.data(n)),
	}
}

// NewFeed returns a feed to which the host subscribes in the first of the modes that it
// offers.
func NewFeed(name string, mode event.Mode, others ...event.Mode) *Feed {
	f := newFeed(name, mode, false)
	f.modes = append(f.modes, others...)
	return f
}
