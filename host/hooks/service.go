// Package hooks takes webhook deliveries for the host: it starts the receiver when the first
// subscription needs it, maps paths to subscriptions, hands verified deliveries to their
// runners, keeps the keys with which servers sign, and stores what was refused.
package hooks

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/internal/pause"
	"eventdeck/host/receiver"
	"eventdeck/host/redact"
)

// settingReceiver is the setting that keeps the receiver's address, so that leases go on after
// a restart.
const settingReceiver = "receiver.address"

// rememberEnded is how long deliveries to the path of an ended subscription are told to retry
// (contracts, receiver).
const rememberEnded = 24 * time.Hour

// FinishWithin bounds how long the end of the host waits for deliveries under way and for
// entries of the audit log.
const FinishWithin = 5 * time.Second

var errReceiverClosed = errors.New("the receiver is closed")

// Deps are what a [Service] works with. The first six members are options of the host, which
// says what their zero values mean. Dial and Listen may be nil: the system's.
type Deps struct {
	CallbackURL string
	ListenAddr  string
	PlainHTTP   bool
	CADir       string
	Connections int // open at a time
	Proxies     []netip.Prefix
	BadRate     int // requests a second and source that prove nothing

	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Listen func(network, address string) (net.Listener, error)

	Store   event.Store
	Now     func() time.Time
	Log     *slog.Logger
	Secrets *redact.Set // masks what servers say
	// Backoff returns the pauses between attempts to start a receiver that stopped by itself.
	Backoff func() delivery.Backoff

	// Server returns the description of a configured server.
	Server func(name string) (event.Server, error)
	// Runner returns the runner of a subscription; nil: it does not run.
	Runner func(event.SubID) *delivery.Runner
	// Refused is called with every refused request, Accepted for each delivery that was
	// taken. They must not block.
	Refused  func(event.Refusal)
	Accepted func(event.SubID)
	// KeepStates stores the state of subscriptions whose deliveries are refused, or accepted
	// again, since the last call. It returns the time after which it must be called again;
	// 0: after the next change only.
	KeepStates func(context.Context) time.Duration
	// Note stores an entry of the audit log.
	Note func(context.Context, event.AuditEntry)
	// Changed is called when the snapshot of the host changed. It must not block.
	Changed func()
}

// Service is the host's side of the receiver. It implements [receiver.Book] and
// [receiver.Sink].
type Service struct {
	ctx  context.Context // ends with the host
	deps Deps

	open        context.Context // ends when the service is closed
	close       context.CancelFunc
	starting    sync.Mutex // serializes start, during which mu is not held
	supervising sync.WaitGroup

	mu         sync.RWMutex
	server     *receiver.Server // nil: none runs
	base       string           // the address that paths are appended to
	failure    error            // why no receiver runs although it was started
	supervised bool

	paths   map[string]event.SubID
	pathsOf map[event.SubID][]string // the newest paths of a subscription, the present one last
	removed pastPaths[struct{}]      // of subscriptions that the operator removed
	ended   pastPaths[time.Time]     // when the subscriptions ended

	keys *serverKeys

	refusals   chan event.Refusal // bounded; a flood of bad requests is only counted
	skipped    atomic.Uint64
	unreported uint64                // of skipped, not logged yet; of storeRefusals
	challenges chan event.AuditEntry // answered ones, bounded likewise
	statesDue  chan struct{}         // one slot: a subscription may be refused, or accepted again, from now on
	damper     auditDamper
}

// New returns a service that knows the paths of stored subscriptions and does not listen yet.
// It works until ctx ends; [Service.Close] must be called before.
func New(ctx context.Context, d Deps) *Service {
	open, cancel := context.WithCancel(ctx)
	s := &Service{
		ctx:        ctx,
		open:       open,
		close:      cancel,
		deps:       d,
		paths:      map[string]event.SubID{},
		pathsOf:    map[event.SubID][]string{},
		keys:       newServerKeys(d),
		refusals:   make(chan event.Refusal, refusalsWaiting),
		challenges: make(chan event.AuditEntry, 64),
		statesDue:  make(chan struct{}, 1),
	}
	for _, e := range d.Store.EndedHooks() {
		if e.Removed {
			s.removed.put(e.Path, struct{}{})
		}
	}
	for _, sub := range d.Store.Subscriptions() {
		for _, path := range sub.Hook.Paths() {
			s.addPath(path, sub.ID)
		}
	}
	return s
}

// Run stores refusals and reads keys until the service's context ends, and then stores the
// refusals that still wait, within [FinishWithin].
func (s *Service) Run() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	var others sync.WaitGroup
	others.Go(func() { s.keys.run(s.ctx) })
	others.Go(func() {
		<-s.ctx.Done()
		_ = pause.For(ctx, FinishWithin) // or until all is stored
		cancel()
	})
	s.storeRefusals(ctx)
	cancel()
	others.Wait()
}

// AddPath takes deliveries to a path for a subscription from now on.
func (s *Service) AddPath(path string, id event.SubID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addPath(path, id)
	s.ended.forget(path) // the subscription begins again
}

// maxPaths bounds the known paths of a subscription: the present one, the one before it, and
// some older ones, where deliveries are answered with 410. All earlier ones are unknown.
const maxPaths = 8

// addPath maps a path to a subscription. The lock is held.
func (s *Service) addPath(path string, id event.SubID) {
	if _, known := s.paths[path]; known {
		return
	}
	s.paths[path] = id
	all := append(s.pathsOf[id], path)
	if len(all) > maxPaths {
		delete(s.paths, all[0])
		all = all[1:]
	}
	s.pathsOf[id] = all
}

// Paths returns the known paths of a subscription, oldest first.
func (s *Service) Paths(id event.SubID) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Clone(s.pathsOf[id])
}

// Remove takes no more deliveries for a subscription that was removed: its paths are gone.
func (s *Service) Remove(id event.SubID) {
	s.damper.forget(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.pathsOf[id] {
		delete(s.paths, path)
		s.removed.put(path, struct{}{})
	}
	delete(s.pathsOf, id)
}

// Callback takes deliveries to a path for a subscription from now on, and returns its complete
// address. It starts the receiver if it does not run yet.
//
// Errors: those of listening.
func (s *Service) Callback(path string, id event.SubID) (string, error) {
	s.AddPath(path, id)
	s.keepKeys(id)
	_, base, err := s.start()
	if err != nil {
		return "", err
	}
	return base + path, nil
}

// Ready makes sure that deliveries of a server can be taken: that the receiver listens, and
// that the server's keys are known if it must sign with them.
//
// Errors: [ErrServerKeys], those of the server's name and of listening.
func (s *Service) Ready(ctx context.Context, server string) error {
	if err := s.Start(); err != nil {
		return err
	}
	spec, err := s.deps.Server(server)
	if err != nil {
		return err
	}
	return s.keys.ensure(ctx, spec)
}
