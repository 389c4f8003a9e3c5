package signin

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"eventdeck/host/event"
)

const callbackPath = "/callback"

// Flow is a sign-in that waits for the operator. The caller must call Wait or Close.
type Flow struct {
	URL    string // to open in the operator's browser; "": no browser is needed
	Issuer string // the authorization server that the operator will meet

	account  *Account
	place    place
	client   registration
	asked    []string
	state    string
	verifier event.Secret
	result   chan answer // one slot
	server   *http.Server
	served   chan struct{}
}

// answer is the result that the browser brings back.
type answer struct {
	code string
	err  error
}

// Begin finds out where to sign in, registers the host there, and listens on loopback for the
// redirect of the browser.
//
// Errors: [ErrNone], [ErrMetadata], [ErrUnreachable], [ErrIssuer], [ErrClient], those of listening.
func (a *Account) Begin(ctx context.Context) (*Flow, error) {
	p, err := a.discover(ctx)
	if err != nil {
		return nil, err
	}
	f := &Flow{Issuer: p.server.Issuer, account: a, place: p, asked: a.scopes(p, a.state())}
	if a.opts.Server.OAuth.ClientCredentials {
		return f, nil
	}
	if slices.Contains(p.server.ScopesSupported, "offline_access") {
		f.asked = union(f.asked, []string{"offline_access"})
	}
	ln, err := a.listen()
	if err != nil {
		return nil, fmt.Errorf("the sign-in cannot come back: %w", err)
	}
	redirect := "http://" + ln.Addr().String() + callbackPath
	if f.client, err = a.register(ctx, p, redirect); err != nil {
		ln.Close()
		return nil, err
	}
	f.state, f.verifier = rand.Text(), event.NewSecret(oauth2.GenerateVerifier())
	f.client.Redirect = redirect
	config := oauth2.Config{
		ClientID: f.client.ID, RedirectURL: redirect, Scopes: f.asked,
		Endpoint: oauth2.Endpoint{AuthURL: p.server.AuthorizationEndpoint},
	}
	f.URL = config.AuthCodeURL(f.state, oauth2.S256ChallengeOption(f.verifier.Reveal()), oauth2.SetAuthURLParam("resource", p.resource))
	f.serve(ln)
	return f, nil
}

// listen uses the configured port, else the port of the last sign-in, which the authorization
// server may insist on, else a free one.
func (a *Account) listen() (net.Listener, error) {
	port := a.opts.Server.OAuth.CallbackPort
	if port != 0 {
		return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	if u, err := url.Parse(a.state().Client.Redirect); err == nil && u.Port() != "" {
		if ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", u.Port())); err == nil {
			return ln, nil
		}
	}
	return net.Listen("tcp", "127.0.0.1:0")
}

