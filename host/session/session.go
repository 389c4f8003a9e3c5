// Package session is one connection to one MCP server: it finds out how the
// server speaks, makes calls, keeps streams open, and hands on what the server
// says unasked. It knows four transports, a process, Streamable HTTP, the HTTP+SSE
// of 2024-11-05 and WebSocket, and two eras, the stateless one of 2026-07-28 and
// the handshake revisions before it.
//
// A session does not reconnect: when [Session.Lost] is closed, its owner dials
// again, after a [Backoff].
package session

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/redact"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// closingTimeout bounds each request that only tells the server of an end: of a request, of
// the session.
const closingTimeout = 2 * time.Second

// Options tune a session. The zero value works.
type Options struct {
	ClientName    string // "": eventdeck
	ClientVersion string // "": 0

	CallTimeout  time.Duration // of one [Session.Call]; 0: 30 s
	ProbeTimeout time.Duration // for an answer to server/discover; 0: 5 s
	MaxFrame     int           // bytes of one notification; 0: 1 MiB. An answer may have sixteen times that.

	// OnNote gets the notifications that belong to no stream, among them
	// notifications/events/list_changed. It is called from several goroutines; while
	// it waits, so does the server. After a pause in listening list_changed is reported
	// without the server having said it. nil: the session does not listen.
	OnNote func(wire.Note)
	// OnMissed is called when the server may have said something unasked that
	// the host did not hear: listening was interrupted, and the server was not asked to
	// repeat what it said meanwhile; or a frame could not be taken. While it waits, so does the server.
	OnMissed func()
	// OnStderr gets the lines that the server's process writes to its standard
	// error, cut to 4 KiB. It must not block. nil: they go to Log.
	OnStderr func(trust.Text)
	// Trace gets every frame, without headers, masked by Redact, cut to TraceLimit;
	// size is its whole length. It must not block.
	Trace      func(d Direction, frame trust.Text, size int)
	TraceLimit int // bytes of a traced frame; 0: all
	// TraceEvent is asked before the frame of an event is traced, and may pass over
	// it: a flood is worth no copy of each frame. nil: all are traced.
	TraceEvent func() bool
	Redact     *redact.Set  // what must not be shown of what the server says; nil: what looks like a secret
	Log        *slog.Logger // nil: nothing is logged

	// Dial opens connections to servers that are reached over HTTP; nil: the
	// system's, through the proxies of the environment.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	TLS    *tls.Config      // for https and wss; nil: the system's
	Auth   Authorizer       // of servers whose headers hold no Authorization; nil: none
	Now    func() time.Time // nil: time.Now
	Reopen Backoff          // between attempts to listen for unasked notifications

	patience   time.Duration // with each step of stopping a process
	silence    time.Duration // that is granted to a stream whose pauses are filled
	pingEvery  time.Duration // on a WebSocket
	pongWithin time.Duration
}

