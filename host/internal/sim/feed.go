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

// Feed is the history of one event type. Its events have numbers from 1, from which their
// data follows.
type Feed struct {
	Name string
	// Mode is the mode in which the host subscribes.
	Mode event.Mode
	// Cursorless says that the server replays nothing and has no cursors.
	Cursorless bool
	// CloseAfter is how long the streams of [CloseEvery] last.
	CloseAfter time.Duration

	modes       []event.Mode // the offered modes
	deviations  []Deviation
	undisturbed bool // only the host itself fails

	mu           sync.Mutex
	times        []time.Time
	run          int          // cursors of another run are invalid
	oldest       int          // the oldest event that is still held
	gone         map[int]bool // can no longer be replayed for this host
	refused      int          // the refused position; -1: none
	skipped      map[int]bool // skipped by an opening, or given up
	secondPathAt time.Time    // when a second path was requested beside a live one
	denied       bool         // the last poll was refused: the host continues without it
	quiet        bool         // the last loss of history is not reported to streams
	leftOut      int          // of [Filtered]: events that the filter has left out
	changed      chan struct{}
}

func newFeed(name string, mode event.Mode, cursorless bool) *Feed {
	return &Feed{
		Name: name, Mode: mode, Cursorless: cursorless, modes: []event.Mode{mode},
		run: 1, oldest: 1, refused: -1, gone: map[int]bool{}, skipped: map[int]bool{}, changed: make(chan struct{}),
	}
}

// Offer adds a delivery mode of the type. Call it before the server runs.
func (f *Feed) Offer(m event.Mode) { f.modes = append(f.modes, m) }

// Add adds an event at the current time.
func (f *Feed) Add() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.times = append(f.times, time.Now())
	if f.Cursorless {
		f.gone[len(f.times)] = true // there is no position to resume from
	}
	close(f.changed)
	f.changed = make(chan struct{})
}

// Lose drops the history, like a restart without a disk. A quiet loss is not reported to
// streams that request an earlier position.
func (f *Feed) Lose(quiet bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run++
	f.quiet = quiet
	f.forget(len(f.times))
}

// Retain drops all but the newest events.
func (f *Feed) Retain(newest int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(len(f.times) - newest)
}

// forget drops the events up to n. The lock is held.
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

// Gone reports whether the server can no longer replay an event.
func (f *Feed) Gone(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gone[n]
}

// skip records that the events after from, up to to, are not sent on the path or stream on
// which they should be. recoverable says that the host can get them in another way.
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

// loseSkipped records that the host can no longer get the events skipped so far.
func (f *Feed) loseSkipped() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := range f.skipped {
		f.gone[n] = true
	}
}

// deny records whether the last poll was refused.
func (f *Feed) deny(refused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.denied = refused
}

// noteSecondPath records that a second path was made.
func (f *Feed) noteSecondPath() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.secondPathAt = time.Now()
}

// maySecondPath reports whether the host would request a second path.
func (f *Feed) maySecondPath() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.secondPathAt.IsZero() || time.Since(f.secondPathAt) > renewEvery
}

// Skipped reports whether an event was skipped on at least one path.
func (f *Feed) Skipped(n int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.skipped[n]
}

// refuse records that a position was refused: the host will continue from now.
func (f *Feed) refuse(at int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = at
}

// startAt returns where a request with a cursor starts; nil means from now.
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
	cursor, _, _ = strings.Cut(cursor, leftOut)
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

// oldestFrom returns a position, moved past dropped events.
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

// lastBefore returns the number of the newest event at a time.
func (f *Feed) lastBefore(at time.Time) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, _ := slices.BinarySearchFunc(f.times, at, time.Time.Compare)
	return n
}

// cursor returns the cursor after event n; nil for a type without cursors.
func (f *Feed) cursor(n int) any {
	if f.Cursorless {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return fmt.Sprintf("%d.%d", f.run, n)
}

// leftOut separates the position in a cursor from the number of events that a filter left out.
const leftOut = "+"

// answered returns the cursor of an answer to a webhook subscribe whose watermark is event n.
func (f *Feed) answered(n int) any {
	at := f.cursor(n)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.Deviates(Filtered) || n < len(f.times) {
		return at
	}
	f.leftOut++
	return fmt.Sprint(at, leftOut, f.leftOut)
}

func (f *Feed) id(n int) string { return fmt.Sprintf("%s-%d", f.Name, n) }

func (f *Feed) data(n int) string {
	return fmt.Sprintf(`{"n":%d,"text":"%s"}`, n, strings.Repeat(string(rune('a'+n%26)), 20+n*7%200))
}

// occurrence returns event n with a cursor for position.
func (f *Feed) occurrence(n, position int) map[string]any {
	return map[string]any{
		"eventId": f.id(n), "name": f.Name, "timestamp": f.At(n).UTC().Format(time.RFC3339Nano),
		"cursor": f.cursor(position), "data": json.RawMessage(f.data(n)),
	}
}

// NewFeed returns a feed that offers the modes. The host subscribes in the first one.
func NewFeed(name string, mode event.Mode, others ...event.Mode) *Feed {
	f := newFeed(name, mode, false)
	f.modes = append(f.modes, others...)
	return f
}
