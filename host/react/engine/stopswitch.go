package engine

import (
	"maps"
	"slices"
	"sync"

	"eventdeck/host/react"
)

// stopSwitch is asked right before each act begins. Any goroutine may press it; that counts at
// once, and not when the deciding goroutine comes to it.
type stopSwitch struct {
	mu     sync.Mutex
	stop   bool                          // the operator stopped
	byFile bool                          // the stop file is there
	held   bool                          // the operator has not said go yet
	live   map[react.RunID]react.Attempt // what began and is not over
}

// blocks reports whether nothing may begin.
func (s *stopSwitch) blocks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop || s.byFile || s.held
}

// enter reports whether the attempt may begin, and remembers it until leave.
func (s *stopSwitch) enter(id react.RunID, a react.Attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop || s.byFile || s.held {
		return false
	}
	s.live[id] = a
	return true
}

// adopt remembers an attempt that was begun by an earlier process.
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

// press lets nothing begin any more; with kill it ends what began.
func (s *stopSwitch) press(kill bool) { s.set(&s.stop, true, kill) }

// setFile notes whether there is a stop file. While there is one, what began is ended.
func (s *stopSwitch) setFile(there bool) { s.set(&s.byFile, there, there) }

// set changes a reason to stop, and with kill ends what began.
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

// release lets acts begin again, unless there is a stop file.
func (s *stopSwitch) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop, s.held = false, false
}

// stopped reports whether the operator stopped, by hand or by the file.
func (s *stopSwitch) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop || s.byFile
}
