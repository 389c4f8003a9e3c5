package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// ChatOptions configure [RunChat]. The zero value is usable.
type ChatOptions struct {
	Speed     float64       // of the script; 0 means 1
	Seed      int64         // fixes content and timing, never ids and cursors
	Rate      int           // events per second of load.tick; 0: the type is not offered
	Heartbeat time.Duration // between heartbeats of a stream; 0 means 5 s; at most 30 s
	History   int           // events of a scripted type that are held; 0 means 2,000
	Faults    []string      // names of [Faults], some with "=" and a duration

	Random io.Reader // of the run's id; nil means the system's
}

const (
	maxLongPoll = 30 * time.Second
	maxLine     = 1 << 20 // bytes of a message from the client
	maxRequests = 256     // streams and long polls that are open
)

// RunChat serves the demo server chat over stdio: newline-delimited JSON-RPC on
// stdin and stdout, its log on stderr. It returns nil when stdin ends or ctx
// does. A read of stdin that blocks cannot be interrupted: after the end of ctx
// stdin is closed if it is an [io.Closer], and otherwise one goroutine runs
// until the next line or the end of stdin.
//
// Errors: [ErrOptions]; failure of the randomness, of stdin and of stdout.
func RunChat(ctx context.Context, opts ChatOptions, stdin io.Reader, stdout, stderr io.Writer) error {
	setDefault(&opts.Speed, 1)
	setDefault(&opts.Heartbeat, 5*time.Second)
	opts.Heartbeat = min(opts.Heartbeat, 30*time.Second)
	setDefault(&opts.History, 2000)
	if opts.Speed < 0 || opts.Rate < 0 || opts.History < 0 {
		return fmt.Errorf("%w: speed, rate and history must not be negative", ErrOptions)
	}
	faults, err := parseFaults(opts.Faults, false)
	if err != nil {
		return err
	}
	o, err := newRun(opts.Random)
	if err != nil {
		return err
	}
	types, err := catalog(o, settings{opts.Speed, opts.Seed, opts.Rate, opts.History}, chatTypes())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &chat{
		engine: engine{origin: o, profile: wire.ProfileSketch, types: types, page: 50, nextPoll: time.Second, faults: faults},
		opts:   opts, out: stdout, cancel: cancel,
		log: slog.New(slog.NewTextHandler(stderr, nil)), open: map[wire.ID]context.CancelFunc{}}
	c.log.Info("chat is ready", "run", o.run)
	if closer, ok := stdin.(io.Closer); ok {
		stop := context.AfterFunc(ctx, func() { closer.Close() })
		defer stop()
	}
	reading := make(chan error, 1)
	go func() { reading <- c.read(ctx, stdin) }()
	select {
	case err = <-reading:
	case <-ctx.Done():
	}
	cancel()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.requests.Wait()
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return err
}

// chat is the demo server over stdio.
type chat struct {
	engine
	opts     ChatOptions
	log      *slog.Logger
	cancel   context.CancelFunc
	requests sync.WaitGroup

	writing sync.Mutex // one message at a time
	out     io.Writer
	failed  error // of the first write that failed

	mu     sync.Mutex
	closed bool
	open   map[wire.ID]context.CancelFunc // streams and long polls
}

