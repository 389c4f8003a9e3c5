package mcpserver

import (
	"context"
	"io"
	"sync/atomic"

	"eventdeck/host/eventserver"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// ServeStdio answers the client that reads out and writes in, JSON-RPC by lines, until in or ctx
// ends, which is no error. It may be called once. Reads and writes that block: see
// [eventserver.Stdio.Run].
//
// Errors: those of in and out, a client that does not read.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &connection{Server: s, Stdio: eventserver.NewStdio(out, s.opts.MaxStreams, s.opts.Log)}
	s.hooks.Begin(ctx)
	s.work.Go(func() { s.follow(ctx) })
	s.work.Go(func() { c.tellChanges(ctx) })
	return c.Run(ctx, in, wire.ProfileSEP, c.handle, func() {
		cancel()
		s.work.Wait()
		s.hooks.Wait()
	})
}

// connection is the client over stdio.
type connection struct {
	*Server
	*eventserver.Stdio
	greets atomic.Bool                // it began with initialize
	name   atomic.Pointer[trust.Text] // under which it did
}

// callerStdio is the caller over stdio, which is the program that started this one.
const callerStdio = "stdio"

func (c *connection) handle(ctx context.Context, m wire.Message) {
	r := newRequest(m, callerStdio)
	if asked := eventserver.Version(m.Params); asked != "" && asked != eventserver.Modern {
		c.Refuse(r.id, eventserver.BadVersion(asked), wire.ProfileSEP)
		return
	}
	if r.method == "initialize" {
		c.greets.Store(true)
		c.name.Store(&r.client)
	}
	if name := c.name.Load(); name != nil && r.client.IsZero() {
		r.client = *name
	}
	c.Start(ctx, m, r.profile(), func(ctx context.Context) { c.serve(ctx, r) })
}

func (s *Server) tooMany() *eventserver.Refusal {
	return eventserver.TooMany("open requests", "streams", s.opts.MaxStreams)
}

// serve answers one request, unless it is cancelled.
func (c *connection) serve(ctx context.Context, r request) {
	out := c.Sink()
	switch {
	case r.method == wire.MethodStream:
		w, f := c.resolve(r.params)
		if f != nil {
			c.Refuse(r.id, f, r.profile())
			return
		}
		c.ended(ctx, c.stream(ctx, r, w, out))
	case r.opens():
		c.ended(ctx, c.listen(ctx, r, out, ""))
	default:
		if result, f := c.answer(ctx, r); ctx.Err() == nil {
			c.Reply(r.id, result, f, r.profile())
		}
	}
}

func (c *connection) ended(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		c.opts.Log.Debug("a stream ended", "err", err)
	}
}

// tellChanges notifies a client that began with initialize when the list of types changes.
func (c *connection) tellChanges(ctx context.Context) {
	next, seen := c.next(), c.types.currentVersion()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next:
			next = c.next()
		}
		if at := c.types.currentVersion(); at != seen {
			if seen = at; c.greets.Load() {
				c.Send(wire.EncodeNotification(wire.NoteListChanged, nil))
			}
		}
	}
}
