package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/hooks"
	"eventdeck/host/internal/pause"
	"eventdeck/host/redact"
	"eventdeck/host/session"
	"eventdeck/host/trust"
)

// Host is the agent host. It implements [API].
type Host struct {
	opts        Options
	log         *eventlog.Log
	eventFrames eventFrames
	wire        *eventlog.Ring[WireFrame]
	appLog      *eventlog.Ring[LogLine]
	meter       *meter
	secrets     redact.Set // of the servers and their subscriptions; masks what servers say

	ctx       context.Context
	cancel    context.CancelCauseFunc
	wg        sync.WaitGroup
	stopWatch func()
	version   atomic.Uint64

	mu      sync.Mutex
	closed  bool
	servers []*server
	runs    map[event.SubID]*running
	counts  map[event.SubID]*counts
	flags   map[chan struct{}]struct{}
	// notifies: a call of notify is due; see [server.notifySoon].
	notifies atomic.Bool
	marks    []event.Mark
	// orphans are leases that ended here and whose end the server has not confirmed.
	orphans []orphan
	// reserved are new subscriptions that are about to be stored: see reservePlace.
	reserved map[event.SubID]struct{}
	// duplicates were dropped by runners that have ended.
	duplicates uint64

	hooks *hooks.Service
	// serverLocks serialize acts on a server and its subscriptions, so that a pause and a
	// resume of the same one cannot overtake each other. Each server has its own: one that
	// is away delays acts on its own subscriptions only.
	serverLocks map[string]ctxMutex

	refusedBefore map[event.SubID]event.Refused // deliveries, in earlier runs
}

// ctxMutex is a mutex whose lock gives up when a context ends.
type ctxMutex chan struct{}

