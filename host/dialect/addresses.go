package dialect

import (
	"context"
	"strings"
	"sync"
	"time"

	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// addresses are the resources that this host has subscribed to on one connection. In the
// handshake era their updates come among the notifications of the connection, which holds
// one subscription per address; on a stateless server each has a stream.
type addresses struct {
	s     *session.Session
	opts  Options
	pulse *pulse
	// read converts the nth notification to an event.
	read func(n wire.Note, nth uint64) (uri string, note wire.Note)

	mu        sync.Mutex
	byAddress map[string]*address
	arrived   uint64
}

func newAddresses(s *session.Session, o Options, read func(wire.Note, uint64) (string, wire.Note)) *addresses {
	return &addresses{s: s, opts: o, pulse: newPulse(s, o), read: read, byAddress: map[string]*address{}}
}

// address is one address with a subscription in the handshake era.
type address struct {
	asking    sync.Mutex // one request about the address at a time
	listeners map[*noteStream]struct{}
	waiting   int // streams that use the address or are about to use it
}

// open subscribes h to an address: with a stream of its own on a stateless server, else
// among the notifications of the connection.
func (r *addresses) open(ctx context.Context, where string, h *noteStream) (Stream, error) {
	if r.s.Info().Era == session.EraStateless {
		return r.listen(where, h)
	}
	err := h.openErr()
	if err == nil {
		err = r.join(ctx, where, h)
	}
	if err != nil {
		h.cancel(err)
		return nil, named(err)
	}
	h.begin(func(ctx context.Context) { r.leave(ctx, where, h) })
	h.note(wire.Note{Method: wire.NoteActive})
	return h, nil
}

// subscribeRequest returns the request that subscribes to an address.
func (r *addresses) subscribeRequest(where string) (method string, params any) {
	if r.s.Info().Era == session.EraStateless {
		return wire.MethodListen, map[string]any{"notifications": map[string]any{"resourceSubscriptions": []string{where}}}
	}
	return methodSubscribe, map[string]string{"uri": where}
}

// note routes a notification of the general stream to the addresses that contain its
// resource, and reports whether the list of resources may have changed.
func (r *addresses) note(n wire.Note) (relist bool) {
	r.pulse.beat()
	switch n.Method {
	case noteResources:
		return true
	case noteUpdated:
		uri, note := r.read(n, r.arrival())
		for _, h := range r.listeners(func(address string) bool { return under(uri, address) }) {
			h.take(note)
		}
	case wire.NoteInterrupt:
		n.Since = r.s.MissedSince()
		for _, h := range r.listeners(func(string) bool { return true }) {
			h.note(n)
		}
	}
	return false
}

// join subscribes to the address unless another stream has done so. Events that arrive
// before the response are delivered.
func (r *addresses) join(ctx context.Context, where string, h *noteStream) error {
	a := r.use(where)
	a.asking.Lock()
	defer a.asking.Unlock()
	r.mu.Lock()
	first := len(a.listeners) == 0
	a.listeners[h] = struct{}{}
	r.mu.Unlock()
	if !first {
		return nil
	}
	method, params := r.subscribeRequest(where)
	_, err := r.s.Call(ctx, method, params)
	if err != nil {
		r.mu.Lock()
		delete(a.listeners, h)
		r.mu.Unlock()
		r.unuse(where, a)
	}
	return err
}

func (r *addresses) use(where string) *address {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.byAddress[where]
	if a == nil {
		a = &address{listeners: map[*noteStream]struct{}{}}
		r.byAddress[where] = a
	}
	a.waiting++
	return a
}

func (r *addresses) unuse(where string, a *address) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.waiting--; a.waiting == 0 {
		delete(r.byAddress, where)
	}
}

// leave unsubscribes from the address when its last stream leaves.
func (r *addresses) leave(ctx context.Context, where string, h *noteStream) {
	r.mu.Lock()
	a := r.byAddress[where]
	r.mu.Unlock()
	a.asking.Lock()
	defer a.asking.Unlock()
	r.mu.Lock()
	delete(a.listeners, h)
	last := len(a.listeners) == 0
	r.mu.Unlock()
	if last {
		if _, err := r.s.Call(ctx, methodUnsubscribe, map[string]string{"uri": where}); err != nil {
			r.opts.Log.Debug("the server refused to end a subscription", "err", err)
		}
	}
	r.unuse(where, a)
}

// listen subscribes with a stream of its own (2026-07-28).
func (r *addresses) listen(where string, h *noteStream) (Stream, error) {
	h.own = true
	method, params := r.subscribeRequest(where)
	inner, err := r.s.Open(h.ctx, method, params, func(n wire.Note) {
		switch n.Method {
		case wire.NoteAcknowledged:
			h.note(wire.Note{Method: wire.NoteActive})
		case noteUpdated:
			_, note := r.read(n, r.arrival())
			h.take(note)
		case wire.NoteSkipped:
			h.note(n)
		}
	})
	if err != nil {
		h.cancel(err)
		return nil, named(err)
	}
	l := &listened{noteStream: h, inner: inner, done: make(chan struct{})}
	h.detectsSilence = inner.DetectsSilence
	h.begin(nil)
	go l.watch()
	return l, nil
}

// listened is a stream with a request of its own. The server is pinged as for the other
// streams: not every server fills a quiet stream with comments.
type listened struct {
	*noteStream
	inner *session.Stream
	done  chan struct{}
	err   error
}

func (l *listened) watch() {
	defer close(l.done)
	_, l.err = l.inner.Result()
	l.settle()
	l.cancel(session.ErrClosed)
	<-l.noteStream.done
}

func (l *listened) Done() <-chan struct{} { return l.done }

func (l *listened) Err() error { return named(l.err) }

func (l *listened) LastByte() time.Time {
	own, other := l.inner.LastByte(), l.noteStream.LastByte()
	if own.After(other) {
		return own
	}
	return other
}

// arrival counts a notification and returns its number.
func (r *addresses) arrival() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.arrived++
	return r.arrived
}

func (r *addresses) listeners(match func(address string) bool) (all []*noteStream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for where, a := range r.byAddress {
		if match(where) {
			for h := range a.listeners {
				all = append(all, h)
			}
		}
	}
	return all
}

// under reports whether a resource is the subscribed one or lies under it.
func under(uri, address string) bool {
	rest, ok := strings.CutPrefix(uri, address)
	return ok && (rest == "" || strings.HasSuffix(address, "/") || strings.ContainsRune("/?#", rune(rest[0])))
}
