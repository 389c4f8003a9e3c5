package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"eventdeck/host/wire"
)

// exchange sends x and takes what the reader puts into its inbox.
func (l *processLink) exchange(x *exchange) (json.RawMessage, error) {
	box := newInbox(x)
	l.mu.Lock()
	l.inboxes[x.id] = box
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.inboxes, x.id)
		l.mu.Unlock()
		close(box.gone)
	}()
	if err := l.tell(x.ctx, x.era, x.method, x.frame); err != nil && !errors.Is(err, ErrLost) {
		return nil, err
	}
	if x.taken != nil {
		x.taken()
	}
	for {
		in, err := box.take()
		m := in.message
		switch {
		case err != nil:
			return nil, err
		case in.err != nil:
			return nil, in.err
		case m.Error != nil:
			return nil, m.Error
		case m.IsResponse():
			return m.Result, nil
		}
		x.deliver(wire.Note{Method: m.Method, Params: m.Params})
	}
}

// readOut is the goroutine that reads from the process.
func (l *processLink) readOut() {
	defer close(l.outDone)
	lines := newLineReader(l.stdout, l.opts.maxAnswer())
	for {
		line, cut, err := lines.next()
		switch {
		case err != nil:
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				l.opts.Log.Warn("cannot read the server's standard output", "error", err)
			}
			return
		case cut:
			l.failAll(line)
		case hasContentLength(line):
			l.lose(ErrFraming)
			return
		case len(bytes.TrimSpace(line)) > 0:
			l.take(line)
		}
	}
}

func hasContentLength(line []byte) bool {
	const name = "Content-Length:"
	return len(line) >= len(name) && bytes.EqualFold(line[:len(name)], []byte(name))
}

// failAll ends every exchange: a line that was not read to its end may have
// been for any of them, and skipping it could lose an event in silence.
func (l *processLink) failAll(begin []byte) {
	l.opts.Log.Warn("server wrote a line that is too large", "frame", head(begin))
	err := fmt.Errorf("%w: a line has more than %d bytes; it begins %v", ErrTooLarge, l.opts.maxAnswer(), head(begin))
	l.mu.Lock()
	boxes := make([]*inbox, 0, len(l.inboxes))
	for _, box := range l.inboxes {
		boxes = append(boxes, box)
	}
	l.mu.Unlock()
	for _, box := range boxes {
		box.put(letter{err: err})
	}
}

// take hands on the messages of one line.
func (l *processLink) take(line []byte) {
	messages, err := wire.DecodeMessages(line)
	if err != nil {
		if l.garbage++; l.garbage == 1 {
			sample := head(line)
			l.sample.Store(&sample)
		}
		if l.garbage&(l.garbage-1) == 0 { // the first, the second, the fourth, …
			l.opts.Log.Warn("server writes to standard output what is not JSON-RPC", "lines", l.garbage, "frame", head(line))
		}
	} else {
		l.opts.trace(Received, line)
	}
	for _, m := range messages {
		switch {
		case m.IsResponse():
			l.takeResponse(m, len(line))
		case m.IsNotification():
			l.takeNote(m, len(line))
		default:
			l.takeRequest(m)
		}
	}
}

func (l *processLink) takeResponse(m wire.Message, size int) {
	box := l.find(m.ID)
	if box == nil && !m.HasID {
		box = l.only()
	}
	if box == nil {
		l.opts.Log.Debug("server answered a request that is over")
		return
	}
	box.put(letter{message: m, size: size})
}

// takeNote routes by the id of the subscription. What comes late for a stream
// that is over is dropped.
func (l *processLink) takeNote(m wire.Message, size int) {
	n := wire.Note{Method: m.Method, Params: m.Params}
	route := n.Route()
	box := l.find(route)
	tooLarge := size > l.opts.MaxFrame
	if tooLarge {
		l.opts.Log.Warn("server sent a notification that is too large", "frame", head(m.Params))
	}
	switch {
	case belongsToAll(n), route == "", box != nil && box.x.call:
		if !tooLarge {
			l.unasked(n)
		}
	case box == nil:
		l.opts.Log.Debug("server sent a notification for a stream that is over")
	case tooLarge:
		box.put(letter{err: fmt.Errorf("%w: a notification has %d bytes; it begins %v", ErrTooLarge, size, head(m.Params))})
	default:
		box.put(letter{message: m, size: size})
	}
}

func (l *processLink) takeRequest(m wire.Message) {
	frame, err := reply(m)
	if err != nil {
		l.opts.Log.Warn("cannot answer the server's request", "error", err)
		return
	}
	select {
	case l.replies <- frame:
	default:
		l.opts.Log.Warn("server makes more requests than it reads answers; one is left unanswered")
	}
}

func (l *processLink) find(id wire.ID) *inbox {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inboxes[id]
}

// only returns the one open exchange, nil if there is another: to it belongs an
// error without an id.
func (l *processLink) only() *inbox {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.inboxes) != 1 {
		return nil
	}
	for _, box := range l.inboxes {
		return box
	}
	return nil
}
