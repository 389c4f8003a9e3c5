package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/react"
	"eventdeck/host/trust"
)

// memory is a store in memory that commits at once.
type memory struct {
	mu      sync.Mutex
	records []event.Record
	subs    []event.Subscription
	info    event.StoreInfo
	audit   []event.AuditEntry
	closed  int
	closeAs error
	cut     func() error // of a read after its first record; nil: none
}

func (m *memory) add(records ...event.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		r.Seq = uint64(len(m.records) + 1)
		m.records = append(m.records, r)
	}
}

func (m *memory) change(id event.SubID, f func(*event.Subscription)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.subs, func(s event.Subscription) bool { return s.ID == id })
	if i < 0 {
		m.subs = append(m.subs, event.Subscription{ID: id})
		i = len(m.subs) - 1
	}
	f(&m.subs[i])
}

func (m *memory) Submit(context.Context, event.Batch) error { return errors.ErrUnsupported }

func (m *memory) Last() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.records))
}

func (m *memory) Get(seq uint64) (event.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if seq == 0 || seq > uint64(len(m.records)) {
		return event.Record{}, event.ErrNotFound
	}
	return m.records[seq-1], nil
}

func (m *memory) Forward(seq uint64, fn func(event.Record) bool) error {
	m.mu.Lock()
	records, cut := m.records, m.cut
	m.mu.Unlock()
	for i := max(seq, 1) - 1; i < uint64(len(records)); i++ {
		if !fn(records[i]) {
			break
		}
		if cut != nil {
			return cut()
		}
	}
	return nil
}

func (m *memory) Generations() event.Generations { return nil }

func (m *memory) Scan(from, to uint64, fn func(*event.Record) bool) error {
	if from <= to {
		return m.Forward(from, func(r event.Record) bool { return r.Seq <= to && fn(&r) })
	}
	return m.Backward(from, func(r event.Record) bool { return r.Seq >= to && fn(&r) })
}

func (m *memory) Backward(seq uint64, fn func(event.Record) bool) error {
	m.mu.Lock()
	records := m.records
	m.mu.Unlock()
	for i := min(seq, uint64(len(records))); i > 0; i-- {
		if !fn(records[i-1]) {
			break
		}
	}
	return nil
}

func (m *memory) HasEvent(event.SubID, trust.Text) bool { return false }

func (m *memory) Subscriptions() []event.Subscription {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.subs)
}

func (m *memory) Subscription(id event.SubID) (event.Subscription, error) {
	for _, s := range m.Subscriptions() {
		if s.ID == id {
			return s, nil
		}
	}
	return event.Subscription{}, event.ErrNotFound
}

func (m *memory) EndedHooks() []event.Ended { return nil }

func (m *memory) Unlocked() <-chan struct{} {
	unlocked := make(chan struct{})
	close(unlocked)
	return unlocked
}

func (m *memory) Setting(string) (string, error) { return "", event.ErrNotFound }

func (m *memory) SetSetting(context.Context, string, string) error { return nil }

func (m *memory) Credential(string) (event.Secret, error) {
	return event.Secret{}, event.ErrNotFound
}

func (m *memory) SetCredential(context.Context, string, event.Secret) error { return nil }

func (m *memory) Saw(context.Context, event.ServerSeen) error { return nil }

func (m *memory) Servers() []event.ServerSeen { return nil }

func (m *memory) Refuse(context.Context, ...event.Refusal) error { return nil }

func (m *memory) Refusals() []event.Refusal { return nil }

func (m *memory) Journal() event.Journal { return nil }

func (m *memory) Marks() []event.Mark { return nil }

func (m *memory) SetMark(context.Context, event.Mark) error { return nil }

func (m *memory) RemoveMark(context.Context, uint64, bool) error { return nil }

func (m *memory) AuditLast() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.audit))
}

func (m *memory) Audit(_ context.Context, e event.AuditEntry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.Seq = uint64(len(m.audit) + 1)
	m.audit = append(m.audit, e)
	return nil
}

func (m *memory) AuditBefore(seq uint64, fn func(event.AuditEntry) bool) error {
	m.mu.Lock()
	audit := m.audit
	m.mu.Unlock()
	for i := len(audit) - 1; i >= 0; i-- {
		if e := audit[i]; (seq == 0 || e.Seq < seq) && !fn(e) {
			break
		}
	}
	return nil
}

func (m *memory) Watch(func([]event.Record)) func() { return func() {} }

func (m *memory) Retention() event.Retention { return event.Retention{} }

func (m *memory) SetRetention(context.Context, event.Retention) error { return nil }

