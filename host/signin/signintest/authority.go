// Package signintest has an authorization server for tests, and a guard that makes a handler a
// resource protected by it.
package signintest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Authority is an authorization server that agrees to every sign-in. Set its members before the
// first request.
type Authority struct {
	*httptest.Server

	Scopes    []string // of a token; nil: the requested ones
	Life      int      // lifetime of a token in seconds; 0: not given
	NoRefresh bool     // no refresh tokens are given
	NoDynamic bool     // clients cannot register themselves
	Documents bool     // client ID metadata documents are accepted
	Secret    string   // of the client "robot", which may use client credentials
	Deny      string   // the error that denies the operator's consent; "": consent
	Issuer    string   // issuer in the redirect; "": the right one

	// Override may answer a request in place of the authority. It returns true if it did.
	Override func(w http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex
	serial  int
	codes   map[string]request
	access  map[string][]string // token -> scopes
	refresh map[string]request
	seen    []url.Values // of the token endpoint
	clients []string     // that registered themselves
	revoked []string
}

// request is the request of a code or a refresh token.
type request struct {
	client, redirect, challenge, resource string
	scopes                                []string
}

// New returns an authority that serves until its Close.
func New() *Authority {
	a := &Authority{codes: map[string]request{}, access: map[string][]string{}, refresh: map[string]request{}}
	a.Server = httptest.NewServer(a)
	return a
}

// ServeHTTP implements [http.Handler].
func (a *Authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.Override != nil && a.Override(w, r) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		a.metadata(w)
	case "/register":
		a.register(w, r)
	case "/authorize":
		a.authorize(w, r)
	case "/token":
		a.token(w, r)
	case "/revoke":
		a.mu.Lock()
		a.revoked = append(a.revoked, r.FormValue("token"))
		delete(a.refresh, r.FormValue("token"))
		a.mu.Unlock()
	default:
		http.NotFound(w, r)
	}
}

// Answer writes JSON.
func Answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that is gone is the test's business
}

// Metadata returns the metadata of the authority.
func (a *Authority) Metadata() map[string]any {
	m := map[string]any{
		"issuer":                                         a.URL,
		"authorization_endpoint":                         a.URL + "/authorize",
		"token_endpoint":                                 a.URL + "/token",
		"revocation_endpoint":                            a.URL + "/revoke",
		"response_types_supported":                       []string{"code"},
		"code_challenge_methods_supported":               []string{"S256"},
		"scopes_supported":                               []string{"events", "admin", "offline_access"},
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          a.Documents,
	}
	if !a.NoDynamic {
		m["registration_endpoint"] = a.URL + "/register"
	}
	return m
}

func (a *Authority) metadata(w http.ResponseWriter) { Answer(w, http.StatusOK, a.Metadata()) }

func (a *Authority) register(w http.ResponseWriter, r *http.Request) {
	var in struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.RedirectURIs) != 1 {
		Answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_redirect_uri"})
		return
	}
	a.mu.Lock()
	id := a.next("client")
	a.clients = append(a.clients, id)
	a.mu.Unlock()
	Answer(w, http.StatusCreated, map[string]any{"client_id": id, "redirect_uris": in.RedirectURIs, "token_endpoint_auth_method": "none"})
}

// next returns a new name. The caller has the lock.
func (a *Authority) next(kind string) string {
	a.serial++
	return fmt.Sprintf("%s-%d", kind, a.serial)
}

// authorize acts as the operator who agrees: it redirects at once.
func (a *Authority) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" {
		http.Error(w, "a request that no host of MCP makes", http.StatusBadRequest)
		return
	}
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, "no way back", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}, "iss": {a.URL}}
	if a.Issuer != "" {
		answer.Set("iss", a.Issuer)
	}
	if a.Deny != "" {
		answer.Set("error", a.Deny)
	} else {
		a.mu.Lock()
		code := a.next("code")
		a.codes[code] = request{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("resource"), strings.Fields(q.Get("scope"))}
		a.mu.Unlock()
		answer.Set("code", code)
	}
	back.RawQuery = answer.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (a *Authority) token(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		Answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_request"})
		return
	}
	form := r.PostForm
	if id, secret, ok := r.BasicAuth(); ok {
		form.Set("client_id", id)
		form.Set("client_secret", secret)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, form)
	var to request
	switch form.Get("grant_type") {
	case "authorization_code":
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		to = a.codes[form.Get("code")]
		delete(a.codes, form.Get("code"))
		if to.client != form.Get("client_id") || to.redirect != form.Get("redirect_uri") || to.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			to = request{}
		}
	case "refresh_token":
		to = a.refresh[form.Get("refresh_token")]
		delete(a.refresh, form.Get("refresh_token")) // each is good for one use
	case "client_credentials":
		if a.Secret == "" || form.Get("client_id") != "robot" || form.Get("client_secret") != a.Secret {
			Answer(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})
			return
		}
		to = request{client: "robot", resource: form.Get("resource"), scopes: strings.Fields(form.Get("scope"))}
	}
	if to.client == "" || to.client != form.Get("client_id") || to.resource == "" || to.resource != form.Get("resource") {
		Answer(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "the code or the token is not known"})
		return
	}
	if a.Scopes != nil {
		to.scopes = a.Scopes
	}
	access := a.next("access")
	a.access[access] = to.scopes
	out := map[string]any{"access_token": access, "token_type": "Bearer", "scope": strings.Join(to.scopes, " ")}
	if a.Life != 0 {
		out["expires_in"] = a.Life
	}
	if !a.NoRefresh {
		refresh := a.next("refresh")
		a.refresh[refresh] = to
		out["refresh_token"] = refresh
	}
	Answer(w, http.StatusOK, out)
}

// Protect returns a handler that passes requests on if their token has the scope. It also serves
// the metadata of the resource at path.
func (a *Authority) Protect(path, scope string, next http.Handler) http.Handler {
	const known = "/.well-known/oauth-protected-resource"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := "http://" + r.Host
		if r.URL.Path == known+path {
			Answer(w, http.StatusOK, map[string]any{"resource": origin + path, "authorization_servers": []string{a.URL}, "scopes_supported": []string{"events"}})
			return
		}
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		a.mu.Lock()
		scopes, ok := a.access[token]
		a.mu.Unlock()
		switch {
		case !ok:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="test", resource_metadata=%q`, origin+known+path))
			w.WriteHeader(http.StatusUnauthorized)
		case scope != "" && !slices.Contains(scopes, scope):
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, resource_metadata=%q`, scope, origin+known+path))
			Answer(w, http.StatusForbidden, map[string]any{"error": "insufficient_scope"})
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// Expire invalidates every access token; refresh tokens stay valid.
func (a *Authority) Expire() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.access)
}

// Forget invalidates every token.
func (a *Authority) Forget() {
	a.Expire()
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.refresh)
}

// Requests returns the forms that the token endpoint received.
func (a *Authority) Requests() []url.Values {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.seen)
}

// Clients returns the ids of the clients that registered themselves.
func (a *Authority) Clients() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.clients)
}

// Revoked returns the tokens that were revoked.
func (a *Authority) Revoked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.revoked)
}

// Visit opens an address as a browser does, and follows redirects.
//
// Errors: those of the requests, and a last status other than 200.
func Visit(address string) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(address)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the browser ends at HTTP %d", resp.StatusCode)
	}
	return nil
}
