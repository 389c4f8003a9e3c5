package attach

import "sync"

// readers are those that wait for a change of the state, each with a flag: what it
// missed is one change. The zero value has none. It has a lock of its own, and calls nothing.
type readers struct {
	mu    sync.Mutex
	flags map[chan struct{}]struct{}
}

// add returns the flag of a new reader, which is raised, and how to remove it.
func (r *readers) add() (changed <-chan struct{}, remove func()) {
	flag := make(chan struct{}, 1)
	flag <- struct{}{}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flags == nil {
		r.flags = map[chan struct{}]struct{}{}
	}
	r.flags[flag] = struct{}{}
	return flag, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.flags, flag)
	}
}

// raise raises every flag.
func (r *readers) raise() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for flag := range r.flags {
		select {
		case flag <- struct{}{}:
		default:
		}
	}
}
