package attach

import (
	"context"
	"slices"
	"sync"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// Relay is a [host.API] that forwards to one host after another on the same store: a [Client], and
// the host of this process once it has taken the store over. Frontends keep running meanwhile. All
// methods may be called from any goroutine.
type Relay struct {
	mu   sync.Mutex
	host host.API
	lost error                   // why the host is gone; nil while it is there
	base uint64                  // added to the versions of the host's states, so that they keep growing
	last uint64                  // newest version that was returned
	subs []host.SubscriptionView // that were returned last
	// earlier are the subscriptions as the host before left them: their counts are added, so that
	// they keep growing too.
	earlier map[event.SubID]host.SubscriptionView
	stop    func()
	wg      sync.WaitGroup

	readers readers
}

var _ host.API = (*Relay)(nil)

// NewRelay returns a relay to h. It does not close hosts.
func NewRelay(h host.API) *Relay {
	l := &Relay{stop: func() {}}
	l.Use(h)
	return l
}

// Use replaces the host.
func (l *Relay) Use(h host.API) {
	changed, end := h.Changed()
	gone := make(chan struct{})
	l.mu.Lock()
	before := l.stop
	l.host, l.lost, l.base = h, nil, l.last
	l.earlier = make(map[event.SubID]host.SubscriptionView, len(l.subs))
	for _, v := range l.subs {
		l.earlier[v.ID] = v
	}
	l.stop = sync.OnceFunc(func() { close(gone); end() })
	l.mu.Unlock()
	before()
	l.wg.Go(func() {
		l.readers.notify()
		for {
			select {
			case <-gone:
				return
			case _, ok := <-changed:
				if !ok {
					return
				}
				l.readers.notify()
			}
		}
	})
}

// Lose marks the host as gone: snapshots have err as the error of the store.
func (l *Relay) Lose(err error) {
	l.mu.Lock()
	l.lost = err
	l.base++
	l.mu.Unlock()
	l.readers.notify()
}

// Control implements [Controller]: that of the host, nil if it has none.
func (l *Relay) Control() react.Control {
	if c, ok := l.current().(Controller); ok {
		return c.Control()
	}
	return nil
}

func (l *Relay) current() host.API {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.host
}

// Snapshot implements [host.API].
func (l *Relay) Snapshot() host.Snapshot {
	snap := l.current().Snapshot()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		snap.Store.Err = l.lost
	}
	snap.Version += l.base
	if len(l.earlier) > 0 {
		snap.Subs = slices.Clone(snap.Subs) // the host may keep them
		for i := range snap.Subs {
			v := &snap.Subs[i]
			e := l.earlier[v.ID]
			v.Stored, v.Dropped, v.Gaps = v.Stored+e.Stored, v.Dropped+e.Dropped, v.Gaps+e.Gaps
		}
	}
	if snap.Version >= l.last {
		l.last, l.subs = snap.Version, snap.Subs
	}
	return snap
}

// SnapshotOf implements [host.API].
func (l *Relay) SnapshotOf(id event.SubID) host.Snapshot { return l.Snapshot().Of(id) }

// Changed implements [host.API].
func (l *Relay) Changed() (<-chan struct{}, func()) { return l.readers.add() }

// Close ends the relay, and leaves the hosts open.
func (l *Relay) Close() error {
	l.mu.Lock()
	stop := l.stop
	l.mu.Unlock()
	stop()
	l.wg.Wait()
	return nil
}

// Log implements [host.API].
func (l *Relay) Log() *eventlog.Log {
	return l.current().Log()
}

// Audit implements [host.API].
func (l *Relay) Audit() *eventlog.Audit {
	return l.current().Audit()
}

// Wire implements [host.API].
func (l *Relay) Wire() *eventlog.Ring[host.WireFrame] {
	return l.current().Wire()
}

// AppLog implements [host.API].
func (l *Relay) AppLog() *eventlog.Ring[host.LogLine] {
	return l.current().AppLog()
}

// Stats implements [host.API].
func (l *Relay) Stats() host.Stats {
	return l.current().Stats()
}

// Refusals implements [host.API].
func (l *Relay) Refusals() []event.Refusal {
	return l.current().Refusals()
}

// Types implements [host.API].
func (l *Relay) Types(ctx context.Context, server string) ([]event.Type, error) {
	return l.current().Types(ctx, server)
}

// Announced implements [host.API].
func (l *Relay) Announced(ctx context.Context, server string) ([]event.Type, error) {
	return l.current().Announced(ctx, server)
}

