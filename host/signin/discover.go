package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"eventdeck/host/trust"
)

// challenge is the content of the WWW-Authenticate of a refusal.
type challenge struct {
	metadata string   // URL of the resource's metadata
	scopes   []string // needed for the request
	reason   string
}

// readChallenge reads WWW-Authenticate. A malformed one is ignored.
func readChallenge(values []string) (c challenge) {
	parsed, err := oauthex.ParseWWWAuthenticate(values)
	if err != nil {
		return c
	}
	for _, p := range parsed {
		if p.Scheme != "bearer" {
			continue
		}
		if c.metadata == "" {
			c.metadata = p.Params["resource_metadata"]
		}
		if len(c.scopes) == 0 {
			c.scopes = scopes(p.Params["scope"])
		}
		if c.reason == "" {
			c.reason = p.Params["error"]
		}
	}
	return c
}

// scopes splits a list of scopes and drops invalid ones (RFC 6749, 3.3).
func scopes(list string) []string {
	return slices.DeleteFunc(strings.Fields(list), func(s string) bool {
		return strings.ContainsFunc(s, func(r rune) bool { return r < 0x21 || r > 0x7e || r == '"' || r == '\\' })
	})
}

// place is where the host may sign in, for which resource and scopes.
type place struct {
	resource string
	scopes   []string
	server   *oauthex.AuthServerMeta
}

// Discover finds out whether and where the server wants the operator to sign in.
//
// Errors: [ErrNone], [ErrMetadata], [ErrUnreachable].
func (a *Account) Discover(ctx context.Context) error {
	_, err := a.discover(ctx)
	return err
}

func (a *Account) discover(ctx context.Context) (place, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	a.mu.Lock()
	c := readChallenge(a.challenges)
	a.mu.Unlock()
	resource, err := a.resourceMetadata(ctx, c.metadata)
	if err != nil {
		return place{}, err
	}
	p := place{resource: resource.Resource, scopes: c.scopes}
	if len(p.scopes) == 0 {
		p.scopes = scopes(strings.Join(resource.ScopesSupported, " "))
	}
	if p.server, err = a.authorizationServer(ctx, resource); err != nil {
		return place{}, err
	}
	return p, a.checkServer(p.server)
}

// authorizationServer fetches the metadata of the authorization server: of the one that the operator
// names, whatever the server says, else of the first one that the server names.
//
// Errors: those of Discover.
func (a *Account) authorizationServer(ctx context.Context, resource protected) (*oauthex.AuthServerMeta, error) {
	issuer, own := a.opts.Server.OAuth.Issuer, true
	if issuer == "" {
		issuer, own = resource.AuthorizationServers[0], false
		if err := a.checkIssuer(issuer); err != nil {
			return nil, err
		}
	}
	name := fmt.Sprintf("authorization server %v", words(issuer))
	if own {
		name += ", which oauth.issuer names"
	}
	if err := a.checkAddress(issuer); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrMetadata, name, err)
	}
	client, requests := *a.client, noting{RoundTripper: a.client.Transport}
	client.Transport = &requests
	server, err := auth.GetAuthServerMetadata(ctx, issuer, &client)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%w: %s did not answer in time: %w", ErrUnreachable, name, context.Cause(ctx))
	case resource.assumed && !own && (err != nil || server == nil):
		return nil, fmt.Errorf("%w: the server does not say where; a token goes into a header of the configuration", ErrNone)
	case err != nil && unanswered(requests.err):
		return nil, fmt.Errorf("%w: %s: %v", ErrUnreachable, name, words(err.Error()))
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %v%s", ErrMetadata, name, words(err.Error()), a.otherIssuer(ctx, requests.asked, issuer))
	case server == nil:
		return nil, fmt.Errorf("%w: %s publishes no metadata", ErrMetadata, name)
	}
	return server, nil
}

// otherIssuer says what the operator can do if the metadata at an address are of another issuer; ""
// if they are not. Some servers name an address that is not their issuer's.
func (a *Account) otherIssuer(ctx context.Context, address, issuer string) string {
	var m struct{ Issuer string }
	if a.getJSON(ctx, address, &m) != nil || m.Issuer == "" || sameIssuer(m.Issuer, issuer) {
		return ""
	}
	return fmt.Sprintf(`; if that is where you want to sign in, write "issuer": %q below "oauth" of the server in servers.json, and it is asked itself`, words(m.Issuer))
}

