package dialect

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// address is one event:// address that the server was asked about in the handshake
// era, where the connection knows each address once.
type address struct {
	asking    sync.Mutex // one request about the address at a time
	listeners map[*held]struct{}
	waiting   int // streams that use the address or are about to
}

// Stream subscribes to one address: by a request of its own where the server is
// stateless, else among the notifications of the connection.
func (r *resources) Stream(ctx context.Context, q wire.StreamRequest, sink func(wire.Note)) (Stream, error) {
	where, err := expand(q.Name.Raw(), q.Arguments)
	if err != nil {
		return nil, err
	}
	if r.s.Info().Era == session.EraStateless {
		return r.listen(ctx, where, sink)
	}
	h := hold(ctx, r.pulse, sink)
	if err := r.join(ctx, where, h); err != nil {
		h.cancel(err)
		return nil, named(err)
	}
	h.begin(func(ctx context.Context) { r.leave(ctx, where, h) })
	h.note(wire.Note{Method: wire.NoteActive})
	return h, nil
}

// wanted returns the request that subscribes to an address.
func (r *resources) wanted(where string) (method string, params any) {
	if r.s.Info().Era == session.EraStateless {
		return methodListen, map[string]any{"notifications": map[string]any{"resourceSubscriptions": []string{where}}}
	}
	return methodSubscribe, map[string]string{"uri": where}
}

// Preview implements [Previewer].
func (r *resources) Preview(request any) (string, json.RawMessage, error) {
	var (
		where, method string
		params        any
		err           error
	)
	switch q := request.(type) {
	case wire.StreamRequest:
		where, err = expand(q.Name.Raw(), q.Arguments)
		method, params = r.wanted(where)
	case wire.SubscribeRequest:
		where, err = expand(q.Name.Raw(), q.Arguments)
		method, params = methodRegister, callback(where, q.URL)
	default:
		err = fmt.Errorf("%w of a %T in %s", ErrNoPreview, request, SEP1803)
	}
	if err != nil {
		return "", nil, err
	}
	raw, err := json.Marshal(params)
	return method, raw, err
}

// join subscribes to the address unless another stream has. Events that come
// before the answer are heard.
func (r *resources) join(ctx context.Context, where string, h *held) error {
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
	method, params := r.wanted(where)
	_, err := r.s.Call(ctx, method, params)
	if err != nil {
		r.mu.Lock()
		delete(a.listeners, h)
		r.mu.Unlock()
		r.unuse(where, a)
	}
	return err
}

func (r *resources) use(where string) *address {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.byAddress[where]
	if a == nil {
		a = &address{listeners: map[*held]struct{}{}}
		r.byAddress[where] = a
	}
	a.waiting++
	return a
}

func (r *resources) unuse(where string, a *address) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.waiting--; a.waiting == 0 {
		delete(r.byAddress, where)
	}
}

// leave unsubscribes from the address with its last stream.
func (r *resources) leave(ctx context.Context, where string, h *held) {
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
			r.opts.Log.Debug("server did not take the end of a subscription", "err", err)
		}
	}
	r.unuse(where, a)
}

// listen subscribes by a stream of its own (2026-07-28).
func (r *resources) listen(ctx context.Context, where string, sink func(wire.Note)) (Stream, error) {
	h := hold(ctx, r.pulse, sink)
	method, params := r.wanted(where)
	inner, err := r.s.Open(h.ctx, method, params, func(n wire.Note) {
		switch n.Method {
		case noteAcknowledged:
			h.note(wire.Note{Method: wire.NoteActive})
		case noteUpdated:
			r.updated(n, h)
		}
	})
	if err != nil {
		h.cancel(err)
		return nil, named(err)
	}
	l := &listened{held: h, inner: inner, done: make(chan struct{})}
	h.begin(nil)
	go l.watch()
	return l, nil
}

// listened is a stream with a request of its own. The server is asked whether it
// lives as for the others: not every server fills a quiet stream with comments.
type listened struct {
	*held
	inner *session.Stream
	done  chan struct{}
	err   error
}

func (l *listened) watch() {
	defer close(l.done)
	_, l.err = l.inner.Result()
	l.cancel(session.ErrClosed)
	<-l.held.done
}

func (l *listened) Done() <-chan struct{} { return l.done }

func (l *listened) Err() error { return named(l.err) }

func (l *listened) LastByte() time.Time {
	own, other := l.inner.LastByte(), l.held.LastByte()
	if own.After(other) {
		return own
	}
	return other
}
