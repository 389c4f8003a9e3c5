package dialect

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// errGone: the server no longer knows a stream.
var errGone = errors.New("the server gave up the stream")

// Default bounds for resuming a stream whose server states none.
const (
	resumePause  = 500 * time.Millisecond
	resumeLonger = 10 * time.Second
	resumeFor    = 2 * time.Minute
)

// resumables are the open requests of a connection that can be resumed, by stream.
type resumables struct {
	mu       sync.Mutex
	byStream map[string]*resumable
}

func newResumables() *resumables { return &resumables{byStream: map[string]*resumable{}} }

func (all *resumables) put(stream string, c *resumable) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.byStream[stream] = c
}

func (all *resumables) drop(stream string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.byStream, stream)
}

// note handles the end of a stream on a connection that carries all streams.
func (all *resumables) note(n wire.Note) {
	if n.Method != wire.NoteStreamEnd {
		return
	}
	var p struct{ StreamID string }
	if json.Unmarshal(n.Params, &p) != nil {
		return
	}
	all.mu.Lock()
	c := all.byStream[p.StreamID]
	all.mu.Unlock()
	if c != nil {
		c.finished()
	}
}

// resumable is a request that stays open, and survives cuts where the server offers
// resumable streams. It implements [Stream].
type resumable struct {
	s      *session.Session
	all    *resumables
	log    *slog.Logger
	method string
	params any
	sink   func(wire.Note)
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	result json.RawMessage // result and err are set before done is closed
	err    error

	mu     sync.Mutex
	open   *session.Stream // nil while the stream is cut
	token  *wire.Resume
	heard  time.Time
	ended  bool        // the server said that the stream is complete
	silent atomic.Bool // nothing has come on the open stream
}

// openResumable opens a request. If text holds a [wire.Resume], resuming that earlier
// request is tried first.
func openResumable(ctx context.Context, s *session.Session, all *resumables, o Options, method string, params any, text string, sink func(wire.Note)) *resumable {
	c := &resumable{s: s, all: all, log: o.Log, method: method, params: params, sink: sink, done: make(chan struct{}), heard: o.Now()}
	c.ctx, c.cancel = context.WithCancelCause(ctx)
	var earlier *wire.Resume
	if token, ok := wire.ParseResume(text); ok {
		earlier = &token
	}
	go c.run(earlier)
	return c
}

// run carries the request to its end, which may be days away. Each stream has a goroutine
// in it, so the functions that it calls use little stack.
func (c *resumable) run(earlier *wire.Resume) {
	if earlier == nil || !c.takeUp(earlier) {
		c.result, c.err = c.attached(c.s.Hold(c.ctx, c.method, c.params, c.note, c.attach))
	}
	c.finish()
}

// finish resumes the request whenever it is cut, as long as it can be resumed.
func (c *resumable) finish() {
	c.overCuts()
	c.forget()
	if c.complete() { // nothing is left to resume
		c.sink(wire.Note{Method: wire.NoteResumable})
	}
	c.cancel(session.ErrClosed)
	close(c.done)
}

func (c *resumable) Close() { c.cancel(session.ErrClosed) }

func (c *resumable) Done() <-chan struct{} { return c.done }

func (c *resumable) Err() error { return named(c.err) }

func (c *resumable) LastByte() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open != nil {
		return c.open.LastByte()
	}
	return c.heard
}

// takeUp resumes an earlier request. It returns false if the server gave that up, before anything
// came on it: what came must not be taken for the beginning of a new one.
func (c *resumable) takeUp(earlier *wire.Resume) bool {
	c.keep(*earlier)
	c.result, c.err = c.resume(*earlier)
	return !c.givenUp() || !c.silent.Load()
}

// givenUp reports whether the server gave up the stream that was to be resumed. If so, it
// tells the sink.
func (c *resumable) givenUp() bool {
	if !errors.Is(c.err, errGone) {
		return false
	}
	c.forget()
	c.sink(wire.Note{Method: wire.NoteAbandoned})
	return true
}

func (c *resumable) overCuts() {
	for {
		token := c.resumeToken()
		if token == nil || !wasCut(c.err) || c.ctx.Err() != nil || c.s.Err() != nil {
			return
		}
		c.log.Info("a stream was cut and is resumed", "method", c.method, "err", c.err)
		cut := c.err
		if c.result, c.err = c.resume(*token); c.givenUp() {
			c.result, c.err = nil, cut
			return
		}
	}
}

// wasCut reports whether a request ended without a response.
func wasCut(err error) bool {
	if err == nil || wire.NameFrom(err) != "" {
		return false
	}
	var refused *session.HTTPError
	if errors.As(err, &refused) {
		return refused.Status/100 == 5
	}
	return errors.Is(err, session.ErrCut) || errors.Is(err, session.ErrUnreachable)
}

// resume waits as long as the server asks for, and resumes the stream.
//
// Errors: errGone; otherwise those of the resumed request.
func (c *resumable) resume(token wire.Resume) (json.RawMessage, error) {
	limit := token.Max
	if limit == 0 {
		limit = resumeFor
	}
	var tried time.Duration
	for pause := resumePause; ; pause = min(2*pause, resumeLonger) {
		wait := max(token.Min, pause)
		if tried += wait; tried > limit && tried > wait {
			return nil, errGone
		}
		if err := c.rest(wait); err != nil {
			return nil, err
		}
		result, err := c.requestResume(token)
		if !c.silent.Load() || !wasCut(err) {
			return result, err
		}
	}
}