// register returns the client registration at the authorization server: the configured one, a
// client metadata document, that of the last sign-in, or a new one.
func (a *Account) register(ctx context.Context, p place, redirect string) (registration, error) {
	own, k := a.opts.Server.OAuth, a.state()
	switch {
	case own.ClientID != "":
		return registration{ID: own.ClientID, Secret: own.ClientSecret, Method: secretMethod(p.server.TokenEndpointAuthMethodsSupported)}, nil
	case own.MetadataURL != "" && p.server.ClientIDMetadataDocumentSupported:
		return registration{ID: own.MetadataURL, Method: "none"}, nil
	case k.Client.Dynamic && sameIssuer(k.Grant.Issuer, p.server.Issuer) && k.Client.Redirect == redirect:
		return k.Client, nil
	case p.server.RegistrationEndpoint == "":
		return registration{}, fmt.Errorf("%w: %v takes no registrations by itself; register eventdeck there and put the id into the configuration as oauth.clientId", ErrClient, words(p.server.Issuer))
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	r, err := oauthex.RegisterClient(ctx, p.server.RegistrationEndpoint, &oauthex.ClientRegistrationMetadata{
		RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none", ApplicationType: "native",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		ClientName: "eventdeck", Scope: strings.Join(a.scopes(p, k), " "),
	}, a.client)
	if err != nil {
		return registration{}, fmt.Errorf("%w: %v: %v", ErrClient, words(p.server.Issuer), words(err.Error()))
	}
	return registration{ID: r.ClientID, Secret: event.NewSecret(r.ClientSecret), Method: r.TokenEndpointAuthMethod, Dynamic: true}, nil
}

// serve serves the redirect of the browser until Close.
func (f *Flow) serve(ln net.Listener) {
	f.result, f.served = make(chan answer, 1), make(chan struct{})
	f.server = &http.Server{
		Handler: f, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(f.account.opts.Log.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(f.served)
		_ = f.server.Serve(ln) // ends with ErrServerClosed
	}()
}

// ServeHTTP implements [http.Handler] for the redirect. A request with a wrong state is not the
// operator's, and is ignored.
func (f *Flow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": "default-src 'none'",
		"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
	} {
		w.Header().Set(name, value)
	}
	q := r.URL.Query()
	if r.URL.Path != callbackPath || r.Method != http.MethodGet ||
		subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(f.state)) != 1 {
		w.WriteHeader(http.StatusNotFound)
		page(w, "This is not the sign-in that eventdeck waits for.")
		return
	}
	a := f.read(q)
	select {
	case f.result <- a:
	default: // it came twice
	}
	if a.err != nil {
		page(w, "The sign-in did not work out. The terminal says why. This window can be closed.")
		return
	}
	page(w, "eventdeck has the answer. The terminal says whether you are signed in. This window can be closed.")
}

func page(w io.Writer, text string) {
	fmt.Fprintf(w, "<!doctype html><title>eventdeck</title><p>%s</p>\n", text)
}

// read reads the redirect. One from another authorization server is refused (RFC 9207).
func (f *Flow) read(q url.Values) answer {
	iss := q.Get("iss")
	switch {
	case iss != "" && iss != f.place.server.Issuer:
		return answer{err: fmt.Errorf("%w: the answer comes from %v, not from %v", ErrMetadata, words(iss), words(f.place.server.Issuer))}
	case iss == "" && f.place.server.AuthorizationResponseIssParameterSupported:
		return answer{err: fmt.Errorf("%w: the answer does not say that it comes from %v", ErrMetadata, words(f.place.server.Issuer))}
	case q.Get("error") != "":
		return answer{err: fmt.Errorf("%w: %v", ErrDenied, words(strings.TrimSpace(q.Get("error")+" "+q.Get("error_description"))))}
	case q.Get("code") == "":
		return answer{err: fmt.Errorf("%w: the answer holds no code", ErrDenied)}
	}
	return answer{code: q.Get("code")}
}

// Wait waits for the browser and stores the tokens. It closes the flow.
//
// Errors: [ErrDenied], [ErrMetadata], [ErrToken], the cause of ctx.
func (f *Flow) Wait(ctx context.Context) error {
	defer f.Close()
	a := f.account
	if f.server == nil {
		if err := a.lockToken(ctx); err != nil {
			return err
		}
		defer a.unlockToken()
		return a.credentials(ctx)
	}
	var came answer
	select {
	case came = <-f.result:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if came.err != nil {
		return came.err
	}
	if err := a.lockToken(ctx); err != nil {
		return err
	}
	defer a.unlockToken()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	g := grant{Issuer: f.place.server.Issuer, Resource: f.place.resource, TokenURL: f.place.server.TokenEndpoint, Revoke: f.place.server.RevocationEndpoint}
	t, err := a.tokenRequest(ctx, g, f.client, url.Values{
		"grant_type": {"authorization_code"}, "code": {came.code},
		"redirect_uri": {f.client.Redirect}, "code_verifier": {f.verifier.Reveal()},
	})
	if err != nil {
		return err
	}
	a.keep(ctx, kept{Grant: g, Client: f.client}.with(t, f.asked, a.opts.Now()))
	return nil
}

// Close ends the sign-in. It may be called more than once.
func (f *Flow) Close() {
	if f.server == nil {
		return
	}
	// The page with the result may still be on its way.
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := f.server.Shutdown(ctx); errors.Is(err, context.DeadlineExceeded) {
		f.server.Close()
	}
	<-f.served
}
