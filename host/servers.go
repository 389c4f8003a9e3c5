package host

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/trust"
)

// servers are the servers that were added.
type servers struct {
	*core
	journal *journal
	wake    wakes

	mu   sync.Mutex
	list []*server // in the order in which they were added
	// locks serialize acts on a server and its subscriptions, so that a pause and a resume of
	// the same one cannot overtake each other. Each server has its own, with room for one
	// holder: one that is away delays acts on its own subscriptions only.
	locks map[string]chan struct{}
}

// wakes are the calls by which a server wakes its subscriptions. The caller holds no lock.
type wakes struct {
	nudge          func(server string)                                          // it may have forgotten their leases
	releaseOrphans func(ctx context.Context, s *server)                         // it is connected
	hideSecrets    func(ctx context.Context, server string, types []event.Type) // it listed its types
	restartDenied  func(server string)                                          // the operator signed in
}

// lock waits until the caller alone may act on a server and its subscriptions, until unlock is
// called.
//
// Error: the cause of ctx.
func (ss *servers) lock(ctx context.Context, name string) (unlock func(), err error) {
	ss.mu.Lock()
	lock := ss.locks[name]
	if lock == nil {
		lock = make(chan struct{}, 1)
		ss.locks[name] = lock
	}
	ss.mu.Unlock()
	select {
	case lock <- struct{}{}:
		return func() { <-lock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// server returns the server of a name.
//
// Error: [ErrUnknownServer].
func (ss *servers) server(name string) (*server, error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	for _, s := range ss.list {
		if s.spec.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("%w %q", ErrUnknownServer, name)
}

// add begins to connect to a server. old is the one of the same name that it replaces, which still
// runs; nil: there is none. s is nil if the host is closing.
func (ss *servers) add(spec event.Server) (s, old *server) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	i := slices.IndexFunc(ss.list, func(s *server) bool { return s.spec.Name == spec.Name })
	if i < 0 && len(ss.list) >= ss.opts.Limits.Servers {
		spec = event.Server{Name: spec.Name, AdHoc: spec.AdHoc, Fault: fmt.Errorf("%w: %s connected; take one out of the configuration",
			ErrLimit, event.Some(ss.opts.Limits.Servers, "server is", "servers are"))}
	}
	s = newServer(ss, spec)
	ctx, cancel := context.WithCancel(ss.ctx)
	s.cancel = cancel
	if !ss.spawn(func() { s.run(ctx) }) {
		cancel()
		return nil, nil
	}
	if i < 0 {
		ss.list = append(ss.list, s)
		return s, nil
	}
	old, ss.list[i] = ss.list[i], s
	return s, old
}

// remove forgets a server, which still runs.
func (ss *servers) remove(s *server) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	ss.list = slices.DeleteFunc(slices.Clone(ss.list), func(have *server) bool { return have == s })
}

// all returns the servers, in the order in which they were added.
func (ss *servers) all() []*server {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	return slices.Clone(ss.list)
}

// errReconnect ends a connection that is replaced by a new one.
var errReconnect = errors.New("reconnecting on demand")

// Reconnect implements [API].
func (ss *servers) Reconnect(name string) error {
	s, err := ss.server(name)
	if err != nil {
		return err
	}
	if s.spec.Fault != nil {
		return fmt.Errorf("server %s: %w", name, s.spec.Fault)
	}
	signal(s.reconnect)
	ss.audit(ss.ctx, ss.serverEntry("reconnect", name))
	return nil
}

// auditAdded notes in the audit log that the operator added a server, or changed a known one,
// with the part of its address that holds no secret.
func (ss *servers) auditAdded(spec event.Server, known bool) {
	e := ss.serverEntry("add server", spec.Name)
	if known {
		e.Action = "change server"
	}
	where := spec.Command
	if u, err := url.Parse(spec.URL); spec.URL != "" && err == nil {
		where = u.Scheme + "://" + u.Host
	}
	e.Detail = trust.Untrusted(where)
	if spec.Fault != nil {
		e.Result, e.Detail = "failed", trust.OfError(spec.Fault)
	}
	ss.audit(ss.ctx, e)
}

// TestServer implements [API].
func (ss *servers) TestServer(ctx context.Context, spec event.Server) (ServerView, error) {
	s := newServer(ss, spec)
	v := s.view
	fail := func(reach Reach, err error) (ServerView, error) {
		v.Reach, v.Err = reach, err.Error()
		return v, err
	}
	if spec.Fault != nil {
		return fail(ReachFault, spec.Fault)
	}
	sess, err := s.dial(ctx)
	if s.wantsSignIn(ctx, err) {
		return fail(ReachSignIn, s.connectError(fmt.Errorf("%w: %w", ErrSignIn, err)))
	}
	if err != nil {
		return fail(reachOf(err), s.connectError(err))
	}
	defer sess.Close()
	v.setInfo(sess.Info(), ss.opts.Now())
	types, bad, err := dialect.For(sess, s.dialectOptions()).List(ctx)
	v.Types, v.BadTypes, v.BadWhy = types, bad.Count, bad.Why
	if err != nil {
		v.TypesErr = trust.Line(trust.OfError(err)).Plain()
		if !errors.Is(err, dialect.ErrPartial) {
			return v, explain(err)
		}
	}
	v.TypesKnown = true
	return v, nil
}

// setInfo takes over what the server said about itself when it connected.
func (v *ServerView) setInfo(info session.Info, now time.Time) {
	v.Reach, v.Since, v.Attempt, v.NextTry, v.Err, v.Reason = ReachReady, now, 0, time.Time{}, "", ""
	v.Era, v.Version, v.Transport, v.HTTP = string(info.Era), info.Version, string(info.Transport), info.HTTP
	v.Title, v.Release, v.Profile = info.ServerName, info.ServerVersion, string(info.Profile)
}

// reachOf returns the state of a server after a failure to connect.
func reachOf(err error) Reach {
	switch {
	case session.Denied(err), errors.Is(err, session.ErrFraming), errors.Is(err, session.ErrVersion):
		return ReachRefused
	case errors.Is(err, session.ErrServer):
		return ReachFault
	}
	return ReachBackoff
}

// connectError wraps a failure to connect in [ErrRefused] or [ErrUnreachable].
func (s *server) connectError(err error) error {
	if session.Denied(err) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return fmt.Errorf("%w: %s: %w", ErrUnreachable, s.view.Address, err)
}