func (m *memory) Info() event.StoreInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.info
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.info.Err = err
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed++
	return m.closeAs
}

// standIn is a host that does what a test says and records what it is asked.
type standIn struct {
	store *memory
	log   *eventlog.Log

	connect    func(ctx context.Context, server string) error
	types      []event.Type
	typesErr   error
	list       func(context.Context) error               // before the types are told
	trouble    trust.Text                                // of every subscription
	reason     event.Reason                              // of its state
	attempts   int                                       // in vain, of every subscription
	subscribe  func(context.Context, host.Request) error // before the subscription is there
	subscribed func(event.Subscription)                  // after it

	signInFlow host.SignIn
	signInErr  error
	signOutErr error

	mu      sync.Mutex
	flags   map[chan struct{}]bool
	servers []event.Server
	removed []string // names of servers
	views   []host.ServerView
	request []host.Request
	verbs   []string // rm, pause, resume with their id
	printed []uint64
	closed  bool
	options host.Options
}

func newStandIn() *standIn {
	store := &memory{info: event.StoreInfo{Path: "/data", Sealed: "keyring"}}
	return &standIn{store: store, log: eventlog.New(store), flags: map[chan struct{}]bool{}}
}

// arrive stores records of a subscription and raises the flag.
func (s *standIn) arrive(records ...event.Record) {
	s.store.add(records...)
	s.mu.Lock()
	defer s.mu.Unlock()
	for ch := range s.flags {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (s *standIn) AddServer(server event.Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = append(s.servers, server)
}

// view sets the servers of the snapshot.
func (s *standIn) view(servers ...host.ServerView) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views = servers
}

func (s *standIn) SnapshotOf(id event.SubID) host.Snapshot { return s.Snapshot().Of(id) }

func (s *standIn) Snapshot() host.Snapshot {
	s.mu.Lock()
	snapshot := host.Snapshot{Store: s.store.Info(), Servers: slices.Clone(s.views), Last: s.store.Last()}
	s.mu.Unlock()
	for _, sub := range s.store.Subscriptions() {
		view := host.SubscriptionView{Subscription: sub, Running: true}
		view.Status.State, view.Status.Error, view.Status.Attempt = sub.State, sub.Error, s.attempts
		view.Status.Reason = s.reason
		if !s.trouble.IsZero() {
			view.Status.Error = s.trouble
		}
		snapshot.Subs = append(snapshot.Subs, view)
	}
	return snapshot
}

func (s *standIn) Changed() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	ch <- struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flags[ch] = true
	return ch, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.flags, ch)
	}
}

func (s *standIn) Log() *eventlog.Log { return s.log }

func (s *standIn) Announced(ctx context.Context, server string) ([]event.Type, error) {
	return s.Types(ctx, server)
}

func (s *standIn) Types(ctx context.Context, _ string) ([]event.Type, error) {
	if s.list != nil {
		if err := s.list(ctx); err != nil {
			return nil, err
		}
	}
	return s.types, s.typesErr
}

func (s *standIn) Connected(ctx context.Context, server string, firstTry bool) (host.ServerView, error) {
	if !firstTry {
		return host.ServerView{}, errors.New("the command line must not wait for ever")
	}
	if s.connect != nil {
		if err := s.connect(ctx, server); err != nil {
			return host.ServerView{}, err
		}
	}
	return host.ServerView{
		Name: server, Address: "http://h/mcp", Transport: "http", Era: "2026-07-28 stateless", Version: "2026-07-28", Profile: "SEP-3415",
		Title: trust.Untrusted("Pa\x1bger"), Release: trust.Untrusted("1.0"),
	}, nil
}

func (s *standIn) Check(context.Context, host.Request) (event.Mode, error) {
	return "", errors.ErrUnsupported
}

func (s *standIn) Subscribe(ctx context.Context, r host.Request) (event.Subscription, error) {
	s.mu.Lock()
	s.request = append(s.request, r)
	s.mu.Unlock()
	if s.subscribe != nil {
		if err := s.subscribe(ctx, r); err != nil {
			return event.Subscription{}, err
		}
	}
	args, err := event.CanonicalArgs(r.Args)
	if err != nil {
		return event.Subscription{}, err
	}
	key := event.Key{Server: r.Server, Type: r.Type, Args: args}
	s.store.change(key.ID(), func(sub *event.Subscription) {
		sub.Key, sub.State, sub.Mode = key, event.StateLive, event.ModePush
	})
	sub, err := s.store.Subscription(key.ID())
	if err == nil && s.subscribed != nil {
		s.subscribed(sub)
	}
	return sub, err
}

