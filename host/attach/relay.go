package attach

import (
	"context"
	"sync"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// Relay is a [host.API] that stands for one host after another on the same store: a
// [Client], and the host of this process once that has taken the store over. Its frontend
// goes on meanwhile. All methods may be called from any goroutine.
type Relay struct {
	mu   sync.Mutex
	host host.API
	lost error  // why the host is gone; nil while it is there
	base uint64 // added to the versions of the host's states, so that they go on growing
	last uint64 // newest version that was returned
	stop func()
	wg   sync.WaitGroup

	readers readers
}

var _ host.API = (*Relay)(nil)

// NewRelay returns one that stands for h. The hosts are closed by their owner.
func NewRelay(h host.API) *Relay {
	l := &Relay{stop: func() {}}
	l.Use(h)
	return l
}

// Use makes it stand for another host.
func (l *Relay) Use(h host.API) {
	changed, end := h.Changed()
	gone := make(chan struct{})
	l.mu.Lock()
	before := l.stop
	l.host, l.lost, l.base = h, nil, l.last
	l.stop = sync.OnceFunc(func() { close(gone); end() })
	l.mu.Unlock()
	before()
	l.wg.Go(func() {
		l.readers.raise()
		for {
			select {
			case <-gone:
				return
			case _, ok := <-changed:
				if !ok {
					return
				}
				l.readers.raise()
			}
		}
	})
}

// Lose says that the host is gone: its last state is shown with the error as that of the
// store.
func (l *Relay) Lose(err error) {
	l.mu.Lock()
	l.lost = err
	l.base++
	l.mu.Unlock()
	l.readers.raise()
}

// Control implements [Controller]: that of the host, nil where it has none.
func (l *Relay) Control() react.Control {
	if c, ok := l.now().(Controller); ok {
		return c.Control()
	}
	return nil
}

func (l *Relay) now() host.API {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.host
}

// Snapshot implements [host.API].
func (l *Relay) Snapshot() host.Snapshot {
	snap := l.now().Snapshot()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost != nil {
		snap.Store.Err = l.lost
	}
	snap.Version += l.base
	l.last = max(l.last, snap.Version)
	return snap
}

// Changed implements [host.API].
func (l *Relay) Changed() (<-chan struct{}, func()) { return l.readers.add() }

// Close ends the relay. The hosts stay.
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
	return l.now().Log()
}

// Audit implements [host.API].
func (l *Relay) Audit() *eventlog.Audit {
	return l.now().Audit()
}

// Wire implements [host.API].
func (l *Relay) Wire() *eventlog.Ring[host.WireFrame] {
	return l.now().Wire()
}

// AppLog implements [host.API].
func (l *Relay) AppLog() *eventlog.Ring[host.LogLine] {
	return l.now().AppLog()
}

// Stats implements [host.API].
func (l *Relay) Stats() host.Stats {
	return l.now().Stats()
}

// Refusals implements [host.API].
func (l *Relay) Refusals() []event.Refusal {
	return l.now().Refusals()
}

// Types implements [host.API].
func (l *Relay) Types(ctx context.Context, server string) ([]event.Type, error) {
	return l.now().Types(ctx, server)
}

// Announced implements [host.API].
func (l *Relay) Announced(ctx context.Context, server string) ([]event.Type, error) {
	return l.now().Announced(ctx, server)
}

// Connected implements [host.API].
func (l *Relay) Connected(ctx context.Context, server string, firstTry bool) (host.ServerView, error) {
	return l.now().Connected(ctx, server, firstTry)
}

// Check implements [host.API].
func (l *Relay) Check(ctx context.Context, r host.Request) (event.Mode, error) {
	return l.now().Check(ctx, r)
}

// Preview implements [host.API].
func (l *Relay) Preview(r host.Request) (host.Preview, error) {
	return l.now().Preview(r)
}

// Remote implements [host.API].
func (l *Relay) Remote(ctx context.Context, server string) ([]host.RemoteSubscription, error) {
	return l.now().Remote(ctx, server)
}

// AddServer implements [host.API].
func (l *Relay) AddServer(s event.Server) {
	l.now().AddServer(s)
}

// Reconnect implements [host.API].
func (l *Relay) Reconnect(server string) error {
	return l.now().Reconnect(server)
}

// RemoveServer implements [host.API].
func (l *Relay) RemoveServer(ctx context.Context, name string) error {
	return l.now().RemoveServer(ctx, name)
}

// TestServer implements [host.API].
func (l *Relay) TestServer(ctx context.Context, s event.Server) (host.ServerView, error) {
	return l.now().TestServer(ctx, s)
}

// SignIn implements [host.API].
func (l *Relay) SignIn(ctx context.Context, server string) (host.SignIn, error) {
	return l.now().SignIn(ctx, server)
}

// SignOut implements [host.API].
func (l *Relay) SignOut(ctx context.Context, server string) error {
	return l.now().SignOut(ctx, server)
}

// Subscribe implements [host.API].
func (l *Relay) Subscribe(ctx context.Context, r host.Request) (event.Subscription, error) {
	return l.now().Subscribe(ctx, r)
}

// Unsubscribe implements [host.API].
func (l *Relay) Unsubscribe(ctx context.Context, id event.SubID) error {
	return l.now().Unsubscribe(ctx, id)
}

// Pause implements [host.API].
func (l *Relay) Pause(ctx context.Context, id event.SubID) error {
	return l.now().Pause(ctx, id)
}

// Resume implements [host.API].
func (l *Relay) Resume(ctx context.Context, id event.SubID) error {
	return l.now().Resume(ctx, id)
}

// SetMode implements [host.API].
func (l *Relay) SetMode(ctx context.Context, id event.SubID, m event.Mode) error {
	return l.now().SetMode(ctx, id, m)
}

// SetFailover implements [host.API].
func (l *Relay) SetFailover(ctx context.Context, id event.SubID, on bool) error {
	return l.now().SetFailover(ctx, id, on)
}

// Refresh implements [host.API].
func (l *Relay) Refresh(ctx context.Context, id event.SubID) error {
	return l.now().Refresh(ctx, id)
}

// ResetCursor implements [host.API].
func (l *Relay) ResetCursor(ctx context.Context, id event.SubID, from host.From) error {
	return l.now().ResetCursor(ctx, id, from)
}

// RotateSecret implements [host.API].
func (l *Relay) RotateSecret(ctx context.Context, id event.SubID) error {
	return l.now().RotateSecret(ctx, id)
}

// EndRemote implements [host.API].
func (l *Relay) EndRemote(ctx context.Context, server string, id trust.Text) error {
	return l.now().EndRemote(ctx, server, id)
}

// Setting implements [host.API].
func (l *Relay) Setting(key string) (string, error) {
	return l.now().Setting(key)
}

// SetSetting implements [host.API].
func (l *Relay) SetSetting(ctx context.Context, key, value string) error {
	return l.now().SetSetting(ctx, key, value)
}

// Marks implements [host.API].
func (l *Relay) Marks() []event.Mark {
	return l.now().Marks()
}

// SetMark implements [host.API].
func (l *Relay) SetMark(ctx context.Context, m event.Mark) error {
	return l.now().SetMark(ctx, m)
}

// RemoveMark implements [host.API].
func (l *Relay) RemoveMark(ctx context.Context, seq uint64, line bool) error {
	return l.now().RemoveMark(ctx, seq, line)
}

// Printed implements [host.API].
func (l *Relay) Printed(ctx context.Context, id event.SubID, seq uint64) error {
	return l.now().Printed(ctx, id, seq)
}