// rest waits until d has passed, or the stream or the connection ends.
func (c *resumable) rest(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	case <-c.s.Lost():
		return c.s.Err()
	}
}

// requestResume requests the state of the stream, and then the stream itself.
func (c *resumable) requestResume(token wire.Resume) (json.RawMessage, error) {
	c.silent.Store(true)
	raw, err := c.s.Call(c.ctx, wire.MethodPollOne, token)
	switch {
	case wire.NameFrom(err) == wire.MethodNotFound: // the state comes with the stream
	case wire.NameFrom(err) != "":
		return nil, errGone
	case err != nil:
		return nil, err
	}
	if err == nil && abandoned(raw) {
		return nil, errGone
	}
	said := false
	resumed := func() {
		if !said {
			said = true
			c.sink(wire.Note{Method: wire.NoteResumed})
		}
	}
	gone := false
	note := func(n wire.Note) {
		if n.Method == wire.NoteAnswered && abandoned(n.Params) {
			gone = true
			c.close()
			return
		}
		resumed()
		c.note(n)
	}
	result, err := c.attached(c.s.HoldResumed(c.ctx, wire.MethodResume, token, token.Request, note, c.attach))
	refused := !said && err != nil && !wasCut(err) && c.ctx.Err() == nil && c.s.Err() == nil
	if gone || refused || errors.Is(err, session.ErrNotResumed) {
		return nil, errGone
	}
	return result, err
}

func abandoned(raw json.RawMessage) bool {
	states, err := wire.DecodeStreams(raw)
	return err == nil && len(states) > 0 && states[0].Gone()
}

// attach records that a request is open.
func (c *resumable) attach(s *session.Stream) {
	c.mu.Lock()
	c.open = s
	if c.token != nil && c.token.Request == "" {
		c.token.Request = s.ID
	}
	over := c.ended
	c.mu.Unlock()
	if over {
		s.Finish()
	}
}

// attached records that the open request has ended, and returns its result.
func (c *resumable) attached(result json.RawMessage, err error) (json.RawMessage, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return result, err // it was never open
	}
	c.heard, c.open = c.open.LastByte(), nil
	if c.ended {
		return result, nil
	}
	return result, err
}

// note passes on the server's notifications on the stream. Only notifications of the
// protocol pass, so that no server can send what only dialects may.
func (c *resumable) note(n wire.Note) {
	c.silent.Store(false)
	switch {
	case n.Method == wire.NoteStreamCreate:
		token, err := wire.DecodeResume(n.Params)
		if err != nil {
			c.log.Warn("a malformed resumable stream", "err", err)
			return
		}
		c.keep(token)
		c.sink(wire.Note{Method: wire.NoteResumable, Resume: &token})
	case n.Method == wire.NoteStreamEnd:
		c.finished()
	case n.Method == wire.NoteSkipped && n.Refused != nil:
		c.sink(wire.Note{Method: n.Method, Params: n.Params, Refused: n.Refused})
	case strings.HasPrefix(n.Method, "notifications/"):
		c.sink(wire.Note{Method: n.Method, Params: n.Params})
	}
}

func (c *resumable) keep(token wire.Resume) {
	c.forget()
	c.mu.Lock()
	if token.Request == "" && c.open != nil {
		token.Request = c.open.ID
	}
	c.token = &token
	c.mu.Unlock()
	c.all.put(token.Stream, c)
}

func (c *resumable) forget() {
	c.mu.Lock()
	token := c.token
	c.token = nil
	c.mu.Unlock()
	if token != nil {
		c.all.drop(token.Stream)
	}
}

// finished handles the end of the stream. The response to the request may come before it or
// be missing.
func (c *resumable) finished() {
	c.mu.Lock()
	c.ended = true
	open := c.open
	c.mu.Unlock()
	if open != nil {
		open.Finish()
	}
}

// complete reports whether the server said that the stream is complete.
func (c *resumable) complete() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

func (c *resumable) close() {
	c.mu.Lock()
	open := c.open
	c.mu.Unlock()
	if open != nil {
		open.Close()
	}
}

func (c *resumable) resumeToken() *wire.Resume {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.token
}

// How long a call may take if it is not resumable, and be silent if it is.
const (
	callWithin = 30 * time.Second
	callSilent = 2 * time.Minute
)

// call makes a request that may take long. It survives cuts where the server makes its
// stream resumable.
func (all *resumables) call(ctx context.Context, s *session.Session, o Options, method string, params any, sink func(wire.Note)) (json.RawMessage, error) {
	c := openResumable(ctx, s, all, o, method, params, "", sink)
	if late(c.done, c.progress) {
		c.cancel(context.DeadlineExceeded)
	}
	<-c.done
	return c.result, named(c.err)
}

// progress returns what decides whether a call is late: when the server was last heard,
// whether a request is open, and whether it can be resumed.
func (c *resumable) progress() (heard time.Time, open, resumable bool) {
	heard = c.LastByte()
	c.mu.Lock()
	defer c.mu.Unlock()
	return heard, c.open != nil, c.token != nil
}

// late waits until a call is done or late. While the call is cut, resuming it has a bound
// of its own.
func late(done <-chan struct{}, progress func() (heard time.Time, open, resumable bool)) bool {
	limit := time.NewTimer(callWithin)
	defer limit.Stop()
	var before time.Time
	for {
		select {
		case <-done:
			return false
		case <-limit.C:
		}
		heard, open, resumable := progress()
		if !resumable || open && heard.Equal(before) {
			return true
		}
		before = heard
		limit.Reset(callSilent)
	}
}
