// Package hooks takes webhook deliveries for the host: it starts the receiver when the
// first subscription needs it, knows whose path is whose, has verified deliveries
// committed, keeps the keys with which servers sign, and notes what was refused.
package hooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/receiver"
	"eventdeck/host/redact"
)

// The setting under which the receiver's address is kept, so that leases go on
// after a restart.
const settingReceiver = "receiver.address"

// How long the path of an ended subscription is answered as "come again"
// (contracts, receiver).
const endedMemory = 24 * time.Hour

// FinishWithin is how long the end of the host waits for deliveries and notes that
// have begun.
const FinishWithin = 5 * time.Second

var errReceiverClosed = errors.New("the receiver is closed")

// Deps are what a [Service] works with. What CallbackURL, ListenAddr and CADir mean
// when they are empty stands at the options of the host; Dial and Listen may be nil.
type Deps struct {
	CallbackURL string
	ListenAddr  string
	PlainHTTP   bool
	CADir       string
	Connections int // open at a time
	BadRate     int // requests a second and source that prove nothing

	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Listen func(network, address string) (net.Listener, error)

	Store   event.Store
	Now     func() time.Time
	Log     *slog.Logger
	Secrets *redact.Set // what servers say passes it

	// Server returns the description of a configured server.
	Server func(name string) (event.Server, error)
	// Runner returns what runs a subscription; nil: nothing does.
	Runner func(event.SubID) *delivery.Runner
	// Refused is told of every refused request, Accepted of each delivery that was
	// taken. They must not block.
	Refused  func(event.Refusal)
	Accepted func(event.SubID)
	// KeepStates stores the state of subscriptions whose deliveries are refused, and are
	// taken again.
	KeepStates func(context.Context)
	// Note keeps an entry of the audit log.
	Note func(context.Context, event.AuditEntry)
	// Changed is called when there is something new to be shown.
	Changed func()
}

// Service is the host's side of the receiver. It implements [receiver.Book] and
// [receiver.Sink].
type Service struct {
	ctx  context.Context // ends with the host
	deps Deps

	starting sync.Mutex // serializes address, which is slow; mu is never held that long

	mu      sync.RWMutex
	server  *receiver.Server
	base    string // what paths are appended to
	closed  bool
	paths   map[string]event.SubID
	of      map[event.SubID][]string // the newest paths of a subscription, the present one last
	removed map[string]bool          // paths of subscriptions that the operator removed
	ended   map[string]time.Time

	keys *serverKeys

	refusals   chan event.Refusal // bounded; a flood of bad requests is only counted
	uncounted  atomic.Uint64
	leftOut    uint64                // of uncounted, not told yet; of keepRefusals' goroutine
	challenges chan event.AuditEntry // answered ones, bounded likewise
	turned     chan struct{}         // holds a value when deliveries may be refused, or taken, from now on
	damper     damper
}

// New returns a service that knows the paths of what is stored, and does not listen yet.
// It works until ctx ends, by when [Service.Close] must have been called.
func New(ctx context.Context, d Deps) *Service {
	s := &Service{
		ctx:        ctx,
		deps:       d,
		paths:      map[string]event.SubID{},
		of:         map[event.SubID][]string{},
		removed:    map[string]bool{},
		ended:      map[string]time.Time{},
		keys:       newServerKeys(d),
		refusals:   make(chan event.Refusal, refusalsWaiting),
		challenges: make(chan event.AuditEntry, 64),
		turned:     make(chan struct{}, 1),
	}
	for _, e := range d.Store.EndedHooks() {
		if e.Removed {
			s.removed[e.Path] = true
		}
	}
	for _, sub := range d.Store.Subscriptions() {
		for _, path := range []string{sub.Hook.OldPath, sub.Hook.Path} {
			if path != "" {
				s.know(path, sub.ID)
			}
		}
	}
	return s
}

// Run notes refusals and reads keys until the host ends, and then notes what waits.
func (s *Service) Run() {
	var reading sync.WaitGroup
	reading.Go(func() { s.keys.answer(s.ctx) })
	s.keepRefusals(s.ctx)
	reading.Wait()
}

// Know takes deliveries to a path for a subscription from now on.
func (s *Service) Know(path string, id event.SubID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.know(path, id)
	delete(s.ended, path) // it begins anew
}

// mostPaths is how many paths of a subscription are known: the present one, the one
// before, and some that it has left. A delivery to one that was left longer ago is one to
// an unknown path.
const mostPaths = 8

// know is Know. The lock is held.
func (s *Service) know(path string, id event.SubID) {
	if _, known := s.paths[path]; known {
		return
	}
	s.paths[path] = id
	all := append(s.of[id], path)
	if len(all) > mostPaths {
		delete(s.paths, all[0])
		all = all[1:]
	}
	s.of[id] = all
}

