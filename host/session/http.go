package session

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/wire"
)

// httpLink speaks Streamable HTTP: every request is a POST of its own.
type httpLink struct {
	opts    Options
	url     string
	headers map[string]event.Secret
	client  *http.Client
	unasked func(wire.Note)
	lose    func(error) // ends the session

	id atomic.Pointer[string] // Mcp-Session-Id; nil: none was given

	life    context.Context // of replies to the server
	end     context.CancelFunc
	replies sync.WaitGroup
	slots   chan struct{} // bounds the replies under way
}

// newHTTPLink checks the address. It does not connect.
//
// Error: [ErrServer].
func newHTTPLink(server event.Server, opts Options, unasked func(wire.Note), lose func(error)) (*httpLink, error) {
	u, err := url.Parse(server.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fmt.Errorf("%w: its address must be http:// or https:// with a host", ErrServer)
	}
	l := &httpLink{
		opts: opts, url: u.String(), headers: server.Headers,
		unasked: unasked, lose: lose, slots: make(chan struct{}, 8),
	}
	l.life, l.end = context.WithCancel(context.Background())
	l.client = &http.Client{CheckRedirect: sameServer, Transport: newTransport(opts)}
	return l, nil
}

// newTransport returns a transport that sets bounds to connecting, and none to
// an answer. HTTP/2 pings notice a dead peer; over HTTP/1.1 TCP's keep-alive does.
func newTransport(opts Options) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        opts.TLS.Clone(),
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		HTTP2:                  &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		DisableCompression:     true, // a compressing server holds events back
	}
}

var errRedirect = errors.New("the server redirects, which is not followed: configure the address it names")

// sameServer follows a redirect only where it repeats the request to the same
// host: headers and webhook secrets must not reach another.
func sameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 5 || req.Method != first.Method || req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
		return errRedirect
	}
	return nil
}

func (l *httpLink) hangsUp(e era) bool { return e.modern }

func (l *httpLink) exchange(x *exchange) (json.RawMessage, error) {
	req, err := l.request(x.ctx, x.era, x.method, x.frame)
	if err != nil {
		return nil, err
	}
	if name := targetName(x.method, x.params); x.era.modern && name != "" {
		req.Header.Set("Mcp-Name", name)
	}
	resp, err := l.do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	x.touch()
	if x.taken != nil && resp.StatusCode == http.StatusOK {
		x.taken()
	}
	if x.method == methodInitialize && resp.StatusCode == http.StatusOK {
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			l.id.Store(&id)
		}
	}
	result, err := l.answer(x, req, resp)
	if err != nil && x.ctx.Err() != nil && errors.Is(err, ErrCut) {
		return nil, context.Cause(x.ctx)
	}
	return result, err
}

// request returns a POST of the frame; of no frame, the GET of the general stream.
func (l *httpLink) request(ctx context.Context, e era, method string, frame []byte) (*http.Request, error) {
	verb, body := http.MethodPost, io.Reader(bytes.NewReader(frame))
	if frame == nil {
		verb, body = http.MethodGet, nil
	}
	req, err := http.NewRequestWithContext(ctx, verb, l.url, body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	req.Header.Set("User-Agent", l.opts.ClientName+"/"+l.opts.ClientVersion)
	for name, value := range l.headers {
		req.Header.Set(name, value.Reveal())
		if strings.EqualFold(name, "Host") {
			req.Host = value.Reveal()
		}
	}
	if frame == nil {
		req.Header.Set("Accept", "text/event-stream")
	} else {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		l.opts.trace(Sent, frame)
	}
	if e.version != "" {
		req.Header.Set("MCP-Protocol-Version", e.version)
	}
	if e.modern && method != "" {
		req.Header.Set("Mcp-Method", method)
	}
	if id := l.id.Load(); id != nil && !e.modern && method != methodInitialize {
		req.Header.Set("Mcp-Session-Id", *id)
	}
	return req, nil
}

// do sends a request. Its errors name the host only: an address may hold secrets.
func (l *httpLink) do(req *http.Request) (*http.Response, error) {
	resp, err := l.client.Do(req)
	if err == nil {
		return resp, nil
	}
	if req.Context().Err() != nil {
		return nil, context.Cause(req.Context())
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	if errors.Is(err, errRedirect) {
		return nil, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	return nil, fmt.Errorf("%w: %s: %w", ErrUnreachable, req.URL.Host, err)
}

// targetName returns what a call is about, for the methods whose requests say
// so in a header.
func targetName(method string, params json.RawMessage) string {
	var p struct{ Name, URI string }
	switch method {
	case "tools/call", "prompts/get", "resources/read":
		if json.Unmarshal(params, &p) != nil {
			return ""
		}
	}
	name := p.Name
	if method == "resources/read" {
		name = p.URI
	}
	for _, c := range []byte(name) {
		if c < 0x20 || c > 0x7e {
			return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(name)) + "?="
		}
	}
	return name
}

// tell sends a notification, or a reply if method is empty.
func (l *httpLink) tell(ctx context.Context, e era, method string, frame []byte) error {
	req, err := l.request(ctx, e, method, frame)
	if err != nil {
		return err
	}
	resp, err := l.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // lets the connection be used again
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCut, err)
	}
	if resp.StatusCode/100 != 2 {
		return l.refusal(resp, body)
	}
	return nil
}

// replyTo answers a request of the server without making the reader wait.
func (l *httpLink) replyTo(x *exchange, m wire.Message) {
	frame, err := reply(m)
	if err != nil {
		l.opts.Log.Warn("cannot answer the server's request", "error", err)
		return
	}
	select {
	case l.slots <- struct{}{}:
	default:
		l.opts.Log.Warn("server makes more requests than are answered at once; one is left unanswered")
		return
	}
	l.replies.Go(func() {
		defer func() { <-l.slots }()
		ctx, cancel := context.WithTimeout(l.life, l.opts.CallTimeout)
		defer cancel()
		if err := l.tell(ctx, x.era, "", frame); err != nil {
			l.opts.Log.Debug("server did not take a reply", "error", err)
		}
	})
}

// close ends the server's session, if there is one.
func (l *httpLink) close() {
	l.end()
	l.replies.Wait()
	if id := l.id.Load(); id != nil {
		l.deleteSession(*id)
	}
	l.client.CloseIdleConnections()
}

func (l *httpLink) deleteSession(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	req, err := l.request(ctx, era{}, "", nil)
	if err != nil {
		l.opts.Log.Debug("cannot end the server's session", "error", err)
		return
	}
	req.Method = http.MethodDelete
	req.Header.Set("Mcp-Session-Id", id)
	resp, err := l.do(req)
	if err != nil {
		l.opts.Log.Debug("server was not told that its session is over", "error", err)
		return
	}
	resp.Body.Close()
}

// isEventStream reports whether a content type, with parameters or not, is
// that of server-sent events.
func isEventStream(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		t, _, _ = strings.Cut(contentType, ";")
	}
	return strings.EqualFold(strings.TrimSpace(t), "text/event-stream")
}