func (o Options) withDefaults() Options {
	if o.ClientName == "" {
		o.ClientName = "eventdeck"
	}
	if o.ClientVersion == "" {
		o.ClientVersion = "0"
	}
	setDefault(&o.CallTimeout, 30*time.Second)
	setDefault(&o.ProbeTimeout, 5*time.Second)
	setDefault(&o.MaxFrame, defaultFrame)
	setDefault(&o.patience, patience)
	setDefault(&o.silence, leastSilence)
	setDefault(&o.pingEvery, pingEvery)
	setDefault(&o.pongWithin, pongWithin)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// setDefault sets a bound that is not given.
func setDefault[T int | int64 | time.Duration](bound *T, otherwise T) {
	if *bound <= 0 {
		*bound = otherwise
	}
}

// missed reports that notifications of the server may have been missed.
func (o *Options) missed() {
	if o.OnMissed != nil {
		o.OnMissed()
	}
}

// Bounds of what a server sends.
const (
	defaultFrame = 1 << 20 // bytes of one notification
	answerFrames = 16      // an answer may have so many times that
)

// maxAnswer bounds the answer to a call.
func (o *Options) maxAnswer() int { return answerFrames * o.MaxFrame }

func (o *Options) trace(d Direction, frame []byte) {
	if o.Trace == nil {
		return
	}
	size := len(frame)
	if o.TraceLimit > 0 {
		frame = frame[:min(size, o.TraceLimit)]
	}
	o.Trace(d, o.Redact.Frame(frame, len(frame) < size), size)
}

// traceReceived traces a frame that was read as these messages.
func (o *Options) traceReceived(frame []byte, messages []wire.Message) {
	if o.TraceEvent != nil && len(messages) == 1 && messages[0].Method == wire.NoteEvent && !o.TraceEvent() {
		return
	}
	o.trace(Received, frame)
}

// Session is a live connection to a server. Its methods may be called from many
// goroutines at once.
type Session struct {
	opts Options
	link link
	info Info
	era  atomic.Pointer[era]
	ids  atomic.Int64
	deaf atomic.Pointer[error] // see Deaf
	// general is the stream on which a handshake server over HTTP speaks unasked.
	general     atomic.Pointer[exchange]
	missedSince atomic.Pointer[time.Time]

	ctx context.Context // done when the session is over; its cause says why
	end context.CancelCauseFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // Add only under mu while closed is false
}

func newSession(opts Options) *Session {
	s := &Session{opts: opts}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.era.Store(&era{})
	// A random start keeps the ids of consecutive sessions apart: a late
	// cancellation of the one must not hit a request of the next. They fit 31 bits.
	s.ids.Store((1 + rand.Int64N(999_999)) * 1000)
	return s
}

// Info says what is known of the server.
func (s *Session) Info() Info { return s.info }

// Lost is closed when the session is over: the process died, the server forgot
// the session, or Close was called. Err says which.
func (s *Session) Lost() <-chan struct{} { return s.ctx.Done() }

// Err returns why the session is over, nil while it is not.
//
// Errors: [ErrLost], [ErrFraming], [ErrClosed].
func (s *Session) Err() error { return s.opts.Redact.Error(context.Cause(s.ctx)) }

// Close ends every stream and call, ends the session at the server and waits until
// nothing of the session is left; a process that does not go by itself is killed
// after four seconds. It must not be called from a sink or a callback, and waits
// for those that run.
func (s *Session) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.end(ErrClosed)
	s.running.Wait()
	if first {
		s.link.close()
	}
}

// Call makes one request and returns its result as sent. params must marshal to
// an object; nil is the empty one. Without a deadline in ctx it takes at most
// [Options.CallTimeout].
//
// Errors: *wire.Error and [*HTTPError] from the server, [ErrUnreachable],
// [ErrCut], [ErrAnswer], [ErrTooLarge], [ErrLost], [ErrClosed], the error of the context.
func (s *Session) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return s.call(ctx, method, params, nil)
}

// CallTool calls a tool as [Session.Call] calls a method. Mirrored are arguments by the
// names under which their schema (x-mcp-header) wants them in headers too, which
// a stateless server over HTTP demands; for others they are of no use.
func (s *Session) CallTool(ctx context.Context, tool string, args json.RawMessage, mirrored map[string]string) (json.RawMessage, error) {
	params := struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	}{tool, args}
	return s.call(ctx, methodCallTool, params, mirrored)
}

func (s *Session) call(ctx context.Context, method string, params any, mirrored map[string]string) (json.RawMessage, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.opts.CallTimeout)
		defer cancel()
	}
	x, err := s.prepare(ctx, method, params, s.unasked)
	if err != nil {
		return nil, err
	}
	x.call, x.mirrored = true, mirrored
	if err := s.run(x); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	<-x.done
	if errors.Is(x.err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%s: %w", method, late{x.err})
	}
	if x.err != nil {
		return nil, fmt.Errorf("%s: %w", method, x.err)
	}
	return x.result, nil
}

// late is the end of a request's time in plain words.
type late struct{ cause error }

func (late) Error() string   { return "the server did not answer in time" }
func (e late) Unwrap() error { return e.cause }

// Open makes a request that stays open, without a timeout. The notifications
// that belong to it go to sink, one after another, on a goroutine of the stream;
// a sink that waits makes the server wait, and over HTTP it alone. The stream
// ends with ctx.
//
// Errors: [ErrLost], [ErrClosed]. What the server says comes from [Stream.Result].
func (s *Session) Open(ctx context.Context, method string, params any, sink func(wire.Note)) (*Stream, error) {
	x, err := s.prepare(ctx, method, params, sink)
	if err != nil {
		return nil, err
	}
	if err := s.run(x); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	return &Stream{ID: x.id, x: x}, nil
}

