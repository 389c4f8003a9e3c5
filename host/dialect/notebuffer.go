package dialect

import (
	"context"
	"sync"

	"eventdeck/host/wire"
)

// noteBuffer queues events of a stream until a request has completed them. The goroutine that
// reads the connection must not wait for that: the responses come over it. A nil buffer
// takes nothing.
type noteBuffer struct {
	more func(context.Context, wire.Note) wire.Note
	wake chan struct{}
	over chan struct{}

	mu     sync.Mutex
	queue  []wire.Note
	closed bool
}

// maxBuffered bounds the queue, in events. Further events are delivered as they are.
const maxBuffered = 256

// completeWith completes the events of h with more, one after another, until the stream ends.
func (h *noteStream) completeWith(more func(context.Context, wire.Note) wire.Note) {
	b := &noteBuffer{more: more, wake: make(chan struct{}, 1), over: make(chan struct{})}
	h.buffer = b
	go func() {
		defer close(b.over)
		for {
			select {
			case <-h.ctx.Done():
				return
			case <-b.wake:
			}
			for n, ok := b.first(); ok; n, ok = b.first() {
				completed := b.more(h.ctx, n)
				if b.done() {
					h.note(completed)
				}
			}
		}
	}()
}

func (b *noteBuffer) put(n wire.Note) bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.queue) == maxBuffered {
		return false
	}
	b.queue = append(b.queue, n)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// first returns the oldest event without removing it.
func (b *noteBuffer) first() (n wire.Note, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return n, false
	}
	return b.queue[0], true
}

// done removes the first event; false if [noteBuffer.rest] has done so.
func (b *noteBuffer) done() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return false
	}
	b.queue = b.queue[1:]
	return true
}

// rest removes all events, the one in progress included, and closes the queue.
func (b *noteBuffer) rest() []wire.Note {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.queue
	b.queue, b.closed = nil, true
	return all
}

// wait waits until no request is in progress. The stream's context must have ended.
func (b *noteBuffer) wait() {
	if b != nil {
		<-b.over
	}
}