func (m ctxMutex) lock(ctx context.Context) error {
	select {
	case m <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m ctxMutex) unlock() { <-m }

// serverLock returns the lock of a server.
func (h *Host) serverLock(server string) ctxMutex {
	h.mu.Lock()
	defer h.mu.Unlock()
	mu := h.serverLocks[server]
	if mu == nil {
		mu = make(ctxMutex, 1)
		h.serverLocks[server] = mu
	}
	return mu
}

// lockSub locks the server of a subscription, and returns the subscription as it is stored
// under the lock, and the lock.
//
// Errors: [event.ErrNotFound], the cause of ctx.
func (h *Host) lockSub(ctx context.Context, id event.SubID) (event.Subscription, ctxMutex, error) {
	sub, err := h.subscription(id)
	if err != nil {
		return sub, nil, err
	}
	mu := h.serverLock(sub.Key.Server)
	if err := mu.lock(ctx); err != nil {
		return sub, nil, err
	}
	if sub, err = h.subscription(id); err != nil {
		mu.unlock()
		return sub, nil, err
	}
	return sub, mu, nil
}

// running is a subscription that runs.
type running struct {
	runner *delivery.Runner
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// counts are the numbers of a subscription in this run.
type counts struct {
	stored, gaps uint64    // records
	last         uint64    // sequence number of the newest record
	at           time.Time // when that was received
	refused      refusals
}

// New returns a host on an open store, which stays the caller's to close, after
// the host. Nothing is connected yet: see [Host.AddServer].
func New(o Options) (*Host, error) {
	if o.Store == nil {
		return nil, errors.New("a host needs a store")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Timing, o.Limits = o.Timing.WithDefaults(), o.Limits.withDefaults()
	h := &Host{
		log:           eventlog.New(o.Store),
		wire:          eventlog.NewRing[WireFrame](wireFrames, wireBytes),
		appLog:        eventlog.NewRing[LogLine](logLines, logBytes),
		meter:         newMeter(o.Now()),
		marks:         o.Store.Marks(),
		runs:          map[event.SubID]*running{},
		counts:        map[event.SubID]*counts{},
		refusedBefore: sumRefused(o.Store.Refusals()),
		flags:         map[chan struct{}]struct{}{},
		serverLocks:   map[string]ctxMutex{},

		reserved: map[event.SubID]struct{}{},
	}
	o.Log = slog.New(redact.Handler(&appLogHandler{next: o.Log.Handler(), keep: h.addLine}, &h.secrets))
	h.opts = o
	var err error
	if h.orphans, err = loadOrphans(o.Store); err != nil {
		o.Log.Warn("orphans of earlier runs are forgotten", "err", err)
	}
	for _, sub := range o.Store.Subscriptions() {
		HideSubscription(&h.secrets, sub)
	}
	for _, o := range h.orphans {
		hide(&h.secrets, o.Args, o.Shown)
	}
	h.ctx, h.cancel = context.WithCancelCause(context.Background())
	h.hooks = h.newHooks()
	h.wg.Go(h.hooks.Run)
	h.stopWatch = o.Store.Watch(h.stored)
	h.wg.Go(h.watchClock)
	h.wg.Go(h.awaitKey)
	return h, nil
}

// locked returns what is closed once secrets can be read and stored, and why they cannot now.
func (h *Host) locked() (until <-chan struct{}, why error) {
	until = h.opts.Store.Unlocked()
	select {
	case <-until:
		return until, nil
	default:
		return until, h.opts.Store.Info().Locked
	}
}

// keyEvery is how often a locked store is looked at. To wait for [event.Store.Unlocked] would ask
// the operator for a key that perhaps nothing needs.
const keyEvery = time.Second

// awaitKey connects again to the servers that wait for their sign-in, once it can be read.
func (h *Host) awaitKey() {
	if h.opts.Store.Info().Locked == nil {
		return
	}
	for h.opts.Store.Info().Locked != nil {
		if pause.For(h.ctx, keyEvery) != nil {
			return
		}
	}
	h.opts.Log.Info("secrets are not locked any more")
	for _, sub := range h.opts.Store.Subscriptions() {
		HideSubscription(&h.secrets, sub)
	}
	h.mu.Lock()
	servers := slices.Clone(h.servers)
	h.mu.Unlock()
	for _, s := range servers {
		if s.snapshot().Reason == event.ReasonLocked {
			s.reconnectNow()
		}
	}
	h.notify()
}

// newHooks returns the service that takes webhook deliveries.
func (h *Host) newHooks() *hooks.Service {
	o := h.opts
	return hooks.New(h.ctx, hooks.Deps{
		CallbackURL: o.CallbackURL, ListenAddr: o.ListenAddr, PlainHTTP: o.PlainHTTP, CADir: o.CADir,
		Connections: o.HookConnections, BadRate: o.HookBadRate, Proxies: o.HookProxies,
		Dial: o.Network.Dial, Listen: o.Network.Listen,
		Store: o.Store, Now: o.Now, Log: o.Log, Secrets: &h.secrets, Backoff: h.backoff,
		Server: func(name string) (event.Server, error) {
			s, err := h.server(name)
			if err != nil {
				return event.Server{}, err
			}
			return s.spec, nil
		},
		Runner: func(id event.SubID) *delivery.Runner {
			if l := h.running(id); l != nil {
				return l.runner
			}
			return nil
		},
		Refused: h.refusedDelivery, Accepted: h.acceptedDelivery, KeepStates: h.keepStates,
		Note: h.audit, Changed: h.notify,
	})
}

// stored follows the store's commits. It runs on the writer's goroutine.
func (h *Host) stored(records []event.Record) {
	h.log.Append(records)
	h.meter.stored(records, h.opts.Now())
	h.mu.Lock()
	for i := range records {
		r := &records[i]
		c := h.count(r.Sub)
		switch r.Kind {
		case event.KindEvent:
			c.stored++
		case event.KindGap:
			c.gaps++
		}
		c.last, c.at = r.Seq, r.ReceivedAt
	}
	h.mu.Unlock()
	h.notify()
}

// count returns the counts of a subscription. The lock is held.
func (h *Host) count(id event.SubID) *counts {
	c := h.counts[id]
	if c == nil {
		c = new(counts)
		h.counts[id] = c
	}
	return c
}

// forget drops the counts of a subscription that was removed.
func (h *Host) forget(id event.SubID) {
	h.meter.forgetSub(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.counts, id)
}

// notify raises every reader's flag.
func (h *Host) notify() {
	h.version.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.flags {
		signal(ch)
	}
}

// Changed implements [API].
func (h *Host) Changed() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	ch <- struct{}{}
	h.mu.Lock()
	h.flags[ch] = struct{}{}
	h.mu.Unlock()
	return ch, func() {
		h.mu.Lock()
		delete(h.flags, ch)
		h.mu.Unlock()
	}
}

// Log implements [API].
func (h *Host) Log() *eventlog.Log { return h.log }

// Refusals implements [API].
func (h *Host) Refusals() []event.Refusal { return h.opts.Store.Refusals() }

// backoff returns the pauses between attempts after failures.
func (h *Host) backoff() delivery.Backoff {
	return &session.Backoff{Min: h.opts.Timing.BackoffMin, Max: h.opts.Timing.BackoffMax}
}

// AddServer implements [API].
func (h *Host) AddServer(spec event.Server) {
	mu := h.serverLock(spec.Name)
	if mu.lock(h.ctx) != nil {
		return // the host is closing
	}
	defer mu.unlock()
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return
	}
	i := slices.IndexFunc(h.servers, func(s *server) bool { return s.spec.Name == spec.Name })
	var old *server
	if i < 0 && len(h.servers) >= h.opts.Limits.Servers {
		spec = event.Server{Name: spec.Name, AdHoc: spec.AdHoc, Fault: h.opts.Limits.tooMany()}
	}
	s := newServer(h, spec)
	ctx, cancel := context.WithCancel(h.ctx)
	s.cancel = cancel
	if i >= 0 {
		old = h.servers[i]
		h.servers[i] = s
	} else {
		h.servers = append(h.servers, s)
	}
	h.wg.Go(func() { s.run(ctx) })
	h.mu.Unlock()

	if old != nil {
		for _, sub := range h.opts.Store.Subscriptions() {
			if sub.Key.Server == spec.Name {
				h.stopRunning(sub.ID)
			}
		}
		old.cancel()
		<-old.done
	}
	for _, sub := range h.opts.Store.Subscriptions() {
		if sub.Key.Server == spec.Name {
			h.start(sub)
		}
	}
	if spec.ByHand {
		h.auditAdded(spec, old != nil)
	}
	h.notify()
}

func (h *Host) server(name string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.servers {
		if s.spec.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w %q", ErrUnknownServer, name)
}

// start runs a stored subscription, unless it is paused or over. Only
// the holder of its server's lock may call it.
func (h *Host) start(sub event.Subscription) {
	if sub.Paused || sub.State.Over() {
		return
	}
	s, err := h.server(sub.Key.Server)
	if err != nil {
		return // its server is not configured, and the snapshot says so
	}
	if sub.Mode == event.ModeWebhook && sub.Hook.Path != "" {
		// Deliveries come whether or not the server can be reached from here.
		h.hooks.AddPath(sub.Hook.Path, sub.ID)
		if err := h.hooks.Start(); err != nil {
			h.logOf(sub).Error("the receiver could not be started", "err", err)
		}
	}
	kind := dialect.KindOf(sub.Dialect)
	r := delivery.New(delivery.Deps{
		Source:       s,
		Store:        h.opts.Store,
		Now:          h.opts.Now,
		Jitter:       rand.Float64,
		Timing:       h.opts.Timing,
		Random:       h.opts.Random,
		Backoff:      h.backoff,
		Changed:      h.notify,
		Altered:      func(n int) { h.hooks.Altered(sub.ID, n) },
		ReasonOf:     ReasonOf,
		Relist:       h.relist,
		Modes:        h.modes,
		Pace:         s.pace.take,
		Orphaned:     h.orphan,
		Locked:       h.locked,
		Callback:     func(path string) (string, error) { return h.hooks.Callback(path, sub.ID) },
		TTL:          sub.TTL,
		RotateEvery:  h.opts.RotateEvery,
		Read:         kind.Read,
		ServerSecret: kind.ServerSecret,
		Lasting:      kind.Lasting,
		Ends:         expires(sub),
		Release:      h.releaseSub,
		Failpoint:    h.opts.Failpoint,
		Log:          h.logOf(sub),
	}, sub)
	ctx, cancel := context.WithCancelCause(h.ctx)
	l := &running{runner: r, cancel: cancel, done: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.runs[sub.ID] != nil {
		cancel(nil)
		return
	}
	h.runs[sub.ID] = l
	h.wg.Go(func() {
		defer close(l.done)
		defer cancel(nil)
		r.Run(ctx)
	})
}

// stopRunning ends the runner of a subscription and waits for it. Only the
// holder of its server's lock may call it.
func (h *Host) stopRunning(id event.SubID) {
	h.mu.Lock()
	l := h.runs[id]
	h.mu.Unlock()
	if l == nil {
		return
	}
	l.cancel(fmt.Errorf("subscription %s: %w", id, delivery.ErrStopped))
	<-l.done
	h.mu.Lock()
	delete(h.runs, id)
	h.duplicates += l.runner.Status().Duplicates
	h.mu.Unlock()
}

// running returns the runner of a subscription; nil: it does not run.
func (h *Host) running(id event.SubID) *running {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs[id]
}

// nudge refreshes the leases of a server that may have forgotten them.
func (h *Host) nudge(server string) {
	for _, sub := range h.opts.Store.Subscriptions() {
		if sub.Key.Server != server || sub.Mode != event.ModeWebhook {
			continue
		}
		if l := h.running(sub.ID); l != nil {
			l.runner.Nudge()
		}
	}
}

// Close implements [API].
func (h *Host) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	err := h.hooks.Close()
	h.cancel(errors.New("the host is closing"))
	h.wg.Wait()
	h.stopWatch()
	return err
}

// Snapshot implements [API].
func (h *Host) Snapshot() Snapshot {
	snap := h.emptySnapshot()
	h.mu.Lock()
	servers := slices.Clone(h.servers)
	h.mu.Unlock()
	byName := make(map[string]*ServerView, len(servers))
	snap.Servers = make([]ServerView, len(servers))
	for i, s := range servers {
		snap.Servers[i] = s.snapshot()
		byName[s.spec.Name] = &snap.Servers[i]
	}
	subs := h.opts.Store.Subscriptions()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, sub := range subs {
		v := h.viewOf(sub, byName[sub.Key.Server], snap.At)
		snap.Resume.Replayed += v.Status.Replayed
		snap.Resume.Duplicates += v.Dropped
		snap.Resume.Gaps += v.Gaps
		snap.Subs = append(snap.Subs, v)
	}
	return snap
}

// SnapshotOf implements [API].
func (h *Host) SnapshotOf(id event.SubID) Snapshot {
	snap := h.emptySnapshot()
	sub, err := h.opts.Store.Subscription(id)
	if err != nil {
		return snap
	}
	var server *ServerView
	if s, err := h.server(sub.Key.Server); err == nil {
		v := s.snapshot()
		server = &v
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	snap.Subs = []SubscriptionView{h.viewOf(sub, server, snap.At)}
	return snap
}

// emptySnapshot returns a snapshot without servers and subscriptions. Its version is read first:
// what is added later is at least as new.
func (h *Host) emptySnapshot() Snapshot {
	snap := Snapshot{
		Version:  h.version.Load(),
		At:       h.opts.Now(),
		Store:    h.opts.Store.Info(),
		Last:     h.opts.Store.Last(),
		Receiver: h.hooks.Listening(),
	}
	if err := h.hooks.Failure(); err != nil {
		snap.ReceiverErr = trust.Line(trust.OfError(err)).Plain()
	}
	return snap
}

// viewOf returns the view of a subscription. The lock is held.
func (h *Host) viewOf(sub event.Subscription, server *ServerView, now time.Time) SubscriptionView {
	v := SubscriptionView{Subscription: sub, Expires: expires(sub)}
	e := evidence{sub: sub, server: server, now: now}
	if c := h.counts[sub.ID]; c != nil {
		v.Stored, v.Gaps, v.LastSeq, v.LastTime = c.stored, c.gaps, c.last, c.at
		e.refused = c.refused
	}
	e.refused.Refused = e.refused.withEarlier(h.refusedBefore[sub.ID])
	l := h.runs[sub.ID]
	if l != nil {
		status := l.runner.Status()
		e.runner = &status
	}
	v.Status, v.Running = derive(e)
	v.Dropped = v.Status.Duplicates
	v.NoServer = l == nil && server == nil
	return v
}
