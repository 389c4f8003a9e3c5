package host

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/dialect"
	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/signin"
	"eventdeck/host/toolbox"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// refusedPause is the least pause between attempts to connect to a server that refuses for lack
// of rights or whose description is wrong: the operator must act first.
const refusedPause = 5 * time.Minute

// server keeps one server connected. It is the [delivery.Source] of its subscriptions, over
// its present session.
type server struct {
	*core
	servers *servers
	spec    event.Server

	cancel    context.CancelFunc
	done      chan struct{}
	relist    chan struct{} // one slot: list the types again
	reconnect chan struct{} // one slot: connect again

	pace    *pacer          // of catch-up polls
	account *signin.Account // nil: there is nothing to sign in to

	mu          sync.Mutex
	view        ServerView
	dialect     dialect.Dialect
	tools       *toolbox.Box  // of the connection of dialect
	sessionOver chan struct{} // closed when the connection of dialect is over
	ready       chan struct{} // closed while connected
	tried       chan struct{} // closed after the first attempt
	listed      chan struct{} // closed once the types of this connection are known, or an error
	failure     error         // of the last attempt
	listErr     error

	advertised bool        // the server advertises events
	asked      atomic.Bool // the operator asked for events that are not advertised
	missingErr error       // why some types are not known; nil: all are
}

func newServer(ss *servers, spec event.Server) *server {
	HideServer(&ss.secrets, spec)
	return &server{
		core:      ss.core,
		servers:   ss,
		account:   ss.account(spec),
		pace:      newPacer(),
		spec:      spec,
		done:      make(chan struct{}),
		relist:    make(chan struct{}, 1),
		reconnect: make(chan struct{}, 1),
		ready:     make(chan struct{}),
		tried:     make(chan struct{}),
		listed:    make(chan struct{}),
		view:      ServerView{Name: spec.Name, Address: ss.secrets.String(address(spec)), Reach: ReachConnecting, Since: ss.opts.Now()},
	}
}