func (s *standIn) verb(name string, id event.SubID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verbs = append(s.verbs, name+" "+string(id))
	return nil
}

func (s *standIn) Unsubscribe(_ context.Context, id event.SubID) error { return s.verb("rm", id) }

func (s *standIn) Pause(_ context.Context, id event.SubID) error { return s.verb("pause", id) }

func (s *standIn) Resume(_ context.Context, id event.SubID) error { return s.verb("resume", id) }

func (s *standIn) Refusals() []event.Refusal { return nil }

func (s *standIn) EndRemote(context.Context, string, trust.Text) error { return nil }

func (s *standIn) Remote(context.Context, string) ([]host.RemoteSubscription, error) {
	return nil, nil
}

func (s *standIn) Reconnect(string) error { return nil }

func (s *standIn) RemoveServer(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed = append(s.removed, name)
	return nil
}

func (s *standIn) Refresh(_ context.Context, id event.SubID) error { return s.verb("refresh", id) }

func (s *standIn) Preview(host.Request) (host.Preview, error) { return host.Preview{}, nil }

func (s *standIn) SetMode(_ context.Context, id event.SubID, m event.Mode) error {
	return s.verb("mode "+string(m), id)
}

func (s *standIn) SetFailover(_ context.Context, id event.SubID, on bool) error {
	return s.verb(fmt.Sprintf("failover %t", on), id)
}

func (s *standIn) SetEnd(_ context.Context, id event.SubID, at time.Time) error {
	return s.verb("end "+at.UTC().Format(time.RFC3339), id)
}

func (s *standIn) RotateSecret(_ context.Context, id event.SubID) error { return s.verb("rotate", id) }

func (s *standIn) ResetCursor(context.Context, event.SubID, host.From) error {
	return nil
}

func (s *standIn) TestServer(context.Context, event.Server) (host.ServerView, error) {
	return host.ServerView{}, nil
}

func (s *standIn) Setting(string) (string, error) { return "", event.ErrNotFound }

func (s *standIn) SetSetting(context.Context, string, string) error { return nil }

func (s *standIn) Marks() []event.Mark { return nil }

func (s *standIn) SetMark(context.Context, event.Mark) error { return nil }

func (s *standIn) RemoveMark(context.Context, uint64, bool) error { return nil }

func (s *standIn) Audit() *eventlog.Audit { return eventlog.NewAudit(s.store) }

func (s *standIn) Wire() *eventlog.Ring[host.WireFrame] {
	return eventlog.NewRing[host.WireFrame](1, 0)
}

func (s *standIn) AppLog() *eventlog.Ring[host.LogLine] { return eventlog.NewRing[host.LogLine](1, 0) }

func (s *standIn) Stats() host.Stats { return host.Stats{} }

func (s *standIn) SignOut(context.Context, string) error { return s.signOutErr }

func (s *standIn) SignIn(context.Context, string) (host.SignIn, error) {
	return s.signInFlow, s.signInErr
}

func (s *standIn) Printed(_ context.Context, id event.SubID, seq uint64) error {
	s.mu.Lock()
	s.printed = append(s.printed, seq)
	s.mu.Unlock()
	s.store.change(id, func(sub *event.Subscription) { sub.Printed = seq })
	return nil
}

func (s *standIn) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

var (
	_ host.API    = (*standIn)(nil)
	_ event.Store = (*memory)(nil)
)

// at is the time of everything in these tests.
var at = time.Date(2026, 7, 28, 12, 0, 0, 5e6, time.UTC)

// occurrence is an event of a subscription.
func occurrence(sub event.Subscription, id, data string) event.Record {
	return event.Record{
		Kind: event.KindEvent, Sub: sub.ID, Server: sub.Key.Server, Type: sub.Key.Type, Mode: sub.Mode, ReceivedAt: at,
		EventID: trust.Untrusted(id), Timestamp: trust.Untrusted("2026-07-28T12:00:00Z"), Cursor: event.At(trust.Untrusted("c-" + id)),
		Raw: []byte(`{"eventId":"` + id + `"}`), Data: []byte(data),
	}
}

func environment(pairs map[string]string) func(string) (string, bool) {
	pairs = maps.Clone(pairs)
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

func (s *standIn) ToolsOf(context.Context, string) ([]react.ToolDef, error) { return nil, nil }

func (s *standIn) CallTool(context.Context, string, string, json.RawMessage) (react.ToolResult, error) {
	return react.ToolResult{}, react.ErrToolRefused
}
