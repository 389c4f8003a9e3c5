// Package session is one connection to one MCP server: it finds out which revision the
// server speaks, makes calls, keeps streams open, and passes on unsolicited notifications.
// It has four transports, a process, Streamable HTTP, the HTTP+SSE of 2024-11-05 and
// WebSocket, and two eras, the stateless one of 2026-07-28 and the handshake revisions
// before it.
//
// A session does not reconnect: when [Session.Lost] is closed, its owner dials
// again, after a [Backoff].
//
// # How the transport is chosen
//
// Dial chooses the link: a process for a command; a WebSocket for ws and wss; Streamable HTTP
// for http and https, and if initialize is refused with 400, 404 or 405, HTTP+SSE of
// 2024-11-05 at the same address. Links that carry everything on one connection (process,
// WebSocket, HTTP+SSE) share a router, which passes each frame to its exchange; links over
// HTTP share web, which has the headers, the redirect rule and the authorization. Without TLS
// the protocol is HTTP/1.1, or HTTP/2 with a server on loopback that speaks nothing else; with
// TLS the server chooses.
//
// An interrupted answer is fetched again with Last-Event-ID if a handshake-era server numbered
// its events; so is the general stream. A silent stream is cut: a server that used to send
// keepalives is given three intervals (host/session/keepalive.go). events/stream is not
// resumed: its owner holds a cursor, and a server that accepts the header without keeping the
// events would lose them silently. host/matrix_test.go runs every delivery mode over every
// transport.
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

// closingTimeout bounds each message that only tells the server that a request or the
// session has ended.
const closingTimeout = 2 * time.Second

// Options tune a session. The zero value works.
type Options struct {
	ClientName    string // "": eventdeck
	ClientVersion string // "": 0

	CallTimeout  time.Duration // of one [Session.Call]; 0: 30 s
	ProbeTimeout time.Duration // for an answer to server/discover; 0: 5 s
	MaxFrame     int           // bytes of one notification; 0: 1 MiB. A response may have sixteen times as many.

	// OnNote gets the notifications that belong to no stream, such as
	// notifications/events/list_changed. It is called from several goroutines; while it
	// blocks, the server waits. After an interruption the session reports list_changed
	// itself. nil: the session does not listen.
	OnNote func(wire.Note)
	// OnMissed is called when unsolicited notifications may be missing: listening was
	// interrupted and not resumed, or a frame was not accepted. While it blocks, the server
	// waits.
	OnMissed func()
	// OnStderr gets the lines that the server's process writes to its standard
	// error, cut to 4 KiB. It must not block. nil: they go to Log.
	OnStderr func(trust.Text)
	// Trace gets every frame, without headers, masked by Redact, cut to TraceLimit;
	// size is its whole length. It must not block.
	Trace      func(d Direction, frame trust.Text, size int)
	TraceLimit int // bytes of a traced frame; 0: all
	// TraceEvent reports whether the frame of an event is traced, so that a flood is not
	// copied frame by frame. nil: all are traced.
	TraceEvent func() bool
	Redact     *redact.Set  // masks what the server says; nil: by shapes of secrets only
	Log        *slog.Logger // nil: nothing is logged

	// Dial opens connections to servers that are reached over HTTP; nil: the
	// system's, through the proxies of the environment.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	TLS    *tls.Config      // for https and wss; nil: the system's
	Auth   Authorizer       // for servers whose headers have no Authorization; nil: none
	Now    func() time.Time // nil: time.Now
	Reopen Backoff          // between attempts to listen for unsolicited notifications

	patience   time.Duration // for each step of stopping a process
	silence    time.Duration // that is allowed on a stream with keepalives
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

// setDefault sets a bound that is zero.
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
	answerFrames = 16      // a response may have this many times defaultFrame
)

// maxAnswer bounds the response to a call, in bytes.
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

// traceReceived traces a frame that was decoded to messages.
func (o *Options) traceReceived(frame []byte, messages []wire.Message) {
	if o.TraceEvent != nil && len(messages) == 1 && messages[0].Method == wire.NoteEvent && !o.TraceEvent() {
		return
	}
	o.trace(Received, frame)
}

