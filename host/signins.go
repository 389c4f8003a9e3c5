package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"eventdeck/host/event"
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

// vault returns the vault that keeps sign-ins.
func (o Options) vault() Vault {
	if o.Vault != nil {
		return o.Vault
	}
	return o.Store
}

// account returns the account with which the host uses a server; nil if one cannot sign in to it.
func (h *Host) account(spec event.Server) *signin.Account {
	if spec.Fault != nil || spec.URL == "" {
		return nil
	}
	log := h.opts.Log.With("server", spec.Name)
	transport, err := session.BaseTransport(spec, nil, log)
	if err != nil {
		return nil // dialing says what is wrong
	}
	return signin.New(signin.Options{
		Server: spec, Vault: h.opts.vault(), Lazy: h.opts.Vault != nil, Transport: transport, Now: h.opts.Now, Log: log,
		Secrets: h.secrets.AddGiven,
	})
}

// SignIn implements [API].
func (h *Host) SignIn(ctx context.Context, name string) (SignIn, error) {
	s, err := h.server(name)
	if err != nil {
		return SignIn{}, err
	}
	if s.account == nil {
		return SignIn{}, fmt.Errorf("%s: %w: it is a process, or its headers hold the token", name, ErrNoSignIn)
	}
	if until, why := h.locked(); why != nil {
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
	if err = h.secrets.Error(err); err != nil {
		h.audit(ctx, h.signInEntry("sign in", name, err))
		return SignIn{}, fmt.Errorf("%s: %w", name, err)
	}
	wait := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, signInWithin, errors.New("no answer came back from the browser in time"))
		defer cancel()
		err := h.secrets.Error(flow.Wait(ctx))
		h.audit(context.WithoutCancel(ctx), h.signInEntry("sign in", name, err))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.reconnectNow()
		h.restartDenied(name)
		h.notify()
		return nil
	}
	return SignIn{URL: flow.URL, Issuer: flow.Issuer, Wait: wait}, nil
}

// restartDenied starts the subscriptions again that a server refused for lack of rights, after a
// sign-in.
func (h *Host) restartDenied(server string) {
	for _, sub := range h.opts.Store.Subscriptions() {
		if sub.Key.Server != server || sub.State != event.StateDenied || sub.Paused {
			continue
		}
		if err := h.restartDeniedSub(h.ctx, sub.ID); err != nil && h.ctx.Err() == nil {
			h.logOf(sub).Warn("a refused subscription could not be started again", "sub", sub.ID, "err", err)
		}
	}
}

func (h *Host) restartDeniedSub(ctx context.Context, id event.SubID) error {
	sub, mu, err := h.lockSub(ctx, id)
	if err != nil {
		return err
	}
	defer mu.unlock()
	if sub.State != event.StateDenied || sub.Paused {
		return nil
	}
	err = h.commitChange(ctx, id, nil, h.auditEntry(event.ActorHost, "resume", sub, "the operator signed in"), func(s *event.Subscription) {
		s.State, s.Evidence = event.StateResumed, "the operator signed in"
	})
	if err == nil {
		h.stopRunning(id) // the one that ended
		h.restart(id)
	}
	return err
}

// wantsWithin bounds finding out whether a sign-in is possible, for which the operator waits.
const wantsWithin = 4 * time.Second

// SignOut implements [API].
func (h *Host) SignOut(ctx context.Context, name string) error {
	s, err := h.server(name)
	if err != nil {
		return err
	}
	if s.account == nil {
		return fmt.Errorf("%s: %w: it is a process, or its headers hold the token", name, ErrNoSignIn)
	}
	err = h.secrets.Error(s.account.SignOut(ctx))
	h.audit(ctx, h.signInEntry("sign out", name, err))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	h.notify()
	signal(s.reconnect)
	return nil
}

func (h *Host) signInEntry(action, name string, err error) event.AuditEntry {
	e := h.serverEntry(action, name)
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
