package session

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"eventdeck/host/wire"
)

// httpLink speaks Streamable HTTP: every request is a POST of its own.
type httpLink struct {
	*web
	unsolicited func(wire.Note)
	lose        func(error) // ends the session

	id      atomic.Pointer[string] // Mcp-Session-Id; nil: none was given
	unnamed atomic.Bool            // the server takes requests of MCP Events only without Mcp-Name

	ctx     context.Context // of replies to the server
	end     context.CancelFunc
	replies sync.WaitGroup
	slots   chan struct{} // bounds the replies under way
}

// newHTTPLink does not connect.
func newHTTPLink(w *web, unsolicited func(wire.Note), lose func(error)) *httpLink {
	l := &httpLink{web: w, unsolicited: unsolicited, lose: lose, slots: make(chan struct{}, 8)}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

func (l *httpLink) hangsUp(e era) bool { return e.modern }

func (l *httpLink) exchange(x *exchange) (json.RawMessage, error) {
	x.unnamed = l.unnamed.Load() && ofEvents(x.method)
	result, err := l.once(x)
	if wire.NameFrom(err) == wire.HeaderMismatch && ofEvents(x.method) && !x.unnamed {
		// Servers of the draft know no Mcp-Name in MCP Events, and may refuse it.
		x.unnamed = true
		if again, without := l.once(x); wire.NameFrom(without) != wire.HeaderMismatch {
			l.unnamed.Store(true)
			result, err = again, without
		}
	}
	if err != nil {
		return l.orResume(x, result, err)
	}
	return result, nil
}

// once sends x's request and reads the response.
func (l *httpLink) once(x *exchange) (json.RawMessage, error) {
	resp, err := l.ask(x)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return l.answer(x, resp)
}

// orResume resumes a response that was cut, if it can be resumed.
func (l *httpLink) orResume(x *exchange, result json.RawMessage, err error) (json.RawMessage, error) {
	if errors.Is(err, ErrCut) && x.resumable() {
		result, err = l.resume(x, err)
	}
	if err != nil && x.ctx.Err() != nil && errors.Is(err, ErrCut) {
		return nil, context.Cause(x.ctx)
	}
	return result, err
}

// ask sends x's request and returns the head of the response.
func (l *httpLink) ask(x *exchange) (*http.Response, error) {
	req, err := l.message(x.ctx, x.era, x.method, x.frame)
	if err != nil {
		return nil, err
	}
	if x.frame == nil && x.lastID != "" {
		req.Header.Set(headerLastID, x.lastID)
	}
	if name := targetName(x.method, x.params); x.era.modern && name != "" && !x.unnamed {
		req.Header.Set("Mcp-Name", name)
	}
	for name, value := range x.mirrored {
		if x.era.modern {
			req.Header.Set("Mcp-Param-"+name, headerText(value))
		}
	}
	resp, err := l.do(req)
	if err != nil {
		return nil, err
	}
	x.touch()
	if x.taken != nil && resp.StatusCode == http.StatusOK {
		x.taken()
	}
	if x.method == methodInitialize && resp.StatusCode == http.StatusOK {
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			l.id.Store(&id)
		}
	}
	return resp, nil
}

// message returns a POST of the frame; without a frame, the GET of the general stream.
func (l *httpLink) message(ctx context.Context, e era, method string, frame []byte) (*http.Request, error) {
	verb := http.MethodPost
	if frame == nil {
		verb = http.MethodGet
	}
	req, err := l.request(ctx, verb, l.url, frame)
	if err != nil {
		return nil, err
	}
	if frame != nil {
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

// targetName returns the name or address that a request is about, for the methods that repeat
// it in a header (SEP-2243; of MCP Events those about one event type).
func targetName(method string, params json.RawMessage) string {
	var p struct{ Name, URI string }
	switch {
	case method == methodCallTool, method == "prompts/get", method == "resources/read", ofEvents(method):
		if json.Unmarshal(params, &p) != nil {
			return ""
		}
	}
	name := p.Name
	if method == "resources/read" {
		name = p.URI
	}
	return headerText(name)
}

// ofEvents reports whether a request of MCP Events is about one event type.
func ofEvents(method string) bool {
	switch method {
	case wire.MethodPoll, wire.MethodStream, wire.MethodSubscribe, wire.MethodUnsubscribe:
		return true
	}
	return false
}

// headerText encodes a text for a header (SEP-2243): in base64 if it has characters other
// than printable ASCII, begins or ends with blanks, or looks like such base64.
func headerText(s string) string {
	const before, behind = "=?base64?", "?="
	coded := strings.TrimSpace(s) != s || strings.HasPrefix(s, before) && strings.HasSuffix(s, behind)
	for _, c := range []byte(s) {
		coded = coded || c < 0x20 || c > 0x7e
	}
	if !coded {
		return s
	}
	return before + base64.StdEncoding.EncodeToString([]byte(s)) + behind
}

// tell sends a notification, or a reply if method is empty.
func (l *httpLink) tell(ctx context.Context, e era, method string, frame []byte) error {
	req, err := l.message(ctx, e, method, frame)
	if err != nil {
		return err
	}
	resp, err := l.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // so that the connection can be reused
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCut, err)
	}
	if resp.StatusCode/100 != 2 {
		return l.refusal(resp, body)
	}
	return nil
}

// replyTo answers a request of the server without blocking the reader.
func (l *httpLink) replyTo(x *exchange, m wire.Message) {
	frame, err := reply(m)
	if err != nil {
		l.opts.Log.Warn("cannot answer the server's request", "error", err)
		return
	}
	select {
	case l.slots <- struct{}{}:
	default:
		l.opts.Log.Warn("server sent too many requests at once; one is not answered")
		return
	}
	l.replies.Go(func() {
		defer func() { <-l.slots }()
		ctx, cancel := context.WithTimeout(l.ctx, l.opts.CallTimeout)
		defer cancel()
		if err := l.tell(ctx, x.era, "", frame); err != nil {
			l.opts.Log.Debug("server refused a reply", "error", err)
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
	ctx, cancel := context.WithTimeout(context.Background(), closingTimeout)
	defer cancel()
	req, err := l.message(ctx, era{}, "", nil)
	if err != nil {
		l.opts.Log.Debug("cannot end the server's session", "error", err)
		return
	}
	req.Method = http.MethodDelete
	req.Header.Set("Mcp-Session-Id", id)
	resp, err := l.do(req)
	if err != nil {
		l.opts.Log.Debug("could not tell the server that its session is over", "error", err)
		return
	}
	resp.Body.Close()
}

// isEventStream reports whether a content type is that of server-sent events.
func isEventStream(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		t, _, _ = strings.Cut(contentType, ";")
	}
	return strings.EqualFold(strings.TrimSpace(t), "text/event-stream")
}