// checkIssuer compares the authorization server that the MCP server names with the one that the
// operator agreed to at the first sign-in. A server that names another one later could hand tokens
// and secrets to it, so that is an error; and a configured secret goes only to an authorization
// server that is configured too.
//
// Error: [ErrIssuer].
func (a *Account) checkIssuer(named string) error {
	own, pinned := a.opts.Server.OAuth, a.state().Grant.Issuer
	switch {
	case pinned != "" && sameIssuer(pinned, named):
		return nil
	case pinned != "":
		return fmt.Errorf("%w: the server names %v now, and you signed in at %v; if that is right, run eventdeck sign-out %q and sign in again", ErrIssuer, words(named), words(pinned), a.opts.Server.Name)
	case !own.ClientSecret.IsZero():
		return fmt.Errorf(`%w: the server names %v, which would get the client secret; if that is where the client is registered, write "issuer": %q beside "clientSecret" in servers.json`, ErrIssuer, words(named), words(named))
	}
	return nil
}

// checkServer checks that an authorization server has PKCE and safe endpoints.
func (a *Account) checkServer(m *oauthex.AuthServerMeta) error {
	if !slices.Contains(m.CodeChallengeMethodsSupported, "S256") {
		return fmt.Errorf("%w: authorization server %v does not know PKCE with S256", ErrMetadata, words(m.Issuer))
	}
	for name, address := range map[string]string{
		"authorization": m.AuthorizationEndpoint, "token": m.TokenEndpoint,
		"registration": m.RegistrationEndpoint, "revocation": m.RevocationEndpoint,
	} {
		if address == "" && (name == "registration" || name == "revocation" || name == "authorization" && a.opts.Server.OAuth.ClientCredentials) {
			continue
		}
		if err := a.checkAddress(address); err != nil {
			return fmt.Errorf("%w: %s endpoint: %w", ErrMetadata, name, err)
		}
	}
	return nil
}

// protected is the metadata of the server as a resource (RFC 9728).
type protected struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported"`

	assumed bool // the server publishes no metadata; it may be its own authorization server, as in 2025-03-26
}

// resourceMetadata fetches the metadata from the URL that the server named, then from those of RFC
// 9728. Wrong metadata end the search.
func (a *Account) resourceMetadata(ctx context.Context, named string) (protected, error) {
	own, err := url.Parse(a.resource)
	if err != nil {
		return protected{}, fmt.Errorf("%w: %w", ErrNone, err)
	}
	const known = "/.well-known/oauth-protected-resource"
	origin := own.Scheme + "://" + own.Host
	addresses := []string{named, origin + known + strings.TrimSuffix(own.EscapedPath(), "/"), origin + known}
	for _, address := range slices.Compact(addresses) {
		if address == "" {
			continue
		}
		var m protected
		err := a.getJSON(ctx, address, &m)
		if errors.Is(err, errAbsent) && address != named {
			continue // many servers answer every address with some page
		}
		if unanswered(err) {
			return protected{}, fmt.Errorf("%w: %v: %w", ErrUnreachable, words(address), err)
		}
		if err != nil {
			return protected{}, fmt.Errorf("%w: %v: %w", ErrMetadata, words(address), err)
		}
		if !covers(m.Resource, own) {
			return protected{}, fmt.Errorf("%w: they are for %v, not for %s", ErrMetadata, words(m.Resource), a.resource)
		}
		if len(m.AuthorizationServers) == 0 && a.opts.Server.OAuth.Issuer == "" {
			return protected{}, fmt.Errorf("%w: they name no authorization server", ErrMetadata)
		}
		return m, nil
	}
	return protected{Resource: a.resource, AuthorizationServers: []string{origin}, assumed: true}, nil
}

// covers reports whether a resource is the address or above it: a server may publish metadata for
// all of its endpoints.
func covers(resource string, own *url.URL) bool {
	u, err := url.Parse(resource)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	if !strings.EqualFold(u.Scheme, own.Scheme) || !strings.EqualFold(hostPort(u), hostPort(own)) {
		return false
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	rest, ok := strings.CutPrefix(own.EscapedPath(), path)
	return ok && (rest == "" || rest[0] == '/')
}

func hostPort(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	if u.Scheme == "https" {
		return u.Hostname() + ":443"
	}
	return u.Hostname() + ":80"
}

func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// errAbsent: there is no JSON document at the URL.
var errAbsent = errors.New("there are none")

// getJSON reads a document of at most 1 MiB.
//
// Errors: errAbsent; those of asking.
func (a *Account) getJSON(ctx context.Context, address string, v any) error {
	if err := a.checkAddress(address); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "application/json")
	status, body, err := a.ask(req)
	switch {
	case err != nil && (status != 0 || errors.Is(err, errRedirected)):
		return fmt.Errorf("%w: %w", errAbsent, err)
	case err != nil:
		return err
	case status != http.StatusOK:
		return fmt.Errorf("%w: HTTP %d", errAbsent, status)
	}
	if err := json.Unmarshal(body, v); err != nil {
		return errors.New("it is not the JSON that it should be")
	}
	return nil
}

// words makes a text of a server safe to print, and short.
func words(s string) trust.Text { return trust.Untrusted(s[:min(len(s), 200)]) }
