// Package signin authorizes the host at servers: OAuth 2.1 as MCP defines it. The refusal of a
// server says where to sign in (RFC 9728, RFC 8414); the operator agrees in a browser
// (authorization code with PKCE, a redirect to loopback), or the host has client credentials.
// Tokens are renewed without the operator.
//
// Discovery, registration and the parsing of challenges come from the MCP Go SDK. This package
// makes the token requests itself: the SDK keeps tokens in memory only, makes a request for each of
// several simultaneous refusals, and leaves the resource out of a renewal.
//
// # What is trusted
//
// signin.Account is the authorization for one server. A session asks it for the token of each
// request and reports each 401 and 403 to it; it refreshes the token, once for all waiting
// requests, or says that the operator must sign in. The metadata of a server and its
// authorization server is trusted only if it is consistent: the metadata must be for the
// server's own address; the issuer must be that of the first sign-in, unless one is
// configured, which is asked whatever the server names; a configured client secret goes only
// to a configured issuer; the issuer asked must be the issuer that answers (RFC 9207);
// addresses are https (http on loopback); no redirect is followed; and a server on the public
// network cannot make the host call non-public addresses. Tokens and registrations are one
// sealed value in the store, under the server's name and address, so that no token goes to
// another address. Commands with a temporary store read the tokens of the permanent store once
// a server has refused them.
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
)

// Errors of signing in. Their texts are safe to print.
var (
	// ErrNone: the server does not say where to sign in, or needs no sign-in.
	ErrNone = errors.New("no way to sign in")
	// ErrMetadata: the metadata of the server or its authorization server are invalid or contradict
	// each other.
	ErrMetadata = errors.New("sign-in metadata cannot be trusted")
	// ErrUnreachable: the server or its authorization server did not answer when it was asked for
	// metadata.
	ErrUnreachable = errors.New("sign-in metadata cannot be fetched")
	// ErrClient: the host is not registered at the authorization server, and cannot register
	// itself.
	ErrClient = errors.New("client is not registered")
	// ErrIssuer: the operator has not agreed to the authorization server that the MCP server names;
	// the text says how to agree. It wraps [ErrMetadata].
	ErrIssuer = fmt.Errorf("%w: the authorization server is not one that you agreed to", ErrMetadata)
	// ErrDenied: the operator or the authorization server denied the sign-in.
	ErrDenied = errors.New("sign-in was denied")
	// ErrToken: the token endpoint returned no usable token.
	ErrToken = errors.New("no token")
)

// Vault keeps secrets sealed. Its methods may fail with [event.ErrKeyLocked].
type Vault interface {
	// Credential returns the value under a name. Error: [event.ErrNotFound].
	Credential(name string) (event.Secret, error)
	// SetCredential stores a value; the zero Secret removes it.
	SetCredential(ctx context.Context, name string, value event.Secret) error
}

// Options configure an [Account].
type Options struct {
	Server event.Server
	Vault  Vault
	// Lazy: the vault is not read before the server has refused a request.
	Lazy bool
	// Transport is used for every request, with a check of the dialed addresses; nil means one of
	// the standard library.
	Transport *http.Transport
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger     // nil: nothing is logged
	// Secrets is called with the tokens and the client secret before they are used; nil: not
	// called.
	Secrets func(...event.Secret)
}

const (
	requestTimeout = 20 * time.Second // for one request to an authorization server
	renewAhead     = 30 * time.Second // before a token expires
	minTokenAge    = 10 * time.Second // a token younger than this is not renewed again
)

// Account is the host's authorization for one server. Its methods may be called from many
// goroutines at once. It implements the Authorizer of package session.
type Account struct {
	opts     Options
	resource string // of tokens: the server's address, without its query
	client   *http.Client
	private  func() bool   // the server is on loopback or a private network itself
	tokenMu  chan struct{} // one slot: one token request at a time

	mu         sync.Mutex
	loaded     bool
	kept       kept
	challenges []string // of the last refusal
	need       string   // why the operator has to sign in, "" if not

	renewed event.Secret // the token that the last renewal brought; under tokenMu
}

// New returns the account of a server. It sends nothing. It returns nil if there is nothing to sign
// in to: for a process, and with an Authorization header.
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

// Need returns why the operator has to sign in, "" if no reason is known.
func (a *Account) Need() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.need
}

// SignedIn reports whether a token, or a way to get one without the operator, is known.
func (a *Account) SignedIn() bool {
	if a.opts.Lazy && !a.known() {
		return false
	}
	k := a.state()
	return !k.Access.IsZero() || !k.Refresh.IsZero() || a.opts.Server.OAuth.ClientCredentials
}

// Token returns the token for the next request, renewed if it is about to expire. It is the zero
// Secret before the operator has signed in.
//
// Errors: those of a token endpoint that cannot be reached; [event.ErrKeyLocked].
func (a *Account) Token(ctx context.Context) (event.Secret, error) {
	if a.opts.Lazy && !a.known() {
		return event.Secret{}, nil
	}
	k, err := a.read()
	if err != nil || !a.ending(k) {
		return k.Access, err
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

// Refused handles the refusal of a request with the token, by status 401 or 403 and these
// challenges. It reports whether there is another token now.
//
// Errors: those of a token endpoint that cannot be reached; [event.ErrKeyLocked].
func (a *Account) Refused(ctx context.Context, token event.Secret, status int, challenges []string) (again bool, err error) {
	if err := a.lockToken(ctx); err != nil {
		return false, err
	}
	defer a.unlockToken()
	k, err := a.read()
	if err != nil {
		return false, err
	}
	if !k.Access.IsZero() && k.Access != token {
		return true, nil // it was renewed meanwhile
	}
	c := readChallenge(challenges)
	if status == http.StatusForbidden && c.reason != "insufficient_scope" {
		return false, nil
	}
	a.remember(challenges)
	if status == http.StatusForbidden && len(union(k.Wanted, c.scopes)) > len(k.Wanted) {
		k.Wanted = union(k.Wanted, c.scopes) // for the next sign-in, maybe in another run
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
		a.demand(fmt.Sprintf("more rights are needed: %v", words(strings.Join(c.scopes, " "))))
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
	return !k.Access.IsZero() && a.opts.Now().Sub(k.Obtained) < minTokenAge
}

// outcome returns the results of Refused after a token request. If the authorization server
// refuses, the operator has to sign in.
func (a *Account) outcome(err error) (again bool, _ error) {
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, ErrToken), errors.Is(err, ErrNone), errors.Is(err, ErrMetadata), errors.Is(err, ErrUnreachable), errors.Is(err, ErrClient):
		a.demand(err.Error())
		return false, nil
	}
	return false, err
}

// SignOut removes the tokens and the registration, after revoking them at the authorization server.
//
// Errors: those of the vault. A failed revocation is only logged: the tokens are removed here.
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
