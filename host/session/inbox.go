package session

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"eventdeck/host/wire"
)

// inboxBytes bounds the queue of a slow sink; a full queue stalls the pipe.
const inboxBytes = 4 << 20

// errOver: nothing more will come for an exchange.
var errOver = errors.New("nothing more comes")

// inboxItem is a message for one exchange, or an error.
type inboxItem struct {
	message wire.Message
	size    int
	err     error
	begin   []byte // beginning of a frame that is skipped because of err
}

// inbox is the queue between the reader of a pipe and one exchange, bounded by bytes. One
// goroutine puts, one takes.
type inbox struct {
	x     *exchange
	ready chan struct{} // one slot: something was put
	room  chan struct{} // one slot: something was taken
	gone  chan struct{} // closed when the exchange is over

	mu    sync.Mutex
	items []inboxItem
	bytes int
}

func newInbox(x *exchange) *inbox {
	return &inbox{x: x, ready: make(chan struct{}, 1), room: make(chan struct{}, 1), gone: make(chan struct{})}
}

// put adds an item. It waits while the queue is full, and drops the item
// when the exchange is over.
func (b *inbox) put(l inboxItem) {
	b.x.touch()
	for !b.offer(l) {
		select {
		case <-b.room:
		case <-b.gone:
			return
		}
	}
	wake(b.ready)
}

func (b *inbox) offer(l inboxItem) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes > 0 && b.bytes+l.size > inboxBytes {
		return false
	}
	b.items = append(b.items, l)
	b.bytes += l.size
	return true
}

// await waits until take has something to return.
func (b *inbox) await() {
	if b.empty() {
		select {
		case <-b.ready:
		case <-b.x.over:
		case <-b.x.ctx.Done():
		}
	}
}

func (b *inbox) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.items) == 0
}

// take returns the next item. Items that came before the session was lost are still
// returned.
//
// Errors: the cause of the exchange's context; errOver when the queue is empty and nothing
// more will come; errUnfinished when there is no item yet.
func (b *inbox) take() (inboxItem, error) {
	cause := context.Cause(b.x.ctx)
	if cause == nil || errors.Is(cause, ErrLost) {
		if l, ok := b.first(); ok {
			return l, nil
		}
	}
	if cause != nil {
		return inboxItem{}, cause
	}
	select {
	case <-b.x.over:
		if l, ok := b.first(); ok { // queued before the end
			return l, nil
		}
		return inboxItem{}, errOver
	default:
		return inboxItem{}, errUnfinished
	}
}

// takeNext handles the next item.
//
// Errors: errUnfinished when it does not answer the exchange; that of the answer.
func (b *inbox) takeNext() (json.RawMessage, error) {
	x := b.x
	in, err := b.take()
	m := in.message
	switch {
	case errors.Is(err, errOver):
		return x.early, nil
	case err != nil:
		return nil, err
	case in.begin != nil:
		x.skip(in.begin, in.err)
		return nil, errUnfinished
	case in.err != nil:
		return nil, in.err
	case m.Error != nil:
		return nil, x.refusal(m)
	case m.IsResponse():
		if x.ownAnswer(m) {
			return nil, errUnfinished
		}
		return m.Result, nil
	}
	x.deliver(wire.Note{Method: m.Method, Params: m.Params})
	return nil, errUnfinished
}

func (b *inbox) first() (inboxItem, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) == 0 {
		return inboxItem{}, false
	}
	l := b.items[0]
	b.items[0] = inboxItem{}
	b.items = b.items[1:]
	b.bytes -= l.size
	wake(b.room)
	return l, true
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
