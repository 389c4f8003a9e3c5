package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// maxLine bounds a message of a client over stdio, in bytes.
const maxLine = 1 << 20

// ServeStdio answers the one client that reads out and writes in, JSON-RPC by lines, until
// in or ctx ends, which is no error. It may be called once. A read of in that blocks
// cannot be interrupted: after the end of ctx in is closed if it is an [io.Closer], and
// otherwise one goroutine runs until the next line or the end of in. So does one for each
// answer that the client does not read.
//
// Errors: those of in and out, a client that does not read.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &connection{Server: s, out: out, cancel: cancel, open: map[wire.ID]context.CancelFunc{}}
	s.hooks.begin(ctx)
	defer s.hooks.sender.Close()
	s.work.Go(func() { s.follow(ctx) })
	s.work.Go(func() { c.tellChanges(ctx) })
	if closer, ok := in.(io.Closer); ok {
		defer context.AfterFunc(ctx, func() { closer.Close() })()
	}
	reading := make(chan error, 1)
	go func() { reading <- c.read(ctx, in) }()
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
		s.work.Wait()
	}()
	select {
	case <-settled:
	case <-time.After(settleWithin):
		return errors.Join(err, errNotRead)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return err
}

// settleWithin is how long the end waits for a client that does not read what was written
// for it.
const settleWithin = 5 * time.Second

// errNotRead: an answer is left that the client does not read.
var errNotRead = errors.New("the client does not read what it asked for")

// connection is the client over stdio.
type connection struct {
	*Server
	cancel   context.CancelFunc
	requests sync.WaitGroup

	writing sync.Mutex // whole messages
	out     io.Writer
	failed  error // of the first write that failed

	mu     sync.Mutex
	closed bool
	greets bool                           // it began with initialize
	open   map[wire.ID]context.CancelFunc // requests under way
}

func (c *connection) read(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		messages, err := wire.DecodeMessages(line)
		if err != nil {
			c.refuse(nil, eventserver.Refuse(wire.InvalidRequest, "one JSON-RPC message a line expected", nil), wire.ProfileSEP)
		}
		for _, m := range messages {
			c.handle(ctx, m)
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

func (c *connection) handle(ctx context.Context, m wire.Message) {
	switch {
	case m.Method == "notifications/cancelled":
		c.cancelRequest(m.Params)
		return
	case !m.HasID || m.Method == "":
		return
	}
	r := newRequest(m, callerStdio)
	if asked := eventserver.Version(m.Params); asked != "" && asked != eventserver.Modern {
		c.refuse(r.id, eventserver.BadVersion(asked), wire.ProfileSEP)
		return
	}
	if r.method == "initialize" {
		c.mu.Lock()
		c.greets = true
		c.mu.Unlock()
	}
	c.start(ctx, m.ID, r)
}

// callerStdio is who asks over stdio: whoever started the program.
const callerStdio = "stdio"

// start answers a request beside the others.
func (c *connection) start(ctx context.Context, id wire.ID, r request) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	_, used := c.open[id]
	full := len(c.open) >= c.opts.MaxStreams
	if !used && !full && !c.closed {
		c.open[id] = cancel
		c.requests.Go(func() {
			defer c.forget(id, cancel)
			c.serve(ctx, r)
		})
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	cancel()
	switch {
	case used:
		c.refuse(r.id, eventserver.Refuse(wire.InvalidRequest, "the id is in use", nil), r.profile())
	case full:
		c.refuse(r.id, c.tooMany(), r.profile())
	}
}

func (s *Server) tooMany() *eventserver.Refusal {
	return eventserver.Refuse(wire.ResourceExhausted, "too many open requests", map[string]any{"limit": "streams", "max": s.opts.MaxStreams})
}

// serve answers one request. One that was cancelled gets no answer.
func (c *connection) serve(ctx context.Context, r request) {
	out := sink{write: c.write, close: "\n"}
	switch {
	case r.method == wire.MethodStream:
		w, f := c.checkStream(r)
		if f != nil {
			c.refuse(r.id, f, r.profile())
			return
		}
		c.ended(ctx, c.stream(ctx, r, w, out))
	case r.opens():
		c.ended(ctx, c.listen(ctx, r, out, ""))
	default:
		result, f := c.answer(ctx, r)
		switch {
		case ctx.Err() != nil:
		case f != nil:
			c.refuse(r.id, f, r.profile())
		default:
			c.send(wire.EncodeResult(r.id, result))
		}
	}
}

func (c *connection) ended(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		c.opts.Log.Debug("a stream ended", "err", err)
	}
}

func (c *connection) forget(id wire.ID, cancel context.CancelFunc) {
	cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, id)
}

func (c *connection) cancelRequest(params json.RawMessage) {
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

// tellChanges tells a client that began with initialize of changes of the list of types.
func (c *connection) tellChanges(ctx context.Context) {
	next, seen := c.next(), c.types.at()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next:
			next = c.next()
		}
		c.mu.Lock()
		greets := c.greets
		c.mu.Unlock()
		if at := c.types.at(); at != seen {
			if seen = at; greets {
				c.send(wire.EncodeNotification(wire.NoteListChanged, nil))
			}
		}
	}
}

// write sends whole lines.
func (c *connection) write(lines []byte) error {
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

func (c *connection) send(frame []byte, err error) {
	if err != nil {
		c.opts.Log.Error("a message cannot be encoded", "err", err)
		return
	}
	_ = c.write(append(frame, '\n')) // kept in failed, which ends the server
}

func (c *connection) refuse(id json.RawMessage, f *eventserver.Refusal, p wire.Profile) {
	c.send(f.Frame(id, p))
}
