package attach

import "sync"

// readers notifies goroutines that wait for a change of the state. Each has a channel of one slot:
// several changes that it missed are one. The zero value has no readers.
type readers struct {
	mu    sync.Mutex
	flags map[chan struct{}]struct{}
}

// add returns the channel of a new reader, which is notified at once, and a function that removes
// it.
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

// notify notifies every reader.
func (r *readers) notify() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for flag := range r.flags {
		select {
		case flag <- struct{}{}:
		default:
		}
	}
}
