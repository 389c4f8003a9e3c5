//go:build linux

package main

import (
	"sync"
	"time"
)

// watch records when events became visible.
type watch struct {
	clock *clock
	mu    sync.Mutex
	last  int // newest visible event
	took  []time.Duration
}

func newWatch(c *clock) *watch { return &watch{clock: c} }

// seen records that event n is visible now, and that all before it are visible or were skipped.
func (w *watch) seen(n int) {
	now := time.Since(w.clock.began)
	w.mu.Lock()
	defer w.mu.Unlock()
	for ; w.last < n; w.last++ {
		at, ok := w.clock.when(w.last + 1)
		if !ok {
			return
		}
		w.took = append(w.took, now-at)
	}
}

func (w *watch) newest() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

func (w *watch) delays() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.took
}
