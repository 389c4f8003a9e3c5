package dialect

import (
	"context"
	"sync"

	"eventdeck/host/wire"
)

// aside queues events of a stream until a request has completed them. The goroutine that
// reads the connection must not wait for that: the responses come over it. A nil aside
// takes nothing.
type aside struct {
	more func(context.Context, wire.Note) wire.Note
	wake chan struct{}
	over chan struct{}

	mu     sync.Mutex
	queue  []wire.Note
	closed bool
}

// maxAside bounds the queue, in events. Further events are delivered as they are.
const maxAside = 256

// putAside completes the events of h with more, one after another, until the stream ends.
func (h *noteStream) putAside(more func(context.Context, wire.Note) wire.Note) {
	a := &aside{more: more, wake: make(chan struct{}, 1), over: make(chan struct{})}
	h.aside = a
	go func() {
		defer close(a.over)
		for {
			select {
			case <-h.ctx.Done():
				return
			case <-a.wake:
			}
			for n, ok := a.first(); ok; n, ok = a.first() {
				completed := a.more(h.ctx, n)
				if a.done() {
					h.note(completed)
				}
			}
		}
	}()
}

func (a *aside) put(n wire.Note) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || len(a.queue) == maxAside {
		return false
	}
	a.queue = append(a.queue, n)
	select {
	case a.wake <- struct{}{}:
	default:
	}
	return true
}

// first returns the oldest event without removing it.
func (a *aside) first() (n wire.Note, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return n, false
	}
	return a.queue[0], true
}

// done removes the first event; false if [aside.rest] has done so.
func (a *aside) done() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return false
	}
	a.queue = a.queue[1:]
	return true
}

// rest removes all events, the one in progress included, and closes the queue.
func (a *aside) rest() []wire.Note {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	all := a.queue
	a.queue, a.closed = nil, true
	return all
}

// wait waits until no request is in progress. The stream's context must have ended.
func (a *aside) wait() {
	if a != nil {
		<-a.over
	}
}
