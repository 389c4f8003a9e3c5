package host

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/hooks"
)

// subscriptions run the stored subscriptions, and change them.
type subscriptions struct {
	*core
	servers *servers
	meter   *meter
	hooks   *hooks.Service

	refusedBefore map[event.SubID]event.Refused // deliveries, in earlier runs

	mu         sync.Mutex
	runs       map[event.SubID]*running
	counts     map[event.SubID]*counts
	duplicates uint64                   // dropped by runners that have ended
	orphans    []orphan                 // leases that ended here and whose end the server has not confirmed
	reserved   map[event.SubID]struct{} // new ones that are about to be stored: see reservePlace
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

// newSubscriptions returns the subscriptions with the servers below them. None runs before its
// server is added.
func newSubscriptions(c *core, j *journal) *subscriptions {
	subs := &subscriptions{
		core:          c,
		meter:         newMeter(c.opts.Now()),
		refusedBefore: sumRefused(c.opts.Store.Refusals()),
		runs:          map[event.SubID]*running{},
		counts:        map[event.SubID]*counts{},
		reserved:      map[event.SubID]struct{}{},
	}
	subs.servers = &servers{core: c, journal: j, locks: map[string]chan struct{}{}, wake: wakes{
		nudge: subs.nudge, releaseOrphans: subs.releaseOrphans, hideSecrets: subs.hideSecrets, restartDenied: subs.restartDenied,
	}}
	var err error
	if subs.orphans, err = loadOrphans(c.opts.Store); err != nil {
		c.opts.Log.Warn("orphans of earlier runs are forgotten", "err", err)
	}
	c.hideStored()
	for _, o := range subs.orphans {
		hide(&c.secrets, o.Args, o.Shown)
	}
	subs.hooks = subs.newHooks()
	return subs
}

// lockSub locks the server of a subscription, and returns the subscription as it is stored
// under the lock. unlock must be called.
//
// Errors: [event.ErrNotFound], the cause of ctx.
func (subs *subscriptions) lockSub(ctx context.Context, id event.SubID) (sub event.Subscription, unlock func(), err error) {
	if sub, err = subs.subscription(id); err != nil {
		return sub, nil, err
	}
	if unlock, err = subs.servers.lock(ctx, sub.Key.Server); err != nil {
		return sub, nil, err
	}
	if sub, err = subs.subscription(id); err != nil {
		unlock()
		return sub, nil, err
	}
	return sub, unlock, nil
}

// newHooks returns the service that takes webhook deliveries.
func (subs *subscriptions) newHooks() *hooks.Service {
	o := subs.opts
	return hooks.New(subs.ctx, hooks.Deps{
		CallbackURL: o.CallbackURL, ListenAddr: o.ListenAddr, PlainHTTP: o.PlainHTTP, CADir: o.CADir,
		Connections: o.HookConnections, BadRate: o.HookBadRate, Proxies: o.HookProxies,
		Dial: o.Network.Dial, Listen: o.Network.Listen,
		Store: o.Store, Now: o.Now, Log: o.Log, Secrets: &subs.secrets, Backoff: subs.backoff,
		Server: func(name string) (event.Server, error) {
			s, err := subs.servers.server(name)
			if err != nil {
				return event.Server{}, err
			}
			return s.spec, nil
		},
		Runner: func(id event.SubID) *delivery.Runner {
			if l := subs.running(id); l != nil {
				return l.runner
			}
			return nil
		},
		Refused: subs.refusedDelivery, Accepted: subs.acceptedDelivery, KeepStates: subs.keepStates,
		Note: subs.audit, Changed: subs.notify,
	})
}

// counted counts records that were stored.
func (subs *subscriptions) counted(records []event.Record) {
	subs.meter.stored(records, subs.opts.Now())
	subs.mu.Lock()
	defer subs.mu.Unlock()
	for i := range records {
		r := &records[i]
		c := entryOf(subs.counts, r.Sub)
		switch r.Kind {
		case event.KindEvent:
			c.stored++
		case event.KindGap:
			c.gaps++
		}
		c.last, c.at = r.Seq, r.ReceivedAt
	}
}

// forget drops the counts of a subscription that was removed.
func (subs *subscriptions) forget(id event.SubID) {
	subs.meter.forgetSub(id)
	subs.mu.Lock()
	defer subs.mu.Unlock()
	delete(subs.counts, id)
}

// start runs a stored subscription, unless it is paused or over. Only
// the holder of its server's lock may call it.
func (subs *subscriptions) start(sub event.Subscription) {
	if sub.Paused || sub.State.Over() {
		return
	}
	s, err := subs.servers.server(sub.Key.Server)
	if err != nil {
		return // its server is not configured, and the snapshot says so
	}
	if sub.Mode == event.ModeWebhook && sub.Hook.Path != "" {
		// Deliveries come whether or not the server can be reached from here.
		subs.hooks.AddPath(sub.Hook.Path, sub.ID)
		if err := subs.hooks.Start(); err != nil {
			subs.logOf(sub).Error("the receiver could not be started", "err", err)
		}
	}
	kind := dialect.KindOf(sub.Dialect)
	r := delivery.New(delivery.Deps{
		Source:       s,
		Store:        subs.opts.Store,
		Now:          subs.opts.Now,
		Jitter:       rand.Float64,
		Timing:       subs.opts.Timing,
		Random:       subs.opts.Random,
		Backoff:      subs.backoff,
		Changed:      subs.notify,
		Altered:      func(n int) { subs.hooks.Altered(sub.ID, n) },
		ReasonOf:     ReasonOf,
		Relist:       subs.relist,
		Modes:        subs.modes,
		Pace:         s.pace.take,
		Orphaned:     subs.orphan,
		Locked:       subs.locked,
		Callback:     func(path string) (string, error) { return subs.hooks.Callback(path, sub.ID) },
		TTL:          sub.TTL,
		RotateEvery:  subs.opts.RotateEvery,
		Read:         kind.Read,
		ServerSecret: kind.ServerSecret,
		Lasting:      kind.Lasting,
		Ends:         expires(sub),
		Release:      subs.releaseSub,
		Failpoint:    subs.opts.Failpoint,
		Log:          subs.logOf(sub),
	}, sub)
	ctx, cancel := context.WithCancelCause(subs.ctx)
	l := &running{runner: r, cancel: cancel, done: make(chan struct{})}
	run := func() {
		defer close(l.done)
		defer cancel(nil)
		r.Run(ctx)
	}
	subs.mu.Lock()
	defer subs.mu.Unlock()
	if subs.runs[sub.ID] != nil || !subs.spawn(run) {
		cancel(nil)
		return
	}
	subs.runs[sub.ID] = l
}

// stopRunning ends the runner of a subscription and waits for it. Only the
// holder of its server's lock may call it.
func (subs *subscriptions) stopRunning(id event.SubID) {
	l := subs.running(id)
	if l == nil {
		return
	}
	l.cancel(fmt.Errorf("subscription %s: %w", id, delivery.ErrStopped))
	<-l.done
	subs.mu.Lock()
	delete(subs.runs, id)
	subs.duplicates += l.runner.Status().Duplicates
	subs.mu.Unlock()
}

// running returns the runner of a subscription; nil: it does not run.
func (subs *subscriptions) running(id event.SubID) *running {
	subs.mu.Lock()
	defer subs.mu.Unlock()
	return subs.runs[id]
}

// views returns the views of stored subscriptions, of which servers has the servers.
func (subs *subscriptions) views(stored []event.Subscription, servers []ServerView, now time.Time) (all []SubscriptionView) {
	byName := make(map[string]*ServerView, len(servers))
	for i := range servers {
		byName[servers[i].Name] = &servers[i]
	}
	subs.mu.Lock()
	defer subs.mu.Unlock()
	for _, sub := range stored {
		v := SubscriptionView{Subscription: sub, Expires: expires(sub)}
		e := evidence{sub: sub, server: byName[sub.Key.Server], now: now}
		if c := subs.counts[sub.ID]; c != nil {
			v.Stored, v.Gaps, v.LastSeq, v.LastTime = c.stored, c.gaps, c.last, c.at
			e.refused = c.refused
		}
		e.refused.Refused = e.refused.withEarlier(subs.refusedBefore[sub.ID])
		if l := subs.runs[sub.ID]; l != nil {
			status := l.runner.Status()
			e.runner = &status
		}
		v.Status, v.Running = derive(e)
		v.Dropped = v.Status.Duplicates
		v.NoServer = e.runner == nil && e.server == nil
		all = append(all, v)
	}
	return all
}

// stats returns the numbers of the records and of the runners.
func (subs *subscriptions) stats() Stats {
	s := subs.meter.stats(subs.opts.Now())
	subs.mu.Lock()
	defer subs.mu.Unlock()
	s.Duplicates = subs.duplicates
	for _, l := range subs.runs {
		s.Duplicates += l.runner.Status().Duplicates
	}
	return s
}

// runningOrError returns the runner of a subscription.
//
// Errors: [event.ErrNotFound], [ErrUnknownServer], [ErrStopped] with the reason.
func (subs *subscriptions) runningOrError(id event.SubID) (*running, error) {
	if l := subs.running(id); l != nil {
		return l, nil
	}
	sub, err := subs.subscription(id)
	switch {
	case err != nil:
		return nil, err
	case sub.Paused:
		return nil, fmt.Errorf("subscription %s is paused: %w; resume it first", id, ErrStopped)
	case sub.State.Over():
		return nil, overError(sub)
	}
	_, err = subs.servers.server(sub.Key.Server)
	if err == nil {
		err = ErrStopped
	}
	return nil, fmt.Errorf("subscription %s: %w", id, err)
}

// restart runs a subscription as it is stored. It is called after failed acts too.
func (subs *subscriptions) restart(id event.SubID) {
	if sub, err := subs.opts.Store.Subscription(id); err == nil {
		subs.start(sub)
	}
}

// restartDenied starts the subscriptions again that a server refused for lack of rights, after a
// sign-in.
func (subs *subscriptions) restartDenied(server string) {
	for _, sub := range subs.storedOf(server) {
		if sub.State != event.StateDenied || sub.Paused {
			continue
		}
		if err := subs.restartDeniedSub(subs.ctx, sub.ID); err != nil && subs.ctx.Err() == nil {
			subs.logOf(sub).Warn("a refused subscription could not be started again", "sub", sub.ID, "err", err)
		}
	}
}

func (subs *subscriptions) restartDeniedSub(ctx context.Context, id event.SubID) error {
	sub, unlock, err := subs.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if sub.State != event.StateDenied || sub.Paused {
		return nil
	}
	err = subs.commitChange(ctx, id, nil, subs.auditEntry(event.ActorHost, "resume", sub, "the operator signed in"), func(s *event.Subscription) {
		s.State, s.Evidence = event.StateResumed, "the operator signed in"
	})
	if err == nil {
		subs.stopRunning(id) // the one that ended
		subs.restart(id)
	}
	return err
}

// subscription returns a stored subscription.
//
// Error: [event.ErrNotFound].
func (subs *subscriptions) subscription(id event.SubID) (event.Subscription, error) {
	sub, err := subs.opts.Store.Subscription(id)
	if err != nil {
		return sub, fmt.Errorf("subscription %s: %w; see: eventdeck subs list", id, err)
	}
	return sub, nil
}
