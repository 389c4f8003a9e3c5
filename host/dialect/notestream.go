package dialect

import (
	"context"
	"errors"
	"sync"
	"time"

	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// noteStream is a push subscription without a request of its own: its events come among the
// notifications of the connection. Its heartbeats are responses to pings. It implements
// [Stream].
type noteStream struct {
	ctx            context.Context
	cancel         context.CancelCauseFunc
	pulse          *pulse
	own            bool                                // its events come on a request of its own after all
	end            func(context.Context)               // ends the subscription at the server; may be nil
	buffer         *noteBuffer                         // nil: events are delivered as they come
	renew          func(context.Context) time.Duration // renews the subscription at the server, and returns when to do so again; nil: it needs none
	renewAfter     time.Duration
	detectsSilence func() bool // whether silence of the event channel would be noticed
	done           chan struct{}
	err            error // set before done is closed

	mu   sync.Mutex // one note after another
	sink func(wire.Note)
	over bool
}

// closingTimeout bounds the request that ends a subscription at the server.
const closingTimeout = 2 * time.Second

// newNoteStream starts a stream that lasts as long as ctx and the connection.
func newNoteStream(ctx context.Context, p *pulse, sink func(wire.Note)) *noteStream {
	h := &noteStream{pulse: p, sink: sink, detectsSilence: p.s.DetectsSilence, done: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancelCause(ctx)
	return h
}

// begin starts the watch over the stream. end is called when the stream ends before the
// connection.
func (h *noteStream) begin(end func(context.Context)) {
	h.end = end
	go h.watch()
}

func (h *noteStream) watch() {
	defer close(h.done)
	defer h.buffer.wait()
	beat := time.NewTicker(h.pulse.every)
	defer beat.Stop()
	var due <-chan time.Time
	for {
		if h.renew != nil && due == nil {
			due = time.After(h.renewAfter)
		}
		select {
		case <-h.ctx.Done():
			h.finish(context.Cause(h.ctx))
			return
		case <-h.pulse.s.Lost():
			h.finish(h.pulse.s.Err())
			return
		case <-due:
			h.renewAfter, due = h.renew(h.ctx), nil
		case <-beat.C:
			if err := h.listenErr(); err != nil {
				h.finish(err)
				return
			}
			if h.pulse.beats(h.ctx) {
				h.note(wire.Note{Method: wire.NoteHeartbeat, Apart: !h.detectsSilence()})
			}
		}
	}
}

// listenErr returns why the stream cannot receive events, or nil. A server that answers every
// ping may have no stream for notifications.
func (h *noteStream) listenErr() error {
	if h.own {
		return nil
	}
	return h.pulse.s.ListenErr()
}

// openErr returns why the stream need not be opened, or nil. Whether a server that could not be
// reached is back, the request tells.
func (h *noteStream) openErr() error {
	if err := h.listenErr(); !errors.Is(err, session.ErrUnreachable) {
		return err
	}
	return nil
}

// finish waits for the note in progress and accepts no other.
func (h *noteStream) finish(err error) {
	h.settle()
	h.cancel(err)
	h.mu.Lock()
	h.over, h.err = true, err
	h.mu.Unlock()
	if h.end == nil || h.pulse.s.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closingTimeout)
	defer cancel()
	h.end(ctx)
}

// note passes a note to the sink, one at a time.
func (h *noteStream) note(n wire.Note) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.over && h.ctx.Err() == nil {
		h.sink(n)
	}
}

// take passes an event to the sink, at once or after the buffer has completed it.
func (h *noteStream) take(n wire.Note) {
	if n.Event == nil || !h.buffer.put(n) {
		h.note(n)
	}
}

// settle delivers the events in the buffer at once.
func (h *noteStream) settle() {
	for _, n := range h.buffer.rest() {
		h.note(n)
	}
}

func (h *noteStream) Close() { h.cancel(session.ErrClosed) }

func (h *noteStream) Done() <-chan struct{} { return h.done }

func (h *noteStream) Err() error { return named(h.err) }

func (h *noteStream) LastByte() time.Time { return h.pulse.heard() }

// pulse pings a server, once for all streams of the connection.
type pulse struct {
	s     *session.Session
	every time.Duration
	now   func() time.Time

	asking sync.Mutex // one ping at a time
	mu     sync.Mutex
	last   time.Time
}

func newPulse(s *session.Session, o Options) *pulse {
	return &pulse{s: s, every: o.Pulse, now: o.Now, last: o.Now()}
}

// beat records that the server was heard.
func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = p.now()
}

func (p *pulse) heard() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// beats reports whether the server answers. A recent response to another stream's ping
// counts.
func (p *pulse) beats(ctx context.Context) bool {
	p.asking.Lock()
	defer p.asking.Unlock()
	if p.now().Sub(p.heard()) < p.every/2 {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, 2*p.every)
	defer cancel()
	method := "ping"
	if p.s.Info().Era == session.EraStateless {
		method = "server/discover" // this revision has no ping
	}
	_, err := p.s.Call(ctx, method, nil)
	var refused *session.HTTPError
	if err != nil && wire.NameFrom(err) == "" && !(errors.As(err, &refused) && refused.Status/100 == 4) {
		return false
	}
	p.beat() // a refusal is a response too
	return true
}
