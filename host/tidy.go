package host

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Opening many subscriptions at once takes several times the memory that they need
// when they are open, and while nothing happens no collection runs.
const (
	tidyFrom  = 50              // subscriptions that were opened
	tidyAfter = 3 * time.Second // in which none was: what looks at them has settled too
)

// tidy gives memory back to the system once when many subscriptions were opened.
type tidy struct {
	mu      sync.Mutex
	opening int // not confirmed or refused yet
	opened  int // since memory was given back
	timer   *time.Timer
	over    bool
}

// begin notes that a subscription is being opened; end, that it is open, or not.
func (t *tidy) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening++
	t.rest()
}

func (t *tidy) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.opening--
	t.opened++
	if t.opening == 0 && t.opened >= tidyFrom && !t.over {
		t.timer = time.AfterFunc(tidyAfter, t.free)
	}
}

func (t *tidy) rest() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}

func (t *tidy) free() {
	t.mu.Lock()
	t.opened = 0
	t.mu.Unlock()
	for range 3 { // pools give back what they hold with the second, stacks half of themselves with each
		runtime.GC()
	}
	debug.FreeOSMemory()
}

// close ends the waiting.
func (t *tidy) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.rest()
}
