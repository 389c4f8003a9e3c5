package eventserver

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

	"eventdeck/host/wire"
)

// MaxLine bounds one message over stdio, in bytes.
const MaxLine = 1 << 20

// noteCancelled cancels a request of the client that sends it.
const noteCancelled = "notifications/cancelled"

// ErrNotRead: the client does not read a response.
var ErrNotRead = errors.New("the client does not read what it asked for")

// settleTimeout bounds how long Run waits at its end for a client that does not read.
const settleTimeout = time.Second

// Stdio is the client over standard input and output, which sends and gets JSON-RPC by lines. Make
// it with [NewStdio]. Its methods may be called from any goroutine.
type Stdio struct {
	log  *slog.Logger
	most int // open requests

	cancel   context.CancelFunc // of Run
	requests sync.WaitGroup

	writing sync.Mutex // whole messages
	out     io.Writer
	failed  error // of the first write that failed

	mu     sync.Mutex
	closed bool
	open   map[wire.ID]context.CancelFunc // requests under way
}

// NewStdio returns a client that reads out and may have at most most open requests.
func NewStdio(out io.Writer, most int, log *slog.Logger) *Stdio {
	return &Stdio{log: log, most: most, out: out, cancel: func() {}, open: map[wire.ID]context.CancelFunc{}}
}

// Run hands each request of in to handle, one after the other, until in or ctx ends, which is no
// error. Then it waits for the open requests, and calls settle, which waits for other work for the
// client. It may be called once. p is the profile for refusing malformed messages.
//
// A read of in that blocks cannot be interrupted: after the end of ctx, in is closed if it is an
// [io.Closer]; otherwise one goroutine runs until the next line or the end of in. So does one for
// each response that the client does not read.
//
// Errors: those of in and out, ErrNotRead.
func (c *Stdio) Run(ctx context.Context, in io.Reader, p wire.Profile, handle func(context.Context, wire.Message), settle func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.writing.Lock()
	c.cancel = cancel
	c.writing.Unlock()
	if closer, ok := in.(io.Closer); ok {
		defer context.AfterFunc(ctx, func() { closer.Close() })()
	}
	reading := make(chan error, 1)
	go func() { reading <- c.read(ctx, in, p, handle) }()
	var err error
	select {
	case err = <-reading:
	case <-ctx.Done():
	}
	cancel()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		c.requests.Wait()
		settle()
	}()
	select {
	case <-settled:
	case <-time.After(settleTimeout):
		return errors.Join(err, ErrNotRead)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return err
}

func (c *Stdio) read(ctx context.Context, in io.Reader, p wire.Profile, handle func(context.Context, wire.Message)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), MaxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		messages, err := wire.DecodeMessages(line)
		if err != nil {
			c.log.Warn("a line that is no message", "bytes", len(line))
			c.Refuse(nil, Refuse(wire.InvalidRequest, "one JSON-RPC message a line expected", nil), p)
			continue
		}
		for _, m := range messages {
			switch {
			case m.Method == noteCancelled:
				c.cancelRequest(m.Params)
			case m.HasID && m.Method != "":
				handle(ctx, m)
			}
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	if err := lines.Err(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("the client's messages cannot be read: %w", err)
	}
	return nil
}

// Start serves a request in a goroutine of its own. The context of serve ends when the client
// cancels the request.
func (c *Stdio) Start(ctx context.Context, m wire.Message, p wire.Profile, serve func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	_, used := c.open[m.ID]
	full := len(c.open) >= c.most
	if !used && !full && !c.closed {
		c.open[m.ID] = cancel
		c.requests.Go(func() {
			defer c.forget(m.ID, cancel)
			serve(ctx)
		})
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	cancel()
	switch {
	case used:
		c.Refuse(m.RawID, Refuse(wire.InvalidRequest, "the id is in use", nil), p)
	case full:
		c.Refuse(m.RawID, TooMany("open requests", "streams", c.most), p)
	}
}

func (c *Stdio) forget(id wire.ID, cancel context.CancelFunc) {
	cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

func (c *Stdio) cancelRequest(params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.open[cancelled(params)]; cancel != nil {
		cancel()
	}
}

// cancelled returns the request that a notification of noteCancelled names.
func cancelled(params json.RawMessage) wire.ID {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(params, &p) // params that are no object name none
	return wire.CanonicalID(p.RequestID)
}

// Write sends whole lines. The first failure ends Run; later calls return it too.
func (c *Stdio) Write(lines []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	if _, err := c.out.Write(lines); err != nil {
		c.failed = fmt.Errorf("the client cannot be written to: %w", err)
		c.cancel()
	}
	return c.failed
}

// Sink returns a sink that sends each message as a line.
func (c *Stdio) Sink() Sink { return Sink{Write: c.Write, Close: "\n"} }

// Send sends one message; its arguments are the results of the encoding functions of package wire.
func (c *Stdio) Send(frame []byte, err error) {
	if err != nil {
		c.log.Error("a message cannot be encoded", "err", err)
		return
	}
	_ = c.Write(append(frame, '\n')) // kept in failed, which ends Run
}

// Refuse refuses the request with the raw id, nil for a malformed message.
func (c *Stdio) Refuse(id json.RawMessage, f *Refusal, p wire.Profile) { c.Send(f.Frame(id, p)) }

// Reply answers the request with the raw id: with f, or with the result if f is nil.
func (c *Stdio) Reply(id json.RawMessage, result map[string]any, f *Refusal, p wire.Profile) {
	if f != nil {
		c.Refuse(id, f, p)
		return
	}
	c.Send(wire.EncodeResult(id, result))
}
