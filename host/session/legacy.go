package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"eventdeck/host/internal/sse"
	"eventdeck/host/wire"
)

var errNoEndpoint = fmt.Errorf("%w: the event stream does not name the address for messages in time", ErrAnswer)

// legacyLink speaks HTTP+SSE, the transport of 2024-11-05: one stream carries everything
// from the server, and the host posts to an address.
type legacyLink struct {
	router
	web    *web
	lose   func(error) // ends the session
	target string      // where messages go
	body   io.Closer   // of the stream

	ctx     context.Context // of the stream and of replies
	end     context.CancelFunc
	workers sync.WaitGroup
}

// dialLegacy opens the stream and waits for its first event, the address for messages. ctx
// bounds only that.
//
// Errors: those of a request, [ErrAnswer] when the stream does not begin like one.
func dialLegacy(ctx context.Context, w *web, opts Options, unsolicited func(wire.Note), lose func(error)) (*legacyLink, error) {
	l := &legacyLink{web: w, lose: lose}
	l.router.init(opts, unsolicited)
	l.send = l.tell
	l.ctx, l.end = context.WithCancel(context.Background())
	stop := context.AfterFunc(ctx, l.end)
	defer stop()
	events, at, err := l.open()
	if err == nil {
		err = l.endpoint(events, at)
	}
	if err != nil {
		l.end()
		if l.body != nil {
			l.body.Close()
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	l.workers.Go(func() { l.read(events) })
	l.workers.Go(l.answerRequests)
	return l, nil
}

// open requests the stream, and returns it with its final address.
func (l *legacyLink) open() (*sse.Reader, *url.URL, error) {
	req, err := l.web.request(l.ctx, http.MethodGet, l.web.url, nil)
	if err != nil {
		return nil, nil, err
	}
	resp, err := l.web.do(req)
	if err != nil {
		return nil, nil, err
	}
	l.body = resp.Body
	if resp.StatusCode != http.StatusOK {
		raw, _ := readBounded(resp.Body, 4<<10) // the body is not essential
		return nil, nil, l.web.refusal(resp, raw)
	}
	if kind := resp.Header.Get("Content-Type"); !isEventStream(kind) {
		return nil, nil, fmt.Errorf("%w: no event stream but %v", ErrAnswer, head([]byte(kind)))
	}
	return sse.NewReader(activity{resp.Body, l.touch}, l.opts.maxAnswer()), resp.Request.URL, nil
}

// endpoint reads the first event. Its address must be on the same origin: requests to it
// carry the operator's headers.
func (l *legacyLink) endpoint(events *sse.Reader, base *url.URL) error {
	e, err := events.Next()
	if err != nil {
		return fmt.Errorf("%w: the stream ended before it named an address: %w", ErrAnswer, err)
	}
	if e.Name != "endpoint" {
		return fmt.Errorf("%w: the stream begins with %v, not with the address for messages", ErrAnswer, head([]byte(e.Name)))
	}
	text := strings.Trim(strings.TrimSpace(string(e.Data)), `"`)
	target, err := base.Parse(text)
	if err != nil {
		return fmt.Errorf("%w: the address for messages is invalid: %v", ErrAnswer, head(e.Data))
	}
	if target.Scheme != base.Scheme || target.Host != base.Host || target.User != nil {
		return fmt.Errorf("%w: the address for messages is on another origin, which is not trusted: %v", ErrAnswer, head(e.Data))
	}
	l.target = target.String()
	return nil
}

func (l *legacyLink) version() string { return l.web.version() }

// hangsUp: one stream carries all exchanges.
func (l *legacyLink) hangsUp(era) bool { return false }

// tell posts a frame. Servers acknowledge it with any body; a JSON-RPC response in it is
// accepted.
func (l *legacyLink) tell(ctx context.Context, e era, _ string, frame []byte) error {
	req, err := l.web.request(ctx, http.MethodPost, l.target, frame)
	if err != nil {
		return err
	}
	if e.version != "" {
		req.Header.Set("MCP-Protocol-Version", e.version)
	}
	l.opts.trace(Sent, frame)
	resp, err := l.web.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		body, _ := readBounded(resp.Body, 64<<10) // the body is not essential
		refused := l.web.refusal(resp, body)
		if resp.StatusCode == http.StatusNotFound && refused.Err == nil {
			l.lose(fmt.Errorf("%w: the server does not know it any more (HTTP %d)", ErrLost, resp.StatusCode))
		}
		return refused
	}
	body, err := readBounded(resp.Body, l.opts.maxAnswer())
	if err != nil {
		l.opts.Log.Debug("an acknowledgement was cut off", "error", err)
		return nil
	}
	if body = bytes.TrimSpace(body); bytes.HasPrefix(body, []byte("{")) || bytes.HasPrefix(body, []byte("[")) {
		if _, err := wire.DecodeMessages(body); err == nil {
			l.take(body)
		}
	}
	return nil
}

// read reads the stream, on a goroutine of its own.
func (l *legacyLink) read(events *sse.Reader) {
	defer l.end()
	defer l.body.Close()
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, sse.ErrTooLarge):
			l.failAll(e.Data)
		case errors.Is(err, io.EOF):
			l.lose(fmt.Errorf("%w: the server ended the stream", ErrLost))
			return
		case err != nil:
			l.lose(fmt.Errorf("%w: the stream broke: %w", ErrLost, err))
			return
		case e.Name != "" && e.Name != "message":
			continue // an event of another kind, such as ping
		case len(bytes.TrimSpace(e.Data)) > 0:
			l.take(e.Data)
		}
	}
}

// answerRequests posts the responses to the server's requests.
func (l *legacyLink) answerRequests() {
	for {
		select {
		case frame := <-l.replies:
			ctx, cancel := context.WithTimeout(l.ctx, l.opts.CallTimeout)
			if err := l.tell(ctx, era{}, "", frame); err != nil {
				l.opts.Log.Debug("server refused a reply", "error", err)
			}
			cancel()
		case <-l.ctx.Done():
			return
		}
	}
}

// close hangs up, which ends the server's session.
func (l *legacyLink) close() {
	l.end()
	l.body.Close()
	l.workers.Wait()
	l.web.client.CloseIdleConnections()
}

// legacyWorthTrying reports whether a server that refused initialize with err may speak
// HTTP+SSE (2024-11-05, backwards compatibility).
func legacyWorthTrying(err error) bool {
	var refused *HTTPError
	if !errors.As(err, &refused) {
		return false
	}
	switch refused.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	}
	return false
}
