// Package signin gives the host the right to use servers that ask for it: OAuth
// 2.1 as MCP defines it. Where to sign in is found out from the server's refusal
// (RFC 9728, RFC 8414); the operator agrees in a browser (authorization code with
// PKCE, a redirect to loopback), or the host has credentials of its own. Tokens
// renew themselves.
//
// Discovery, registration and the parsing of challenges are the MCP Go SDK's. The
// token endpoint is asked here: the SDK keeps tokens in memory only, asks once
// for every refusal that comes at the same time, and leaves the resource out of a
// renewal.
package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Errors of signing in. Their texts are safe to print.
var (
	// ErrNone: the server does not say where to sign in, or needs no sign-in.
	ErrNone = errors.New("no way to sign in")
	// ErrMetadata: what the server or its authorization server says about itself
	// cannot be used or does not fit together.
	ErrMetadata = errors.New("sign-in metadata cannot be trusted")
	// ErrClient: the authorization server does not know the host, and does not let
	// it register.
	ErrClient = errors.New("client is not registered")
	// ErrIssuer: the operator has not agreed to the authorization server that the MCP
	// server names; the text says how to. It is an [ErrMetadata] too.
	ErrIssuer = fmt.Errorf("%w: the authorization server is not one that you agreed to", ErrMetadata)
	// ErrDenied: the operator or the authorization server said no.
	ErrDenied = errors.New("sign-in was denied")
	// ErrToken: the token endpoint gave no token that can be used.
	ErrToken = errors.New("no token")
)

// Vault keeps secrets sealed.
type Vault interface {
	// Credential returns what is kept under a name. Error: [event.ErrNotFound].
	Credential(name string) (event.Secret, error)
	// SetCredential keeps a value; the zero Secret removes it.
	SetCredential(ctx context.Context, name string, value event.Secret) error
}

// Options describe an [Account].
type Options struct {
	Server event.Server
	Vault  Vault
	// Lazy leaves the vault alone until the server has refused a request.
	Lazy bool
	// Transport is used for every request, with the addresses that it dials held
	// against the server's: nil means one of the standard library's.
	Transport *http.Transport
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil: nothing is logged
	// Secrets is told of the tokens and the secret of the account before they are used.
	// nil: no operator is.
	Secrets func(...event.Secret)
}

const (
	askWithin  = 20 * time.Second // for one question to an authorization server
	renewAhead = 30 * time.Second // before the end of a token
	fresh      = 10 * time.Second // a renewal that brought a token this young is not repeated
)

// Account is the host's right to use one server. Its methods may be called from
// many goroutines at once. It implements the Authorizer of package session.
type Account struct {
	opts     Options
	resource string // what tokens are for: the server's address, without its query
	client   *http.Client
	private  func() bool   // the server is on loopback or a private network itself
	tokenMu  chan struct{} // one slot: one question about tokens at a time

	mu         sync.Mutex
	loaded     bool
	kept       kept
	challenges []string // of the last refusal
	need       string   // why the operator has to sign in, "" if not

	renewed event.Secret // the token that the last renewal brought; under tokenMu
}

