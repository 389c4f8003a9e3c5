// Package demo has four real MCP servers, each with another dialect of events and another
// transport, to try a host without other servers, and to test it:
//
//   - pager: Streamable HTTP, protocol 2026-07-28, SEP-3415; push, poll and
//     webhook, all with replay.
//   - chat: stdio, handshake revisions, the earlier design sketch; push and
//     poll, one type without replay.
//   - archive: HTTP+SSE of 2024-11-05, SEP-1803; push and webhook, no replay.
//   - digest: WebSocket, handshake revisions, MCPE; push, no replay.
//
// A scripted incident runs through all of them: a deploy, alerts, checkout that fails for one buyer
// in ten, pages, a suspicion, the rollback, the all clear; after a minute (at speed 1) it begins
// again. The letters of customers and the note of a stranger are hostile on purpose.
package demo

import (
	"context"
	"net"
	"sync"
	"time"

	"eventdeck/host/eventserver"
	"eventdeck/host/wire"
)

// PagerPath is the path of pager's endpoint.
const PagerPath = "/mcp"

// PagerOptions configure a [Pager]. The zero value is usable.
type PagerOptions struct {
	// Unlike the other servers, a pager without a Token admits all callers. Only principals may use
	// webhooks: the holder of the Token, or a caller on loopback with LoopbackPrincipal.
	ServerOptions

	// ServerKey signs deliveries also as v1a, with a key that is made at the start
	// and published at [receiver.WellKnownKeys].
	ServerKey bool

	Heartbeat        time.Duration // between heartbeats of a stream; 0 means 5 s; at most 30 s
	NextPoll         time.Duration // until a client should poll again; 0 means 1 s
	History          int           // newest events of a scripted type that can be replayed; 0 means 2,000
	DefaultTTL       time.Duration // of webhook subscriptions, and the longest; 0 means 10 min
	MaxSubscriptions int           // webhook subscriptions of a principal; 0 means 100
	MaxStreams       int           // open streams; 0 means 1,000

	// Backoff holds the waits before the second and every later try of a
	// delivery; nil means 0.5 s, 15 s, 2 min and 9 min.
	Backoff []time.Duration
	// SuspendAfter is how long deliveries may fail without a success before the
	// server stops trying; 0 means 2 min.
	SuspendAfter time.Duration

	// Faults are names of [Faults], some with "=" and a duration.
	Faults []string
}

func (o PagerOptions) withDefaults() PagerOptions {
	o.ServerOptions = o.ServerOptions.withDefaults("127.0.0.1:8931")
	setDefault(&o.Heartbeat, 5*time.Second)
	o.Heartbeat = min(o.Heartbeat, 30*time.Second)
	setDefault(&o.NextPoll, time.Second)
	setDefault(&o.History, 2000)
	setDefault(&o.DefaultTTL, 10*time.Minute)
	setDefault(&o.MaxSubscriptions, 100)
	setDefault(&o.MaxStreams, 1000)
	setDefault(&o.SuspendAfter, 2*time.Minute)
	if o.Backoff == nil {
		o.Backoff = eventserver.Backoff()
	}
	return o
}

// Pager is the demo server over Streamable HTTP. Make it with [NewPager].
type Pager struct {
	engine
	opts    PagerOptions
	hooks   *hooks
	streams chan struct{} // one slot for every open stream

	calling   sync.Mutex // one call of a tool at a time
	tools     []tool
	incidents timeline
	deploys   operated
}

// NewPager makes a server whose run starts now.
//
// Errors: [ErrOptions]; failure of the randomness.
func NewPager(opts PagerOptions) (*Pager, error) {
	opts = opts.withDefaults()
	e, err := newEngine(settings{opts.Speed, opts.Seed, opts.Rate, opts.History, opts.Faults, true, opts.Random}, pagerTypes())
	if err != nil {
		return nil, err
	}
	e.profile, e.page, e.nextPoll = wire.ProfileSEP, 4, opts.NextPoll
	if e.faults.has(faultRetriesShort) {
		opts.Backoff = []time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}
	}
	p := &Pager{
		engine:  e,
		opts:    opts,
		streams: make(chan struct{}, opts.MaxStreams),
	}
	p.makeTools()
	p.hooks = newHooks(&p.engine, opts)
	if opts.ServerKey {
		if p.hooks.key, err = eventserver.NewServerKey(opts.Random); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// RunPager serves a pager on opts.Listen until ctx ends, which is no error. The
// first line on opts.Stderr is "listening on" and the complete endpoint URL.
//
// Errors: those of [NewPager], of listening and of serving.
func RunPager(ctx context.Context, opts PagerOptions) error {
	p, err := NewPager(opts)
	if err != nil {
		return err
	}
	return listenAndServe(ctx, "pager", p.opts.Listen, "http", PagerPath, p.opts.Stderr, p.Serve)
}

// Serve answers on ln, which it closes, until ctx ends, which is no error. It
// returns after every goroutine of the server has ended. It may be called once.
func (p *Pager) Serve(ctx context.Context, ln net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	local := eventserver.OnLoopback(ln.Addr())
	if local {
		p.opts.AllowLoopback, p.opts.TrustCA, p.opts.LoopbackPrincipal = true, true, true
	}
	p.hooks.begin(ctx, p.opts)
	guard := eventserver.Guard{Realm: "pager", Token: p.opts.Token, Loopback: local, Anonymous: true}
	srv := eventserver.NewHTTP(ctx, p.handler(guard), true, p.opts.Log)
	return eventserver.ServeUntil(ctx, cancel, srv, ln, "pager", p.hooks.Wait)
}