// Session is a live connection to a server. Its methods may be called from any goroutine.
type Session struct {
	opts         Options
	link         link
	info         Info
	era          atomic.Pointer[era]
	ids          atomic.Int64
	notListening atomic.Pointer[error] // see ListenErr; nil: nothing is known
	// general is the stream of unsolicited notifications of a handshake server over HTTP.
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
	// A random start keeps the ids of consecutive sessions apart: a late cancellation of one
	// must not hit a request of the next. The ids fit in 31 bits.
	s.ids.Store((1 + rand.Int64N(999_999)) * 1000)
	return s
}

// Info returns what the server stated when the session began.
func (s *Session) Info() Info { return s.info }

// Lost is closed when the session is over: the process died, the server forgot
// the session, or Close was called. Err says which.
func (s *Session) Lost() <-chan struct{} { return s.ctx.Done() }

// Err returns why the session is over, nil while it is not.
//
// Errors: [ErrLost], [ErrFraming], [ErrClosed].
func (s *Session) Err() error { return s.opts.Redact.Error(context.Cause(s.ctx)) }

// Close ends every stream and call, ends the session at the server and waits until nothing
// of it is left; a process that does not end by itself is killed after four seconds. It
// waits for running sinks and callbacks, and must not be called from one.
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

// CallTool calls a tool as [Session.Call] calls a method. mirrored has the arguments that
// the tool's schema (x-mcp-header) wants repeated in headers, by header name. Only
// stateless servers over HTTP need them.
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
	x, err := s.prepare(ctx, method, params, s.unsolicited)
	if err != nil {
		return nil, err
	}
	x.call, x.mirrored = true, mirrored
	if err := s.run(x); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	<-x.done
	if x.err != nil {
		return nil, fmt.Errorf("%s: %w", method, inWords(x.err))
	}
	return x.result, nil
}

// late is a timeout in plain words.
type late struct{ cause error }

func (late) Error() string   { return "the server did not answer in time" }
func (e late) Unwrap() error { return e.cause }

// inWords returns [late] for a timeout, and any other error as it is.
func inWords(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return late{err}
	}
	return err
}

// Open makes a request that stays open, without a timeout. Its notifications go to sink,
// one at a time, on a goroutine of the stream; a sink that blocks makes the server wait,
// over HTTP on this stream alone. The stream ends with ctx.
//
// Errors: [ErrLost], [ErrClosed]. The server's response comes from [Stream.Result].
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

// Hold is [Session.Open] on the goroutine of the caller: it passes the stream to opened
// before it sends the request, calls the sink, and returns the [Stream.Result] when the
// stream has ended.
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

// hold begins x on the goroutine of the caller, which must call running.Done: Close waits
// for it.
func (s *Session) hold(x *exchange, opened func(*Stream)) error {
	if err := s.enter(); err != nil {
		return x.refuse(err)
	}
	opened(&Stream{ID: x.id, x: x})
	return nil
}

// prepare makes a request without sending it.
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
	if method == wire.MethodListen || method == "" { // the two streams of unsolicited notifications
		x.keepalive = &keepalive{}
	}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	return x
}

// run carries x out on a goroutine of its own.
//
// Errors: those of [Session.Err].
func (s *Session) run(x *exchange) error {
	err := s.spawn(func() { s.carryOut(x) })
	if err != nil {
		x.cancel(err)
	}
	return err
}

// carryOut carries out a request to its end, which for a stream may be days away. Each
// stream has a goroutine in it, so the functions that it calls use little stack.
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
		s.notifyCancelled(x)
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

// enter makes Close wait until running.Done is called. Errors: those of [Session.Err].
func (s *Session) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.Err(); err != nil {
		return err // which says more than that it was closed since
	}
	if s.closed {
		return ErrClosed
	}
	s.running.Add(1)
	return nil
}

// notifyCancelled tells the server that the caller no longer waits for x. Over stateless HTTP
// the end of the POST does; handshake servers do not always notice it (field notes 15). The
// handshake itself must not be cancelled.
func (s *Session) notifyCancelled(x *exchange) {
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

// unsolicited handles a notification that belongs to no stream.
func (s *Session) unsolicited(n wire.Note) {
	if s.opts.OnNote != nil {
		s.opts.OnNote(n)
	}
}
