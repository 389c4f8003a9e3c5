package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
)

// errInvalidGrant: the authorization server does not accept the code or refresh token. It wraps
// [ErrToken].
var errInvalidGrant = fmt.Errorf("%w: the sign-in is over", ErrToken)

// token is the response of a token endpoint.
type token struct {
	access, refresh event.Secret
	scopes          []string // nil: the requested ones
	lifetime        time.Duration
}

// tokenRequest makes a request to a token endpoint.
//
// Errors: [ErrToken] and errInvalidGrant if the endpoint refuses or its response is malformed;
// others if it cannot be reached.
func (a *Account) tokenRequest(ctx context.Context, g grant, client registration, form url.Values) (token, error) {
	if g.Resource != "" {
		form.Set("resource", g.Resource)
	}
	req, err := a.formRequest(ctx, g.TokenURL, client, form)
	if err != nil {
		return token{}, err
	}
	status, body, err := a.ask(req)
	switch {
	case status == 0 && errors.Is(err, errRedirected):
		return token{}, fmt.Errorf("%w: token endpoint %s: %w", ErrToken, req.URL.Host, err)
	case status == 0:
		return token{}, fmt.Errorf("token endpoint %s cannot be asked: %w", req.URL.Host, err)
	case status >= 500 || status == http.StatusTooManyRequests:
		return token{}, fmt.Errorf("token endpoint %s: HTTP %d", req.URL.Host, status)
	case err != nil:
		return token{}, fmt.Errorf("%w: token endpoint %s: %w", ErrToken, req.URL.Host, err)
	case status != http.StatusOK:
		return token{}, refusedToken(req.URL.Host, status, body)
	}
	t, err := readToken(body)
	if err != nil {
		return token{}, fmt.Errorf("%w: token endpoint %s: %w", ErrToken, req.URL.Host, err)
	}
	return t, nil
}