// Hold is [Session.Open] on the goroutine of the caller: it tells opened of the
// stream before it sends the request, calls the sink, and returns with the end of
// the stream what [Stream.Result] does.
func (s *Session) Hold(ctx context.Context, method string, params any, sink func(wire.Note), opened func(*Stream)) (json.RawMessage, error) {
	x, err := s.prepare(ctx, method, params, sink)
	if err != nil {
		return nil, err
	}
	if err := s.hold(x, opened); err != nil {
		return nil, err
	}
	s.carryOut(x)
	s.running.Done()
	return x.result, x.err
}

// hold begins x on the goroutine of the caller. Close waits for running.Done.
func (s *Session) hold(x *exchange, opened func(*Stream)) error {
	if err := s.enter(); err != nil {
		return x.refuse(err)
	}
	opened(&Stream{ID: x.id, x: x})
	return nil
}

// prepare makes a request that is not yet sent.
func (s *Session) prepare(ctx context.Context, method string, params any, note func(wire.Note)) (*exchange, error) {
	e := *s.era.Load()
	raw, err := s.params(e, params)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	id := strconv.FormatInt(s.ids.Add(1), 10)
	x := s.newExchange(ctx, e, method, note)
	x.id, x.params = wire.ID(id), raw
	x.frame = wire.EncodeRequest(x.id, method, raw)
	return x, nil
}

func (s *Session) newExchange(ctx context.Context, e era, method string, note func(wire.Note)) *exchange {
	x := &exchange{method: method, era: e, note: note, done: make(chan struct{}), over: make(chan struct{}), epoch: s.opts.Now(), now: s.opts.Now, leastSilence: s.opts.silence}
	if method == wire.MethodListen || method == "" { // the two on which servers speak unasked
		x.keepalive = &keepalive{}
	}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	return x
}

// run carries x out on a goroutine of its own.
//
// Errors: why the session is over.
func (s *Session) run(x *exchange) error {
	err := s.spawn(func() { s.carryOut(x) })
	if err != nil {
		x.cancel(err)
	}
	return err
}

// carryOut carries a request out to its end, which for a stream may be days away. There is a
// goroutine in it for each stream, so it and what it calls keep little on the stack.
func (s *Session) carryOut(x *exchange) {
	stop := s.endWith(x)
	result, err := s.link.exchange(x)
	stop()
	s.finish(x, result, err)
}

// endWith ends x with the session, until stop is called.
func (s *Session) endWith(x *exchange) (stop func() bool) {
	return context.AfterFunc(s.ctx, func() { x.cancel(context.Cause(s.ctx)) })
}

func (s *Session) finish(x *exchange, result json.RawMessage, err error) {
	abandoned := err != nil && (x.ctx.Err() != nil || errors.Is(err, ErrAnswer))
	x.finish(result, err)
	if abandoned {
		s.sayCancelled(x)
	}
}

// spawn starts a goroutine that Close waits for.
func (s *Session) spawn(f func()) error {
	if err := s.enter(); err != nil {
		return err
	}
	go func() {
		defer s.running.Done()
		f()
	}()
	return nil
}

// enter makes Close wait until running.Done is called. Errors: why the session is
// over.
func (s *Session) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if err := s.Err(); err != nil {
		return err
	}
	s.running.Add(1)
	return nil
}

// sayCancelled tells the server that the caller does not wait for x any more. Over stateless
// HTTP the end of the POST says it; handshake servers do not always notice that
// (field notes 15). The handshake itself must not be cancelled.
func (s *Session) sayCancelled(x *exchange) {
	if x.frame == nil || x.method == methodInitialize || s.link.hangsUp(x.era) || errors.Is(s.Err(), ErrLost) {
		return
	}
	frame, err := wire.EncodeNotification(noteCancelled, map[string]json.RawMessage{"requestId": json.RawMessage(x.id)})
	if err != nil {
		s.opts.Log.Error("cannot encode a cancellation", "error", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closingTimeout)
	defer cancel()
	if err := s.link.tell(ctx, x.era, noteCancelled, frame); err != nil {
		s.opts.Log.Debug("server was not told of a cancelled request", "method", x.method, "error", err)
	}
}

// unasked takes a notification that belongs to no stream.
func (s *Session) unasked(n wire.Note) {
	if s.opts.OnNote != nil {
		s.opts.OnNote(n)
	}
}
