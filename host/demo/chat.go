package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
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
	History   int           // newest events of a scripted type that can be replayed; 0 means 2,000
	Faults    []string      // names of [Faults], some with "=" and a duration

	Random io.Reader // of the run's id; nil means the system's
}

const (
	maxLongPoll = 30 * time.Second
	maxRequests = 256 // streams and long polls that are open
)

// RunChat serves the demo server chat over stdio: newline-delimited JSON-RPC on stdin and stdout,
// its log on stderr. It returns nil when stdin or ctx ends. Reads and writes that block: see
// [eventserver.Stdio.Run].
//
// Errors: [ErrOptions]; failure of the randomness; those of [eventserver.Stdio.Run].
func RunChat(ctx context.Context, opts ChatOptions, stdin io.Reader, stdout, stderr io.Writer) error {
	setDefault(&opts.Speed, 1)
	setDefault(&opts.Heartbeat, 5*time.Second)
	opts.Heartbeat = min(opts.Heartbeat, 30*time.Second)
	setDefault(&opts.History, 2000)
	log := slog.New(slog.NewTextHandler(stderr, nil))
	setDefault(&opts.Random, rand.Reader)
	e, err := newEngine(settings{opts.Speed, opts.Seed, opts.Rate, opts.History, opts.Faults, false, opts.Random}, chatTypes())
	if err != nil {
		return err
	}
	e.profile, e.page, e.nextPoll = wire.ProfileSketch, 50, time.Second
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &chat{
		Stdio:  eventserver.NewStdio(stdout, maxRequests, log),
		engine: e,
		opts:   opts, log: log}
	c.log.Info("chat is ready", "run", e.run)
	return c.Run(ctx, stdin, c.profile, c.handle, func() {})
}

// chat is the demo server over stdio.
type chat struct {
	*eventserver.Stdio
	engine
	opts ChatOptions
	log  *slog.Logger
}

func (c *chat) handle(ctx context.Context, m wire.Message) {
	switch m.Method {
	case "initialize":
		c.reply(m, c.initialize(m.Params), nil)
	case "ping":
		c.reply(m, map[string]any{}, nil)
	case "tools/list":
		c.reply(m, map[string]any{"tools": []any{}}, nil)
	case wire.MethodList:
		result, f := c.list(m.Params, time.Now())
		c.reply(m, result, f)
	case wire.MethodPoll:
		c.Start(ctx, m, c.profile, func(ctx context.Context) { c.longPoll(ctx, m) })
	case wire.MethodStream:
		c.Start(ctx, m, c.profile, func(ctx context.Context) { c.stream(ctx, m) })
	case wire.MethodSubscribe, wire.MethodUnsubscribe:
		c.reply(m, nil, eventserver.BadMode("this server", "webhook", []string{"push", "poll"}))
	default:
		c.reply(m, nil, eventserver.Refuse(wire.MethodNotFound, "no such method", nil))
	}
}

func (c *chat) reply(m wire.Message, result map[string]any, f *eventserver.Refusal) {
	c.Reply(m.RawID, result, f, c.profile)
}

func (c *chat) initialize(params json.RawMessage) map[string]any {
	return greeting(params, "chat", "Chat (demo)", "Rooms with people and strangers. Subscribe to message.posted.", eventserver.Capabilities(false))
}

// stream answers events/stream, unless it is cancelled.
func (c *chat) stream(ctx context.Context, m wire.Message) {
	w, f := c.resolve(m.Params, "push", time.Now())
	if f != nil {
		c.reply(m, nil, f)
		return
	}
	s := &stream{engine: &c.engine, requested: w, id: m.RawID, heartbeat: c.opts.Heartbeat, out: c.Sink()}
	if err := s.run(ctx); err == nil {
		c.reply(m, map[string]any{}, nil)
	} else if !errors.Is(err, context.Canceled) {
		c.log.Debug("stream ended", "error", err)
	}
}

// longPoll answers events/poll. With timeoutMs and a cursor it waits for the first event; without a
// cursor it answers at once with one.
func (c *chat) longPoll(ctx context.Context, m wire.Message) {
	var p struct {
		TimeoutMs float64 `json:"timeoutMs"`
	}
	if f := eventserver.Decode(m.Params, &p); f != nil {
		c.reply(m, nil, f)
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
	c.reply(m, result, f)
}