// Connected implements [host.API].
func (l *Relay) Connected(ctx context.Context, server string, firstTry bool) (host.ServerView, error) {
	return l.current().Connected(ctx, server, firstTry)
}

// Check implements [host.API].
func (l *Relay) Check(ctx context.Context, r host.Request) (event.Mode, error) {
	return l.current().Check(ctx, r)
}

// Preview implements [host.API].
func (l *Relay) Preview(r host.Request) (host.Preview, error) {
	return l.current().Preview(r)
}

// Remote implements [host.API].
func (l *Relay) Remote(ctx context.Context, server string) ([]host.RemoteSubscription, error) {
	return l.current().Remote(ctx, server)
}

// AddServer implements [host.API].
func (l *Relay) AddServer(s event.Server) {
	l.current().AddServer(s)
}

// Reconnect implements [host.API].
func (l *Relay) Reconnect(server string) error {
	return l.current().Reconnect(server)
}

// RemoveServer implements [host.API].
func (l *Relay) RemoveServer(ctx context.Context, name string) error {
	return l.current().RemoveServer(ctx, name)
}

// TestServer implements [host.API].
func (l *Relay) TestServer(ctx context.Context, s event.Server) (host.ServerView, error) {
	return l.current().TestServer(ctx, s)
}

// SignIn implements [host.API].
func (l *Relay) SignIn(ctx context.Context, server string) (host.SignIn, error) {
	return l.current().SignIn(ctx, server)
}

// SignOut implements [host.API].
func (l *Relay) SignOut(ctx context.Context, server string) error {
	return l.current().SignOut(ctx, server)
}

// Subscribe implements [host.API].
func (l *Relay) Subscribe(ctx context.Context, r host.Request) (event.Subscription, error) {
	return l.current().Subscribe(ctx, r)
}

// Unsubscribe implements [host.API].
func (l *Relay) Unsubscribe(ctx context.Context, id event.SubID) error {
	return l.current().Unsubscribe(ctx, id)
}

// Pause implements [host.API].
func (l *Relay) Pause(ctx context.Context, id event.SubID) error {
	return l.current().Pause(ctx, id)
}

// Resume implements [host.API].
func (l *Relay) Resume(ctx context.Context, id event.SubID) error {
	return l.current().Resume(ctx, id)
}

// SetMode implements [host.API].
func (l *Relay) SetMode(ctx context.Context, id event.SubID, m event.Mode) error {
	return l.current().SetMode(ctx, id, m)
}

// SetFailover implements [host.API].
func (l *Relay) SetFailover(ctx context.Context, id event.SubID, on bool) error {
	return l.current().SetFailover(ctx, id, on)
}

// SetEnd implements [host.API].
func (l *Relay) SetEnd(ctx context.Context, id event.SubID, at time.Time) error {
	return l.current().SetEnd(ctx, id, at)
}

// Refresh implements [host.API].
func (l *Relay) Refresh(ctx context.Context, id event.SubID) error {
	return l.current().Refresh(ctx, id)
}

// ResetCursor implements [host.API].
func (l *Relay) ResetCursor(ctx context.Context, id event.SubID, from host.From) error {
	return l.current().ResetCursor(ctx, id, from)
}

// RotateSecret implements [host.API].
func (l *Relay) RotateSecret(ctx context.Context, id event.SubID) error {
	return l.current().RotateSecret(ctx, id)
}

// EndRemote implements [host.API].
func (l *Relay) EndRemote(ctx context.Context, server string, id trust.Text) error {
	return l.current().EndRemote(ctx, server, id)
}

// Setting implements [host.API].
func (l *Relay) Setting(key string) (string, error) {
	return l.current().Setting(key)
}

// SetSetting implements [host.API].
func (l *Relay) SetSetting(ctx context.Context, key, value string) error {
	return l.current().SetSetting(ctx, key, value)
}

// Marks implements [host.API].
func (l *Relay) Marks() []event.Mark {
	return l.current().Marks()
}

// SetMark implements [host.API].
func (l *Relay) SetMark(ctx context.Context, m event.Mark) error {
	return l.current().SetMark(ctx, m)
}

// RemoveMark implements [host.API].
func (l *Relay) RemoveMark(ctx context.Context, seq uint64, line bool) error {
	return l.current().RemoveMark(ctx, seq, line)
}

// Printed implements [host.API].
func (l *Relay) Printed(ctx context.Context, id event.SubID, seq uint64) error {
	return l.current().Printed(ctx, id, seq)
}