// New returns the account of a server. It sends nothing. It is nil where there is
// nothing to sign in to: for a process, and where the headers say it all.
func New(opts Options) *Account {
	u, err := url.Parse(opts.Server.URL)
	if err != nil || u.Host == "" || opts.Server.Command != "" {
		return nil
	}
	for name := range opts.Server.Headers {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Secrets == nil {
		opts.Secrets = func(...event.Secret) {}
	}
	switch u.Scheme {
	case "ws":
		u.Scheme = "http"
	case "wss":
		u.Scheme = "https"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	a := &Account{opts: opts, resource: u.String(), tokenMu: make(chan struct{}, 1)}
	a.private = sync.OnceValue(func() bool { return onPrivateNetwork(u.Hostname()) })
	a.client = newClient(opts.Transport, a.private)
	return a
}

// Need says why the operator has to sign in; "" if there is no need, as far as
// is known.
func (a *Account) Need() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.need
}

// SignedIn reports whether there is a token, or the means to get one, as far as
// is known.
func (a *Account) SignedIn() bool {
	if a.opts.Lazy && !a.known() {
		return false
	}
	k := a.state()
	return !k.Access.IsZero() || !k.Refresh.IsZero() || a.opts.Server.OAuth.ClientCredentials
}

// Token returns the token of the next request, renewed if it is about to end. It
// is the zero Secret while the operator has not signed in.
//
// Errors: those of the token endpoint, when it cannot be asked.
func (a *Account) Token(ctx context.Context) (event.Secret, error) {
	if a.opts.Lazy && !a.known() {
		return event.Secret{}, nil
	}
	k := a.state()
	if !a.ending(k) {
		return k.Access, nil
	}
	if err := a.lockToken(ctx); err != nil {
		return event.Secret{}, err
	}
	defer a.unlockToken()
	if k = a.state(); !a.ending(k) {
		return k.Access, nil // another has renewed it
	}
	if err := a.renew(ctx, k); err != nil && !errors.Is(err, ErrToken) {
		if a.opts.Now().Before(k.Expires) {
			return k.Access, nil
		}
		return event.Secret{}, err
	}
	return a.state().Access, nil
}

// ending reports whether a token should be renewed before it is used.
func (a *Account) ending(k kept) bool {
	if k.Access.IsZero() || k.Expires.IsZero() {
		return false
	}
	return (!k.Refresh.IsZero() || a.opts.Server.OAuth.ClientCredentials) && a.opts.Now().Add(renewAhead).After(k.Expires)
}

// Refused is told that a request with the token was answered with status 401 or
// 403 and these challenges. It reports whether there is another token now.
//
// Errors: those of the token endpoint, when it cannot be asked.
func (a *Account) Refused(ctx context.Context, token event.Secret, status int, challenges []string) (again bool, err error) {
	if err := a.lockToken(ctx); err != nil {
		return false, err
	}
	defer a.unlockToken()
	k := a.state()
	if !k.Access.IsZero() && k.Access != token {
		return true, nil // another has signed in or renewed it meanwhile
	}
	c := readChallenge(challenges)
	if status == http.StatusForbidden && c.reason != "insufficient_scope" {
		return false, nil
	}
	a.remember(challenges)
	if status == http.StatusForbidden && len(union(k.Wanted, c.scopes)) > len(k.Wanted) {
		k.Wanted = union(k.Wanted, c.scopes) // for the next sign-in, which may be another run's
		a.keep(ctx, k)
	}
	switch {
	case a.opts.Server.OAuth.ClientCredentials:
		if a.young(k) && (status != http.StatusForbidden || len(union(k.Scopes, c.scopes)) == len(k.Scopes)) {
			a.demand("the server refuses a token that was just issued")
			return false, nil
		}
		return a.outcome(a.credentials(ctx))
	case status == http.StatusForbidden:
		a.demand("more rights are needed: " + trustedWords(c.scopes))
		return false, nil
	case !k.Refresh.IsZero() && !(a.young(k) && k.Access == a.renewed):
		return a.outcome(a.renew(ctx, k))
	case !k.Access.IsZero():
		a.demand("the server does not accept the token any more")
	default:
		a.demand("the server wants to know who is asking")
	}
	return false, nil
}

func (a *Account) young(k kept) bool {
	return !k.Access.IsZero() && a.opts.Now().Sub(k.Obtained) < fresh
}

// outcome turns the end of asking for a token into the answer to a refusal. That
// the authorization server says no is for the operator to fix.
func (a *Account) outcome(err error) (again bool, _ error) {
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, ErrToken), errors.Is(err, ErrNone), errors.Is(err, ErrMetadata), errors.Is(err, ErrClient):
		a.demand(err.Error())
		return false, nil
	}
	return false, err
}

// SignOut forgets the tokens and the registration, after it has asked the
// authorization server to do the same.
//
// Errors: those of the vault. That the authorization server did not take note is
// only logged: the tokens are gone here.
func (a *Account) SignOut(ctx context.Context) error {
	if err := a.lockToken(ctx); err != nil {
		return err
	}
	defer a.unlockToken()
	k := a.state()
	if err := a.revoke(ctx, k); err != nil {
		a.opts.Log.Warn("the authorization server did not revoke the token", "error", err)
	}
	a.mu.Lock()
	a.kept, a.need = kept{}, ""
	a.mu.Unlock()
	return a.opts.Vault.SetCredential(ctx, a.name(), event.Secret{})
}

func (a *Account) lockToken(ctx context.Context) error {
	select {
	case a.tokenMu <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *Account) unlockToken() { <-a.tokenMu }

func (a *Account) known() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.loaded
}

func (a *Account) remember(challenges []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.challenges = slices.Clone(challenges)
}

func (a *Account) demand(why string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.need = why
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// trustedWords makes a server's words safe to print.
func trustedWords(words []string) string {
	return fmt.Sprintf("%v", trust.Untrusted(cut(strings.Join(words, " "), 200)))
}

func cut(s string, n int) string { return s[:min(len(s), n)] }
