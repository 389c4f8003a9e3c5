package engine

import (
	"maps"
	"slices"
	"sync"

	"eventdeck/host/react"
)

// stopSwitch is checked right before each act begins. Any goroutine may press it; it takes
// effect at once, even while the deciding goroutine is busy.
type stopSwitch struct {
	mu     sync.Mutex
	stop   bool                          // the operator called Stop
	byFile bool                          // the stop file is there
	held   bool                          // acts may be missing in the journal
	live   map[react.RunID]react.Attempt // attempts that have begun and not ended
}

// blocks reports whether nothing may begin.
func (s *stopSwitch) blocks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop || s.byFile || s.held
}

// enter reports whether an attempt may begin, and adds it to the live ones until leave.
func (s *stopSwitch) enter(id react.RunID, a react.Attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop || s.byFile || s.held {
		return false
	}
	s.live[id] = a
	return true
}

// adopt adds an attempt that an earlier process began.
func (s *stopSwitch) adopt(id react.RunID, a react.Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[id] = a
}

func (s *stopSwitch) leave(id react.RunID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, id)
}

// press keeps attempts from beginning; with kill it also kills the live ones.
func (s *stopSwitch) press(kill bool) { s.set(&s.stop, true, kill) }

// setFile sets whether there is a stop file. If so, live attempts are killed.
func (s *stopSwitch) setFile(there bool) { s.set(&s.byFile, there, there) }

// set changes a reason to stop; with kill it kills the live attempts.
func (s *stopSwitch) set(reason *bool, to, kill bool) {
	s.mu.Lock()
	*reason = to
	var live []react.Attempt
	if kill {
		live = slices.Collect(maps.Values(s.live))
	}
	s.mu.Unlock()
	for _, a := range live {
		a.Kill()
	}
}

// release lets attempts begin again, unless there is a stop file.
func (s *stopSwitch) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop, s.held = false, false
}

// stopped reports whether the operator stopped reactions, by Stop or by the file.
func (s *stopSwitch) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop || s.byFile
}
