package host

import (
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
)

// reader answers what frontends read of the host, and stores what they remember.
type reader struct {
	*core
	*journal
	subs *subscriptions
	log  *eventlog.Log

	mu    sync.Mutex
	marks []event.Mark
}

// stored follows the store's commits. It runs on the writer's goroutine.
func (r *reader) stored(records []event.Record) {
	r.log.Append(records)
	r.subs.counted(records)
	r.notify()
}

// Log implements [API].
func (r *reader) Log() *eventlog.Log { return r.log }

// Refusals implements [API].
func (r *reader) Refusals() []event.Refusal { return r.opts.Store.Refusals() }

// Audit implements [API].
func (r *reader) Audit() *eventlog.Audit { return eventlog.NewAudit(r.opts.Store) }

// Snapshot implements [API].
func (r *reader) Snapshot() Snapshot {
	snap := r.emptySnapshot()
	servers := r.subs.servers.all()
	snap.Servers = make([]ServerView, len(servers))
	for i, s := range servers {
		snap.Servers[i] = s.snapshot()
	}
	snap.Subs = r.subs.views(r.opts.Store.Subscriptions(), snap.Servers, snap.At)
	for _, v := range snap.Subs {
		snap.Resume.Replayed += v.Status.Replayed
		snap.Resume.Duplicates += v.Dropped
		snap.Resume.Gaps += v.Gaps
	}
	return snap
}

// SnapshotOf implements [API].
func (r *reader) SnapshotOf(id event.SubID) Snapshot {
	snap := r.emptySnapshot()
	sub, err := r.opts.Store.Subscription(id)
	if err != nil {
		return snap
	}
	var servers []ServerView
	if s, err := r.subs.servers.server(sub.Key.Server); err == nil {
		servers = append(servers, s.snapshot())
	}
	snap.Subs = r.subs.views([]event.Subscription{sub}, servers, snap.At)
	return snap
}

// emptySnapshot returns a snapshot without servers and subscriptions. Its version is read first:
// what is added later is at least as new.
func (r *reader) emptySnapshot() Snapshot {
	snap := Snapshot{
		Version:  r.version.Load(),
		At:       r.opts.Now(),
		Store:    r.opts.Store.Info(),
		Last:     r.opts.Store.Last(),
		Receiver: r.subs.hooks.Listening(),
	}
	if err := r.subs.hooks.Failure(); err != nil {
		snap.ReceiverErr = trust.Line(trust.OfError(err)).Plain()
	}
	return snap
}
