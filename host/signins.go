package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/internal/pause"
	"eventdeck/host/session"
	"eventdeck/host/signin"
)

// Vault keeps the secrets of sign-ins sealed. Every [event.Store] is one.
type Vault = signin.Vault

// ErrSignIn: the server wants the operator to sign in. It is an [ErrRefused] too.
var ErrSignIn = errors.New("sign-in is needed")

// ErrNoSignIn: the server does not support signing in; the text says what to do.
var ErrNoSignIn = signin.ErrNone

// SignIn is a sign-in that was begun and waits for the operator.
type SignIn struct {
	URL    string // to open in a browser; "" when there is nothing to do but wait
	Issuer string // the authorization server that will ask the operator, an address; safe to print after escaping
	// Wait waits for the operator, keeps the tokens and connects to the server
	// again. It must be called; with a context that is done it gives the sign-in up.
	Wait func(ctx context.Context) error
}

// signInWithin bounds the time that the operator has for a sign-in.
const signInWithin = 15 * time.Minute

// account returns the account with which the host uses a server; nil if one cannot sign in to it.
func (ss *servers) account(spec event.Server) *signin.Account {
	if spec.Fault != nil || spec.URL == "" {
		return nil
	}
	log := ss.opts.Log.With("server", spec.Name)
	transport, err := session.BaseTransport(spec, nil, log)
	if err != nil {
		return nil // dialing says what is wrong
	}
	return signin.New(signin.Options{
		Server: spec, Vault: cmp.Or[Vault](ss.opts.Vault, ss.opts.Store), Lazy: ss.opts.Vault != nil, Transport: transport, Now: ss.opts.Now, Log: log,
		Secrets: ss.secrets.AddGiven,
	})
}

// SignIn implements [API].
func (ss *servers) SignIn(ctx context.Context, name string) (SignIn, error) {
	s, err := ss.server(name)
	if err != nil {
		return SignIn{}, err
	}
	if s.account == nil {
		return SignIn{}, fmt.Errorf("%s: %w: it is a process, or its headers hold the token", name, ErrNoSignIn)
	}
	if until, why := ss.locked(); why != nil {
		select {
		case <-until:
		case <-ctx.Done():
			return SignIn{}, fmt.Errorf("%s: its tokens cannot be stored: %w", name, why)
		}
	}
	// The refusal of a connection names the authorization server, so the first attempt is
	// waited for.
	if err := s.awaitAttempt(ctx); err != nil {
		return SignIn{}, err
	}
	flow, err := s.account.Begin(ctx)
	if err = ss.secrets.Error(err); err != nil {
		ss.audit(ctx, ss.signInEntry("sign in", name, err))
		return SignIn{}, fmt.Errorf("%s: %w", name, err)
	}
	wait := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, signInWithin, errors.New("no answer came back from the browser in time"))
		defer cancel()
		err := ss.secrets.Error(flow.Wait(ctx))
		ss.audit(context.WithoutCancel(ctx), ss.signInEntry("sign in", name, err))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.reconnectNow()
		ss.wake.restartDenied(name)
		ss.notify()
		return nil
	}
	return SignIn{URL: flow.URL, Issuer: flow.Issuer, Wait: wait}, nil
}

// wantsWithin bounds finding out whether a sign-in is possible, for which the operator waits.
const wantsWithin = 4 * time.Second

// SignOut implements [API].
func (ss *servers) SignOut(ctx context.Context, name string) error {
	s, err := ss.server(name)
	if err != nil {
		return err
	}
	if s.account == nil {
		return fmt.Errorf("%s: %w: it is a process, or its headers hold the token", name, ErrNoSignIn)
	}
	err = ss.secrets.Error(s.account.SignOut(ctx))
	ss.audit(ctx, ss.signInEntry("sign out", name, err))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	ss.notify()
	signal(s.reconnect)
	return nil
}

func (ss *servers) signInEntry(action, name string, err error) event.AuditEntry {
	e := ss.serverEntry(action, name)
	if err != nil {
		e.Result = err.Error()
	}
	return e
}

// awaitAttempt waits for the first attempt to connect, whatever its outcome.
//
// Errors: the cause of ctx, [ErrUnreachable] if the server was removed.
func (s *server) awaitAttempt(ctx context.Context) error {
	err := s.attempted(ctx)
	select {
	case <-s.done:
		return s.removedError()
	default:
		return err
	}
}

// wantsSignIn reports whether a failure to connect may be solved by a sign-in.
func (s *server) wantsSignIn(ctx context.Context, err error) bool {
	if s.account == nil || !session.Denied(err) || s.account.Need() == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, wantsWithin)
	defer cancel()
	// Other errors of the metadata are reported when the operator signs in.
	return !errors.Is(s.account.Discover(ctx), ErrNoSignIn)
}

// keyEvery is how often a locked store is looked at. To wait for [event.Store.Unlocked] would ask
// the operator for a key that perhaps nothing needs.
const keyEvery = time.Second

// awaitKey connects again to the servers that wait for their sign-in, once it can be read.
func (ss *servers) awaitKey() {
	if ss.opts.Store.Info().Locked == nil {
		return
	}
	for ss.opts.Store.Info().Locked != nil {
		if pause.For(ss.ctx, keyEvery) != nil {
			return
		}
	}
	ss.opts.Log.Info("secrets are not locked any more")
	ss.hideStored()
	for _, s := range ss.all() {
		if s.snapshot().Reason == event.ReasonLocked {
			s.reconnectNow()
		}
	}
	ss.notify()
}