// address returns the address as it is shown: a URL without user and query, or the command
// line without secrets.
func address(s event.Server) string {
	if s.Fault != nil {
		return "(not usable)"
	}
	if s.URL == "" {
		return strings.Join(event.PublicWords(append([]string{s.Command}, s.Args...)), " ")
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "(not a URL)"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// run keeps the server connected until ctx ends.
func (s *server) run(ctx context.Context) {
	defer close(s.done)
	if s.spec.Fault != nil {
		s.disconnected(s.spec.Fault, ReachFault, 0)
		<-ctx.Done()
		return
	}
	backoff := s.backoff()
	anew := false // the server forgot the session before, which did not last either
	for again := false; ctx.Err() == nil; again = true {
		sess, err := s.dial(ctx)
		lasted := false
		if err == nil {
			drain(s.reconnect) // this connection fulfils earlier requests
			began := s.opts.Now()
			s.connected(ctx, sess, again)
			err = s.serve(ctx, sess)
			lasted = s.opts.Now().Sub(began) > 5*s.opts.Timing.BackoffMin
			if lasted {
				backoff.Reset()
			}
		}
		if ctx.Err() != nil {
			return
		}
		forgotten := errors.Is(err, session.ErrForgotten) && (lasted || !anew)
		anew = forgotten && !lasted
		if forgotten || errors.Is(err, errReconnect) {
			s.disconnected(err, ReachConnecting, 0)
			if !forgotten {
				backoff.Reset()
			}
			continue
		}
		wait, reach := backoff.Next(err), reachOf(err)
		if s.wantsSignIn(ctx, err) {
			err, reach = fmt.Errorf("%w: %w", ErrSignIn, err), ReachSignIn
		}
		if reach != ReachBackoff {
			wait = max(wait, refusedPause)
		}
		s.disconnected(err, reach, wait)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-s.reconnect:
			backoff.Reset()
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// dial connects to the server, within [delivery.Timing].ConnectWithin.
func (s *server) dial(ctx context.Context) (*session.Session, error) {
	o := s.opts
	ctx, cancel := context.WithTimeout(ctx, o.Timing.ConnectWithin)
	defer cancel()
	opts := session.Options{
		ClientVersion: o.ClientVersion,
		OnNote:        s.note,
		OnMissed:      func() { s.note(wire.Note{Method: wire.NoteInterrupt}) },
		Log:           o.Log.With("server", s.spec.Name),
		Now:           o.Now,
		Dial:          o.Network.Dial,
		OnStderr:      func(line trust.Text) { s.servers.journal.stderr(s.spec.Name, line) },
		Trace:         func(d session.Direction, frame trust.Text, size int) { s.servers.journal.trace(s.spec, d, frame, size) },
		TraceEvent:    s.servers.journal.traceEvent,
		Redact:        &s.secrets,
	}
	if o.Trace == nil {
		opts.TraceLimit = wireClip
	}
	if s.account != nil {
		opts.Auth = s.account
	}
	return session.Dial(ctx, s.spec, opts)
}

// note takes a notification that belongs to no request.
func (s *server) note(n wire.Note) {
	if n.Method == wire.NoteMessage {
		s.servers.journal.message(s.spec.Name, n.Params)
		return
	}
	s.mu.Lock()
	d := s.dialect
	s.mu.Unlock()
	// Before there is a dialect nothing was subscribed to.
	if d != nil && d.Note(n) {
		signal(s.relist)
	}
}

// dialectOptions returns the options of every connection to the server.
func (s *server) dialectOptions() dialect.Options {
	o := s.opts
	return dialect.Options{
		Pulse:         min(15*time.Second, o.Timing.Watchdog/4),
		AllowUnsigned: s.spec.AllowUnsigned,
		Asked:         s.asked.Load,
		Redact:        &s.secrets,
		Now:           o.Now,
		Log:           o.Log.With("server", s.spec.Name),
	}
}

// connected installs a new session. When it is not the first one (again), the server may have
// forgotten the leases of webhook subscriptions: they are refreshed at once.
func (s *server) connected(ctx context.Context, sess *session.Session, again bool) {
	info := sess.Info()
	now := s.opts.Now()
	s.mu.Lock()
	s.dialect, s.sessionOver = dialect.For(sess, s.dialectOptions()), make(chan struct{})
	s.tools = toolbox.New(sess, toolbox.Options{Redact: &s.secrets, Log: s.opts.Log.With("server", s.spec.Name), Address: addressOf(s.spec)})
	s.advertised = dialect.Advertises(info)
	v := &s.view
	v.setInfo(info, now)
	seen := event.ServerSeen{Name: v.Name, Era: v.Era, Version: v.Version, Transport: v.Transport, Title: v.Title, Release: v.Release, At: now.UTC()}
	close(s.ready)
	s.failure = nil
	closeOnce(s.tried)
	s.mu.Unlock()
	s.notify()
	if err := s.opts.Store.Saw(ctx, seen); err != nil && ctx.Err() == nil {
		s.opts.Log.Warn("the server could not be remembered", "server", s.spec.Name, "err", err)
	}
	if again {
		s.servers.wake.nudge(s.spec.Name)
	}
	s.wg.Go(func() { s.servers.wake.releaseOrphans(ctx, s) })
	signal(s.relist)
}

// serve lists the types when they may have changed, and again after a failure, until the session
// is lost. The pauses between lists grow, so that a server that keeps sending list_changed is
// not asked for types and leases all the time.
func (s *server) serve(ctx context.Context, sess *session.Session) error {
	defer sess.Close()
	backoff := s.backoff()
	relist := s.relist // nil during the pause after a list
	rest := time.NewTimer(0)
	defer rest.Stop()
	var asked time.Time
	known := false
	for {
		select {
		case <-relist:
			now := s.opts.Now()
			if now.Sub(asked) > s.opts.Timing.BackoffMax {
				backoff.Reset()
			}
			_, err := s.list(ctx)
			switch {
			case err == nil && s.listsAgain():
				signal(s.relist)
				known = true
			case err == nil && known:
				s.servers.wake.nudge(s.spec.Name)
			case err == nil:
				known = true
			case ctx.Err() == nil:
				s.opts.Log.Warn("event types could not be listed", "server", s.spec.Name, "err", err)
				if retriable(err) {
					signal(s.relist)
				}
			}
			asked, relist = now, nil
			rest.Reset(backoff.Next(err))
		case <-rest.C:
			relist = s.relist
		case <-s.reconnect:
			return errReconnect
		case <-sess.Lost():
			return sess.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// retriable reports whether listing may succeed later after it failed with err.
func retriable(err error) bool {
	return !errors.Is(err, dialect.ErrNoEvents) && !errors.Is(err, wire.ErrUnacceptable) && wire.NameFrom(err) != wire.Forbidden
}

// listsAgain reports whether types that are missing may be listed later.
func (s *server) listsAgain() bool {
	err := s.missing()
	return errors.Is(err, dialect.ErrDialect) && retriable(err)
}

// missing returns why some types are not known; nil: all are.
func (s *server) missing() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missingErr
}

// list asks for the event types and keeps the answer or the error, unless the connection has
// ended meanwhile or the caller gave up.
func (s *server) list(ctx context.Context) ([]event.Type, error) {
	d, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	types, bad, err := d.List(ctx)
	var partial error
	if errors.Is(err, dialect.ErrPartial) {
		s.opts.Log.Warn("not all event types are shown", "server", s.spec.Name, "err", err)
		partial, err = err, nil
	}
	s.mu.Lock()
	if s.dialect == d && (err == nil || ctx.Err() == nil) {
		s.listErr = err
		s.view.Unadvertised = s.asked.Load() && !s.advertised && !slices.ContainsFunc(types, func(t event.Type) bool { return t.Dialect != "" })
		if err == nil {
			s.view.Types, s.view.TypesKnown, s.view.TypesErr = types, true, ""
			if s.missingErr = partial; partial != nil {
				s.view.TypesErr = partial.Error()
			}
			s.view.BadTypes, s.view.BadWhy = bad.Count, bad.Why
			s.view.Profile = d.Name()
		} else {
			s.view.TypesErr = trust.Line(trust.OfError(err)).Plain()
		}
		closeOnce(s.listed)
	}
	s.mu.Unlock()
	if err == nil {
		s.servers.wake.hideSecrets(ctx, s.spec.Name, types)
	}
	s.notify()
	return types, err
}

// disconnected notes why there is no connection, and the time until the next attempt (0: at once
// or never).
func (s *server) disconnected(err error, reach Reach, wait time.Duration) {
	s.mu.Lock()
	if s.dialect != nil {
		s.dialect = nil
		close(s.sessionOver)
	}
	select {
	case <-s.ready:
		closeOnce(s.listed) // waiting callers check again
		s.ready, s.listed, s.listErr = make(chan struct{}), make(chan struct{}), nil
	default:
	}
	s.failure = err
	v := &s.view
	again := v.Reach == reach
	if !again {
		v.Since = s.opts.Now()
	}
	v.Reach, v.NextTry = reach, time.Time{}
	if wait > 0 {
		v.NextTry = s.opts.Now().Add(wait)
	}
	v.Attempt++
	v.TypesKnown = false
	if err != nil {
		v.Err, v.Reason = trust.Line(trust.OfError(err)).Plain(), ReasonOf(err)
	}
	closeOnce(s.tried)
	s.mu.Unlock()
	if reach != ReachConnecting {
		s.opts.Log.Warn("server not connected", "server", s.spec.Name, "err", err, "again_in", wait)
	}
	if again {
		s.notifySoon()
	} else {
		s.notify()
	}
}

// closeOnce closes a channel unless it is closed already. The caller holds the server's lock.
func closeOnce(ch chan struct{}) {
	select {
	case <-ch:
	default:
		close(ch)
	}
}

// snapshot returns the present view.
func (s *server) snapshot() ServerView {
	s.mu.Lock()
	v := s.view
	s.mu.Unlock()
	if s.account != nil {
		v.SignIn, v.SignedIn = s.secrets.String(s.account.Need()), s.account.SignedIn()
	}
	return v
}

// session waits for the connection.
func (s *server) session(ctx context.Context) (dialect.Dialect, error) {
	d, _, err := s.connection(ctx)
	return d, err
}

// connection waits for the connection; left is closed when it is over.
func (s *server) connection(ctx context.Context) (d dialect.Dialect, left <-chan struct{}, err error) {
	for {
		s.mu.Lock()
		d, left, ready := s.dialect, s.sessionOver, s.ready
		s.mu.Unlock()
		if d != nil {
			return d, left, nil
		}
		select {
		case <-ready:
		case <-s.done:
			return nil, nil, s.removedError()
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// removedError is the error of callers that wait for a server that was removed or replaced.
func (s *server) removedError() error {
	return fmt.Errorf("%w: %s was removed or replaced", ErrUnreachable, s.spec.Name)
}

// reconnectNow connects again at once. Waiting callers get the outcome of this attempt, not of an
// earlier one.
func (s *server) reconnectNow() {
	s.mu.Lock()
	if s.dialect == nil {
		s.tried, s.failure = make(chan struct{}), nil
	}
	s.mu.Unlock()
	signal(s.reconnect)
}

// attempted waits until the first attempt to connect has ended, or the server was removed.
// Error: the cause of ctx.
func (s *server) attempted(ctx context.Context) error {
	s.mu.Lock()
	tried := s.tried
	s.mu.Unlock()
	select {
	case <-tried:
	case <-s.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// firstTry waits for the first attempt to connect, and returns why it failed.
func (s *server) firstTry(ctx context.Context) error {
	if err := s.attempted(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dialect != nil {
		return nil
	}
	if s.failure == nil {
		return fmt.Errorf("%w: %s", ErrUnreachable, s.view.Address)
	}
	return s.connectError(s.failure)
}

// awayFor returns why the server is not connected, if the next attempt to connect is not due
// within d; else nil.
func (s *server) awayFor(d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := &s.view
	if s.dialect != nil || v.Reach == ReachConnecting || !v.NextTry.IsZero() && v.NextTry.Sub(s.opts.Now()) < d {
		return nil
	}
	return s.connectError(s.failure)
}

// drain empties a one-slot flag.
func drain(ch chan struct{}) {
	select {
	case <-ch:
	default:
	}
}
