package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// router passes the messages of a connection that all exchanges share — a pipe, a
// WebSocket, the one stream of HTTP+SSE — to their exchanges. One goroutine reads and calls
// take.
type router struct {
	opts        Options
	unsolicited func(wire.Note)
	send        func(ctx context.Context, e era, method string, frame []byte) error
	replies     chan []byte // responses to the server; bounded, so that reading never waits for writing

	mu      sync.Mutex
	inboxes map[wire.ID]*inbox

	garbage int                        // frames that were not JSON-RPC; only the reader uses it
	sample  atomic.Pointer[trust.Text] // the beginning of the first of them
}

func (r *router) init(opts Options, unsolicited func(wire.Note)) {
	r.opts, r.unsolicited = opts, unsolicited
	r.replies, r.inboxes = make(chan []byte, 16), map[wire.ID]*inbox{}
}

// exchange sends x and handles the messages in its inbox.
func (r *router) exchange(x *exchange) (json.RawMessage, error) {
	box := newInbox(x)
	x.shared.Store(true)
	r.mu.Lock()
	r.inboxes[x.id] = box
	if x.of != "" {
		r.inboxes[x.of] = box
	}
	r.mu.Unlock()
	defer r.forget(box)
	if err := r.send(x.ctx, x.era, x.method, x.frame); err != nil && !errors.Is(err, ErrLost) {
		return nil, err
	}
	if x.taken != nil {
		x.taken()
	}
	for {
		box.await()
		if result, err := box.takeNext(); err != errUnfinished {
			return result, err
		}
	}
}

func (r *router) forget(box *inbox) {
	r.mu.Lock()
	delete(r.inboxes, box.x.id)
	if r.inboxes[box.x.of] == box {
		delete(r.inboxes, box.x.of)
	}
	r.mu.Unlock()
	close(box.gone)
}

// failAll fails every call, and reports a skipped frame to every stream: a frame that is
// too large may have been for any of them.
func (r *router) failAll(begin []byte) {
	r.opts.Log.Warn("server wrote a frame that is too large", "frame", head(begin))
	err := fmt.Errorf("%w: a frame has more than %d bytes; it begins %v", ErrTooLarge, r.opts.maxAnswer(), head(begin))
	for _, box := range r.all() {
		box.put(refused(box, begin, err))
	}
	r.opts.missed()
}

// skipGarbled reports a skipped frame to every stream: a malformed message may have been
// for any of them. Calls go on waiting, since their response may be another frame.
func (r *router) skipGarbled(frame []byte, err error) {
	for _, box := range r.all() {
		if !box.x.call {
			box.put(refused(box, frame, err))
		}
	}
	r.opts.missed()
}

// garbled reports whether a malformed frame was meant to be a message, unlike log lines on
// standard output.
func garbled(frame []byte) bool {
	text := bytes.TrimSpace(frame)
	return len(text) > 0 && (text[0] == '{' || text[0] == '[') && bytes.Contains(text, []byte(`"jsonrpc"`)) && !json.Valid(text)
}

// touch records for every exchange that the connection is alive.
func (r *router) touch() {
	for _, box := range r.all() {
		box.x.touch()
	}
}

func (r *router) all() []*inbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	boxes := make([]*inbox, 0, len(r.inboxes))
	for _, box := range r.inboxes {
		boxes = append(boxes, box)
	}
	return boxes
}

// take passes on the messages of one frame.
func (r *router) take(frame []byte) {
	messages, err := wire.DecodeMessages(frame)
	if err != nil {
		if r.garbage++; r.garbage == 1 {
			sample := head(frame)
			r.sample.Store(&sample)
		}
		if r.garbage&(r.garbage-1) == 0 { // the first, the second, the fourth, …
			r.opts.Log.Warn("server writes frames that are not JSON-RPC", "frames", r.garbage, "frame", head(frame))
		}
		if garbled(frame) {
			r.skipGarbled(frame, fmt.Errorf("%w: it begins %v", err, head(frame)))
		}
	} else {
		r.opts.traceReceived(frame, messages)
	}
	for _, m := range messages {
		switch {
		case m.IsResponse():
			r.takeResponse(m, len(frame))
		case m.IsNotification():
			r.takeNote(m, len(frame))
		default:
			r.takeRequest(m)
		}
	}
}

func (r *router) takeResponse(m wire.Message, size int) {
	box := r.find(m.ID)
	if box == nil && !m.HasID {
		box = r.only()
	}
	if box == nil {
		r.opts.Log.Debug("server answered a request that is over")
		return
	}
	box.put(inboxItem{message: m, size: size})
}

// takeNote routes by the id of the subscription. Late notifications of an ended stream are
// dropped.
func (r *router) takeNote(m wire.Message, size int) {
	n := wire.Note{Method: m.Method, Params: m.Params}
	route := n.Route()
	box := r.find(route)
	tooLarge := size > r.opts.MaxFrame
	if tooLarge {
		r.opts.Log.Warn("server sent a notification that is too large", "frame", head(m.Params))
	}
	switch {
	case belongsToAll(n), route == "", box != nil && box.x.call:
		if tooLarge {
			r.opts.missed()
		} else {
			r.unsolicited(n)
		}
	case box == nil:
		r.opts.Log.Debug("server sent a notification for a stream that is over")
	case tooLarge:
		box.put(refused(box, m.Params, fmt.Errorf("%w: a notification has %d bytes; it begins %v", ErrTooLarge, size, head(m.Params))))
	default:
		box.put(inboxItem{message: m, size: size})
	}
}

// refused returns the inbox item for a frame that is not accepted.
func refused(box *inbox, begin []byte, err error) inboxItem {
	l := inboxItem{err: err}
	if !box.x.call {
		l.begin = append([]byte{}, begin[:min(len(begin), maxSkipped)]...)
		l.size = len(l.begin)
	}
	return l
}

func (r *router) takeRequest(m wire.Message) {
	frame, err := reply(m)
	if err != nil {
		r.opts.Log.Warn("cannot answer the server's request", "error", err)
		return
	}
	select {
	case r.replies <- frame:
	default:
		r.opts.Log.Warn("server sends requests faster than it reads responses; one is not answered")
	}
}

func (r *router) find(id wire.ID) *inbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inboxes[id]
}

// only returns the open exchange if there is exactly one, else nil: an error without an id
// belongs to it.
func (r *router) only() *inbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.inboxes) != 1 {
		return nil
	}
	for _, box := range r.inboxes {
		return box
	}
	return nil
}