func (c *chat) read(ctx context.Context, stdin io.Reader) error {
	lines := bufio.NewScanner(stdin)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		messages, err := wire.DecodeMessages(line)
		if err != nil {
			c.log.Warn("a line that is no message", "bytes", len(line))
			c.refuse(nil, eventserver.Refuse(wire.InvalidRequest, "one JSON-RPC message a line expected", nil))
			continue
		}
		for _, m := range messages {
			c.handle(ctx, m)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	if err := lines.Err(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("chat cannot read its input: %w", err)
	}
	return nil
}

// write sends whole lines.
func (c *chat) write(lines []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	if _, err := c.out.Write(lines); err != nil {
		c.failed = fmt.Errorf("chat cannot write its output: %w", err)
		c.cancel()
	}
	return c.failed
}

func (c *chat) send(frame []byte, err error) {
	if err != nil {
		c.log.Error("a message cannot be encoded", "error", err)
		return
	}
	_ = c.write(append(frame, '\n')) // kept in failed, which ends the server
}

func (c *chat) refuse(id json.RawMessage, f *eventserver.Refusal) {
	c.send(f.Frame(id, c.profile))
}

func (c *chat) handle(ctx context.Context, m wire.Message) {
	if !m.HasID {
		if m.Method == "notifications/cancelled" {
			c.cancelRequest(m.Params)
		}
		return
	}
	switch m.Method {
	case "initialize":
		c.send(wire.EncodeResult(m.RawID, c.initialize(m.Params)))
	case "ping":
		c.send(wire.EncodeResult(m.RawID, map[string]any{}))
	case "tools/list":
		c.send(wire.EncodeResult(m.RawID, map[string]any{"tools": []any{}}))
	case wire.MethodList:
		result, f := c.list(m.Params, time.Now())
		c.reply(m.RawID, result, f)
	case wire.MethodPoll:
		c.keep(ctx, m, c.longPoll)
	case wire.MethodStream:
		c.keep(ctx, m, c.stream)
	case wire.MethodSubscribe, wire.MethodUnsubscribe:
		c.refuse(m.RawID, eventserver.BadMode("this server", "webhook", []string{"push", "poll"}))
	case "":
	default:
		c.refuse(m.RawID, eventserver.Refuse(wire.MethodNotFound, "no such method", nil))
	}
}

func (c *chat) reply(id json.RawMessage, result map[string]any, f *eventserver.Refusal) {
	if f != nil {
		c.refuse(id, f)
		return
	}
	c.send(wire.EncodeResult(id, result))
}

func (c *chat) initialize(params json.RawMessage) map[string]any {
	return greeting(params, "chat", "Chat (demo)", "Rooms with people and strangers. Subscribe to message.posted.",
		map[string]any{"tools": map[string]any{}, "events": map[string]any{"listChanged": false}})
}

// keep runs a request that may stay open, until it ends or is cancelled.
func (c *chat) keep(ctx context.Context, m wire.Message, serve func(context.Context, wire.Message)) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	_, used := c.open[m.ID]
	full := len(c.open) >= maxRequests
	if !used && !full && !c.closed {
		c.open[m.ID] = cancel
		c.requests.Go(func() {
			defer c.forget(m.ID, cancel)
			serve(ctx, m)
		})
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	cancel()
	switch {
	case used:
		c.refuse(m.RawID, eventserver.Refuse(wire.InvalidRequest, "the id is in use", nil))
	case full:
		c.refuse(m.RawID, eventserver.Refuse(wire.ResourceExhausted, "too many open requests", map[string]any{"limit": "streams", "max": maxRequests}))
	}
}

func (c *chat) forget(id wire.ID, cancel context.CancelFunc) {
	cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

func (c *chat) cancelRequest(params json.RawMessage) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.open[wire.CanonicalID(p.RequestID)]; cancel != nil {
		cancel()
	}
}

// stream answers events/stream. A stream that was cancelled gets no answer.
func (c *chat) stream(ctx context.Context, m wire.Message) {
	w, f := c.resolve(m.Params, "push", time.Now())
	if f != nil {
		c.refuse(m.RawID, f)
		return
	}
	s := &stream{engine: &c.engine, requested: w, id: m.RawID, heartbeat: c.opts.Heartbeat, write: c.write, close: "\n"}
	if err := s.run(ctx); err == nil {
		c.send(wire.EncodeResult(m.RawID, map[string]any{}))
	} else if !errors.Is(err, context.Canceled) {
		c.log.Debug("stream ended", "error", err)
	}
}

// longPoll answers events/poll. With timeoutMs and a cursor it waits for the
// first event; without a cursor the client gets one at once.
func (c *chat) longPoll(ctx context.Context, m wire.Message) {
	var p struct {
		TimeoutMs float64 `json:"timeoutMs"`
	}
	if f := eventserver.Decode(m.Params, &p); f != nil {
		c.refuse(m.RawID, f)
		return
	}
	deadline := time.Now().Add(min(time.Duration(max(0, min(p.TimeoutMs, 1e9)))*time.Millisecond, maxLongPoll))
	result, w, f := c.poll(m.Params, time.Now())
	for f == nil && w.held && !w.truncated && len(result["events"].([]json.RawMessage)) == 0 && time.Now().Before(deadline) {
		wake := w.kind.feed.when(w.pos + 1).Add(c.faults[faultPollLags])
		if deadline.Before(wake) {
			wake = deadline
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(gather, time.Until(wake))):
		}
		result, w = c.take(w, time.Now())
	}
	c.reply(m.RawID, result, f)
}
