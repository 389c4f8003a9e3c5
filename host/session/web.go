package session

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"eventdeck/host/event"
	"eventdeck/host/internal/proxy"
	"eventdeck/host/wire"
)

// Authorizer authorizes the requests of sessions. Its methods may be called from any
// goroutine.
type Authorizer interface {
	// Token returns the bearer token for the next request, the zero Secret for none.
	Token(ctx context.Context) (event.Secret, error)
	// Refused handles a response 401 or 403 to a request with the token; challenges are the
	// values of its WWW-Authenticate. It reports whether the request is worth repeating with
	// another token.
	Refused(ctx context.Context, token event.Secret, status int, challenges []string) (again bool, err error)
}

// web makes the HTTP requests to one server, with its headers and its authorization.
type web struct {
	opts    Options
	url     string
	headers map[string]event.Secret
	auth    Authorizer // nil: the headers have it
	client  *http.Client
	proto   atomic.Pointer[string] // of the last response
}

// newWeb checks the address. It does not connect.
//
// Error: [ErrServer].
func newWeb(server event.Server, opts Options) (*web, error) {
	u, err := url.Parse(server.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && !isSocket(u.Scheme) {
		return nil, fmt.Errorf("%w: its address must be http, https, ws or wss, with a host", ErrServer)
	}
	transport, err := newTransport(server, opts)
	if err != nil {
		return nil, err
	}
	w := &web{opts: opts, url: u.String(), headers: server.Headers, auth: opts.Auth}
	for name := range server.Headers {
		if strings.EqualFold(name, "Authorization") {
			w.auth = nil
		}
	}
	w.client = &http.Client{CheckRedirect: sameServer, Transport: transport}
	return w, nil
}

var errRedirect = errors.New("the server redirects, which is not followed")

// sameServer follows a redirect only if it repeats the request to the same host: headers
// and webhook secrets must not reach another.
func sameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || req.Method != first.Method || req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
		return fmt.Errorf("%w: configure the address that it names if you trust it: %v", errRedirect, head([]byte(plainAddress(req.URL))))
	}
	return nil
}

// plainAddress returns an address without its possible secrets.
func plainAddress(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// request returns a request to target with the common headers.
func (w *web) request(ctx context.Context, verb, target string, body []byte) (*http.Request, error) {
	var src io.Reader
	if body != nil {
		src = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, verb, target, src)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	w.setHeaders(req)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	} else {
		req.Header.Set("Accept", "text/event-stream")
	}
	return req, nil
}

// setHeaders sets the headers of the operator's configuration.
func (w *web) setHeaders(req *http.Request) {
	req.Header.Set("User-Agent", w.opts.ClientName+"/"+w.opts.ClientVersion)
	for name, value := range w.headers {
		req.Header.Set(name, value.Reveal())
		if strings.EqualFold(name, "Host") {
			req.Host = value.Reveal()
		}
	}
}

// maxAttempts is how often one request is sent: with the stored token, with a renewed one,
// and with one that another request obtained meanwhile.
const maxAttempts = 3

// do sends a request, and repeats it while a refusal yields a better token. The account is
// told of every refusal, the last one too: it decides that the operator is needed. Errors
// name only the host: an address may hold secrets.
func (w *web) do(req *http.Request) (*http.Response, error) {
	for asked := 1; ; asked++ {
		token, err := w.authorize(req)
		if err != nil {
			return nil, err
		}
		resp, err := w.send(req)
		if err != nil || !refusesRights(resp.StatusCode) || w.auth == nil {
			return resp, err
		}
		again, err := w.refused(req.Context(), token, resp)
		if err != nil {
			resp.Body.Close()
			return nil, err
		}
		if !again || asked == maxAttempts {
			return resp, nil
		}
		resp.Body.Close()
		req = req.Clone(req.Context())
		if req.GetBody != nil {
			if req.Body, err = req.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

func refusesRights(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// refused reports whether the request is worth repeating. If the operator is needed, the
// caller makes an [HTTPError] 401 or 403 of the response.
func (w *web) refused(ctx context.Context, token event.Secret, resp *http.Response) (again bool, err error) {
	return w.auth.Refused(ctx, token, resp.StatusCode, resp.Header.Values("WWW-Authenticate"))
}

// authorize adds the token to a request and returns it.
func (w *web) authorize(req *http.Request) (event.Secret, error) {
	if w.auth == nil {
		return event.Secret{}, nil
	}
	token, err := w.auth.Token(req.Context())
	if err != nil {
		return event.Secret{}, err
	}
	if !token.IsZero() {
		req.Header.Set("Authorization", "Bearer "+token.Reveal())
	}
	return token, nil
}

func (w *web) send(req *http.Request) (*http.Response, error) {
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, w.failure(req.Context(), req.URL.Host, err)
	}
	w.proto.Store(&resp.Proto)
	return resp, nil
}

func (w *web) failure(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return inWords(context.Cause(ctx))
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	if errors.Is(err, errRedirect) || errors.Is(err, proxy.ErrEncoding) {
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if strings.Contains(err.Error(), host) { // as errors of dialing do
		return fmt.Errorf("%w: %w%s", ErrUnreachable, err, aboutCertificate(err))
	}
	return fmt.Errorf("%w: %s: %w%s", ErrUnreachable, host, err, aboutCertificate(err))
}

// aboutCertificate says what the operator can do about a refused certificate; "" for other
// errors.
func aboutCertificate(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &authority):
		return "; if its authority is to be trusted, name the file with that as caFile of the server"
	case errors.As(err, &name):
		return "; use a name that the certificate has, or have the server show another"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "; have it renewed, or set the clock of this machine right"
	}
	return ""
}

// version returns the HTTP version of the last response.
func (w *web) version() string {
	if p := w.proto.Load(); p != nil {
		return *p
	}
	return ""
}

// refusal returns the error for a response whose status is not 2xx.
func (w *web) refusal(resp *http.Response, body []byte) *HTTPError {
	if len(body) > 0 {
		w.opts.trace(Received, body)
	}
	e := &HTTPError{
		Status:     resp.StatusCode,
		Body:       head([]byte(w.opts.Redact.Frame(body, true).Raw())),
		RetryAfter: retryAfter(resp.Header.Get("Retry-After"), w.opts.Now()),
		Challenges: resp.Header.Values("WWW-Authenticate"),
	}
	// An error without a code is not JSON-RPC, but e.g. that of OAuth: {"error":"insufficient_scope"}.
	if messages, err := wire.DecodeMessages(body); err == nil && len(messages) > 0 && messages[0].Error != nil && messages[0].Error.Code != 0 {
		e.Err = messages[0].Error
	}
	return e
}
