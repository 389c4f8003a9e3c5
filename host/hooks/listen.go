package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"eventdeck/host/delivery"
	"eventdeck/host/event"
	"eventdeck/host/internal/pause"
	"eventdeck/host/receiver"
)

// Listening returns the address that takes deliveries; "" while no receiver runs.
func (s *Service) Listening() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.server == nil {
		return ""
	}
	return s.server.Addr()
}

// Failure returns why the receiver does not run although it was started; nil: it runs, or is not
// needed yet.
func (s *Service) Failure() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.failure
}

// Start starts the receiver if it does not run yet.
func (s *Service) Start() error {
	_, _, err := s.start()
	return err
}

// start starts the receiver if it does not run yet. It returns the running one, and the address
// that paths are appended to.
func (s *Service) start() (server *receiver.Server, base string, err error) {
	s.starting.Lock()
	defer s.starting.Unlock()
	s.mu.RLock()
	server, base = s.server, s.base
	s.mu.RUnlock()
	if s.open.Err() != nil {
		return nil, "", errReceiverClosed
	}
	if server != nil {
		return server, base, nil
	}
	if server, err = s.serve(); err != nil {
		err = fmt.Errorf("webhook receiver: %w", err)
		s.stopped(err)
		return nil, "", err
	}
	base = s.baseOf(server.Addr())
	if !s.started(server, base) {
		return nil, "", errors.Join(errReceiverClosed, shutdown(server))
	}
	return server, base, nil
}

// started makes server the running receiver, unless the service was closed meanwhile.
func (s *Service) started(server *receiver.Server, base string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open.Err() != nil {
		return false
	}
	s.server, s.base, s.failure = server, base, nil
	if !s.supervised {
		s.supervised = true
		s.supervising.Go(func() { s.supervise(server, base) })
	}
	return true
}

// stopped notes that no receiver runs, because of err.
func (s *Service) stopped(err error) {
	s.mu.Lock()
	s.server, s.failure = nil, err
	s.mu.Unlock()
	s.deps.Changed()
}

// lastedAfter is how long a receiver must have run for its failure to be the first of a series.
const lastedAfter = time.Minute

// supervise starts the receiver again whenever it stops by itself, until the service is closed.
// The first one is server, at base.
func (s *Service) supervise(server *receiver.Server, base string) {
	backoff := s.deps.Backoff()
	for server != nil {
		began := s.deps.Now()
		err := server.Wait()
		if err == nil || s.open.Err() != nil {
			return
		}
		if s.deps.Now().Sub(began) > lastedAfter {
			backoff.Reset()
		}
		s.stopped(err)
		if err := shutdown(server); err != nil { // frees its connections
			s.deps.Log.Warn("the webhook receiver is started again", "err", err)
		}
		before := base
		server, base = s.restart(backoff, err)
		if server != nil && base != before {
			s.nudgeAll()
		}
	}
}

// restart starts the receiver again after it failed with err, and tries until that succeeds.
// It returns nil when the service is closed first.
func (s *Service) restart(backoff delivery.Backoff, err error) (server *receiver.Server, base string) {
	for pause.For(s.open, backoff.Next(err)) == nil {
		if server, base, err = s.start(); err == nil {
			s.deps.Changed()
			return server, base
		}
		if s.open.Err() == nil {
			s.deps.Log.Warn("the webhook receiver could not be started again", "err", err)
		}
	}
	return nil, ""
}

// nudgeAll has the leases of all subscriptions refreshed, so that servers learn the new address.
func (s *Service) nudgeAll() {
	s.mu.RLock()
	ids := slices.Collect(maps.Keys(s.pathsOf))
	s.mu.RUnlock()
	for _, id := range ids {
		if r := s.deps.Runner(id); r != nil && r.Mode() == event.ModeWebhook {
			r.Nudge()
		}
	}
}

// Expected returns the address that paths will most likely be appended to, without starting
// the receiver. It is for display: the port may be "…".
func (s *Service) Expected() string {
	s.mu.RLock()
	base := s.base
	s.mu.RUnlock()
	if base != "" {
		return base
	}
	address := s.deps.ListenAddr
	if saved, err := s.deps.Store.Setting(settingReceiver); address == "" && err == nil {
		address = saved
	}
	return s.baseOf(cmp.Or(address, "127.0.0.1:…"))
}

// serve starts a receiver.
func (s *Service) serve() (*receiver.Server, error) {
	o := s.deps
	ro := receiver.Options{
		Book: s, Sink: s, Refused: s.noteRefused, Challenged: s.challenged,
		UnknownKey: s.unknownKey, TooLarge: s.tooLarge,
		AllowPlain: o.PlainHTTP,
		Bind:       o.Listen,
		Proxies:    o.Proxies,
		Limits: receiver.Limits{
			Connections: o.Connections,
			Bad:         receiver.Rate{PerSecond: float64(o.BadRate), Burst: 10 * o.BadRate}, // ten seconds of them at once
		},
		Now: o.Now, Log: o.Log,
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

// baseOf returns the address at which senders reach a receiver that listens on address.
func (s *Service) baseOf(address string) string {
	switch {
	case s.deps.CallbackURL != "":
		return strings.TrimSuffix(s.deps.CallbackURL, "/")
	case s.deps.PlainHTTP:
		return "http://" + address
	}
	return "https://" + address
}

// listen listens on the configured address, else on that of the last run, else on a free port.
func (s *Service) listen(server *receiver.Server) error {
	o := s.deps
	if o.ListenAddr != "" {
		return server.Listen(o.ListenAddr)
	}
	if saved, err := o.Store.Setting(settingReceiver); err == nil && saved != "" {
		if err = server.Listen(saved); err == nil {
			return nil
		}
		o.Log.Warn("the receiver's address of the last run is taken; callbacks get a new one", "address", saved, "err", err)
	}
	if err := server.Listen("127.0.0.1:0"); err != nil {
		return err
	}
	return o.Store.SetSetting(s.ctx, settingReceiver, server.Addr())
}

// Close takes no new delivery, and waits at most [FinishWithin] for deliveries that have begun.
func (s *Service) Close() error {
	s.mu.Lock()
	server := s.server
	s.close()
	s.mu.Unlock()
	var err error
	if server != nil {
		err = shutdown(server)
	}
	s.supervising.Wait()
	return err
}

func shutdown(server *receiver.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), FinishWithin)
	defer cancel()
	return server.Shutdown(ctx)
}