// Forget takes no delivery to the paths of a subscription any more: it was removed.
func (s *Service) Forget(id event.SubID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.of[id] {
		delete(s.paths, path)
		s.removed[path] = true
	}
	delete(s.of, id)
}

// Callback returns the complete address of a path, and starts the receiver if it does
// not run yet.
func (s *Service) Callback(path string, id event.SubID) (string, error) {
	s.Know(path, id)
	s.keepKeys(id)
	base, err := s.address()
	if err != nil {
		return "", err
	}
	return base + path, nil
}

// Listening returns the address that takes deliveries, "" while none is needed.
func (s *Service) Listening() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server == nil {
		return ""
	}
	return s.server.Addr()
}

// Ready makes sure that deliveries of a server can be taken. What keeps the receiver
// from listening, or keys from being read, does not go away by subscribing again.
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

// Start starts the receiver if it does not run yet.
func (s *Service) Start() error {
	_, err := s.address()
	return err
}

// address starts the receiver if it does not run yet, and returns what the paths
// are appended to.
func (s *Service) address() (string, error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.mu.Lock()
	server, base, closed := s.server, s.base, s.closed
	s.mu.Unlock()
	if closed {
		return "", errReceiverClosed
	}
	if server != nil {
		return base, nil
	}
	server, err := s.serve()
	if err != nil {
		return "", fmt.Errorf("webhook receiver: %w", err)
	}
	base = s.baseOf(server)
	s.mu.Lock()
	closed = s.closed
	if !closed {
		s.server, s.base = server, base
	}
	s.mu.Unlock()
	if closed {
		return "", errors.Join(errReceiverClosed, shutdown(server))
	}
	return base, nil
}

// Expected returns what paths will most likely be appended to, without starting
// the receiver.
func (s *Service) Expected() string {
	s.mu.Lock()
	base := s.base
	s.mu.Unlock()
	o := s.deps
	switch {
	case base != "":
		return base
	case o.CallbackURL != "":
		return strings.TrimSuffix(o.CallbackURL, "/")
	}
	address := o.ListenAddr
	if saved, err := o.Store.Setting(settingReceiver); address == "" && err == nil {
		address = saved
	}
	if address == "" {
		address = "127.0.0.1:…"
	}
	if o.PlainHTTP {
		return "http://" + address
	}
	return "https://" + address
}

// serve starts a receiver.
func (s *Service) serve() (*receiver.Server, error) {
	o := s.deps
	ro := receiver.Options{
		Book: s, Sink: s, Refused: s.refused, Challenged: s.challenged,
		UnknownKey: s.unknownKey, TooLarge: s.tooLarge,
		AllowPlain: o.PlainHTTP,
		Bind:       o.Listen,
		Limits:     receiver.Limits{Connections: o.Connections, Bad: badRate(o.BadRate)},
		Now:        o.Now, Log: o.Log,
	}
	if u, err := url.Parse(o.CallbackURL); err == nil && u.Hostname() != "" {
		ro.Hosts, ro.Prefix = []string{u.Hostname()}, strings.TrimSuffix(u.EscapedPath(), "/")
	}
	if !o.PlainHTTP {
		ca, err := receiver.OpenCA(o.CADir, o.Now)
		if err != nil {
			return nil, err
		}
		ro.Certificate = ca.GetCertificate
	}
	server, err := receiver.New(ro)
	if err != nil {
		return nil, err
	}
	if err := s.listen(server); err != nil {
		return nil, errors.Join(err, shutdown(server))
	}
	return server, server.Start(context.WithoutCancel(s.ctx))
}

// baseOf returns the address under which senders reach the receiver.
func (s *Service) baseOf(server *receiver.Server) string {
	switch o := s.deps; {
	case o.CallbackURL != "":
		return strings.TrimSuffix(o.CallbackURL, "/")
	case o.PlainHTTP:
		return "http://" + server.Addr()
	}
	return "https://" + server.Addr()
}

// listen takes the configured address, else that of the last run, else a free port.
func (s *Service) listen(server *receiver.Server) error {
	o := s.deps
	if o.ListenAddr != "" {
		return server.Listen(o.ListenAddr)
	}
	saved, err := o.Store.Setting(settingReceiver)
	if err == nil && saved != "" {
		err = server.Listen(saved)
		if err == nil {
			return nil
		}
		o.Log.Warn("the receiver's address of the last run is taken; callbacks get a new one", "address", saved, "err", err)
	}
	if err := server.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(server.Addr()); err != nil {
		return err
	}
	return o.Store.SetSetting(s.ctx, settingReceiver, server.Addr())
}

// Close takes no new delivery, and waits for those that have begun, at most
// [FinishWithin].
func (s *Service) Close() error {
	s.mu.Lock()
	server := s.server
	s.closed = true
	s.mu.Unlock()
	if server == nil {
		return nil
	}
	return shutdown(server)
}

func shutdown(server *receiver.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), FinishWithin)
	defer cancel()
	return server.Shutdown(ctx)
}