// formRequest returns a request that posts a form, with client authentication.
func (a *Account) formRequest(ctx context.Context, address string, client registration, form url.Values) (*http.Request, error) {
	if err := a.checkAddress(address); err != nil {
		return nil, fmt.Errorf("%w: token endpoint: %w", ErrMetadata, err)
	}
	basic := !client.Secret.IsZero() && client.Method != "client_secret_post"
	if !basic {
		form.Set("client_id", client.ID)
		if !client.Secret.IsZero() {
			form.Set("client_secret", client.Secret.Reveal())
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	if basic { // RFC 6749, 2.3.1: both parts are encoded first
		req.SetBasicAuth(url.QueryEscape(client.ID), url.QueryEscape(client.Secret.Reveal()))
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// refusedToken returns the error in a response (RFC 6749, 5.2).
func refusedToken(host string, status int, body []byte) error {
	var e struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(body, &e) != nil || e.Error == "" {
		return fmt.Errorf("%w: token endpoint %s: HTTP %d", ErrToken, host, status)
	}
	kind := ErrToken
	if e.Error == "invalid_grant" {
		kind = errInvalidGrant
	}
	if e.Description != "" {
		return fmt.Errorf("%w: token endpoint %s: %v: %v", kind, host, words(e.Error), words(e.Description))
	}
	return fmt.Errorf("%w: token endpoint %s: %v", kind, host, words(e.Error))
}

// readToken reads a token, and refuses one that the host cannot use.
func readToken(body []byte) (token, error) {
	var in struct {
		Access  string          `json:"access_token"`
		Type    string          `json:"token_type"`
		Refresh string          `json:"refresh_token"`
		Scope   *string         `json:"scope"`
		Expires json.RawMessage `json:"expires_in"`
	}
	if json.Unmarshal(body, &in) != nil {
		return token{}, errors.New("its answer is not the JSON that it should be")
	}
	switch {
	case in.Access == "":
		return token{}, errors.New("its answer holds no access token")
	case in.Type != "" && !strings.EqualFold(in.Type, "bearer"):
		return token{}, fmt.Errorf("it gives a token of type %v, which is not spoken here", words(in.Type))
	case len(in.Access) > 64<<10 || strings.ContainsFunc(in.Access, func(r rune) bool { return r < 0x21 || r > 0x7e }):
		return token{}, errors.New("its token holds what no header may hold")
	}
	t := token{access: event.NewSecret(in.Access), refresh: event.NewSecret(in.Refresh)}
	if in.Scope != nil {
		t.scopes = scopes(*in.Scope)
	}
	if s, err := strconv.ParseFloat(strings.Trim(string(in.Expires), `"`), 64); err == nil && s > 0 {
		t.lifetime = time.Duration(min(s, 1e9)) * time.Second
	}
	return t, nil
}

// with returns k with a new token. asked are the requested scopes.
func (k kept) with(t token, asked []string, now time.Time) kept {
	k.Access, k.Obtained, k.Expires = t.access, now, time.Time{}
	if !t.refresh.IsZero() {
		k.Refresh = t.refresh
	}
	if t.lifetime > 0 {
		k.Expires = now.Add(t.lifetime)
	}
	k.Scopes, k.Wanted = asked, nil
	if t.scopes != nil {
		k.Scopes = t.scopes
	}
	return k
}

// renew gets a new token without the operator. The request does not end with ctx: a refresh token
// may be valid only once, and the response must not be lost. The caller holds tokenMu.
//
// Errors: [ErrIssuer], those of tokenRequest. After errInvalidGrant the operator must sign in.
func (a *Account) renew(ctx context.Context, k kept) error {
	if a.opts.Server.OAuth.ClientCredentials {
		return a.credentials(ctx)
	}
	if want := a.opts.Server.OAuth.Issuer; want != "" && !sameIssuer(k.Grant.Issuer, want) {
		err := fmt.Errorf("%w: %w: the tokens are of %v, and the configuration allows %s only", ErrToken, ErrIssuer, words(k.Grant.Issuer), want)
		a.demand(err.Error())
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	t, err := a.tokenRequest(ctx, k.Grant, k.Client, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {k.Refresh.Reveal()}})
	if errors.Is(err, errInvalidGrant) {
		k.Access, k.Refresh = event.Secret{}, event.Secret{}
		a.keep(ctx, k)
	}
	if err != nil {
		if errors.Is(err, ErrToken) {
			a.demand(err.Error())
		}
		return err
	}
	a.renewed = t.access
	a.keep(ctx, k.with(t, k.Scopes, a.opts.Now()))
	return nil
}

// credentials gets a token with client credentials. The caller holds tokenMu.
//
// Errors: [ErrNone], [ErrMetadata], [ErrUnreachable], [ErrIssuer], those of tokenRequest.
func (a *Account) credentials(ctx context.Context) error {
	p, err := a.discover(ctx)
	if err != nil {
		return err
	}
	own := a.opts.Server.OAuth
	client := registration{ID: own.ClientID, Secret: own.ClientSecret, Method: secretMethod(p.server.TokenEndpointAuthMethodsSupported)}
	asked := a.scopes(p, a.state())
	form := url.Values{"grant_type": {"client_credentials"}}
	if len(asked) > 0 {
		form.Set("scope", strings.Join(asked, " "))
	}
	g := grant{Issuer: p.server.Issuer, Resource: p.resource, TokenURL: p.server.TokenEndpoint, Revoke: p.server.RevocationEndpoint}
	t, err := a.tokenRequest(ctx, g, client, form)
	if err != nil {
		return err
	}
	t.refresh = event.Secret{} // RFC 6749, 4.4.3: there should be none
	a.keep(ctx, kept{Grant: g, Client: client}.with(t, asked, a.opts.Now()))
	return nil
}

// scopes returns the scopes to request: the configured ones, else those that the server names, and
// those that were granted or missing before.
func (a *Account) scopes(p place, k kept) []string {
	asked := a.opts.Server.OAuth.Scopes
	if len(asked) == 0 {
		asked = p.scopes
	}
	if sameIssuer(k.Grant.Issuer, p.server.Issuer) {
		asked = union(asked, k.Scopes)
	}
	return union(asked, k.Wanted)
}

// revoke revokes the tokens at the authorization server (RFC 7009).
func (a *Account) revoke(ctx context.Context, k kept) error {
	secret, hint := k.Refresh, "refresh_token"
	if secret.IsZero() {
		secret, hint = k.Access, "access_token"
	}
	if secret.IsZero() || k.Grant.Revoke == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := a.formRequest(ctx, k.Grant.Revoke, k.Client, url.Values{"token": {secret.Reveal()}, "token_type_hint": {hint}})
	if err != nil {
		return err
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("%s cannot be asked: %w", req.URL.Host, errors.Unwrap(err))
	}
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s: HTTP %d", req.URL.Host, resp.StatusCode)
	}
	return nil
}

// secretMethod chooses the method of client authentication; the default is basic (RFC 8414).
func secretMethod(supported []string) string {
	if len(supported) == 0 || slices.Contains(supported, "client_secret_basic") {
		return "client_secret_basic"
	}
	return "client_secret_post"
}
