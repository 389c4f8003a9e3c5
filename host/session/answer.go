package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"eventdeck/host/internal/sse"
	"eventdeck/host/wire"
)

// errUnfinished: no frame so far answers the request.
var errUnfinished = errors.New("not answered yet")

// activity reads from src and reports every read that brought bytes.
type activity struct {
	src   io.Reader
	touch func()
}

func (a activity) Read(p []byte) (int, error) {
	n, err := a.src.Read(p)
	if n > 0 {
		a.touch()
	}
	return n, err
}

// answer reads a response to its end, in every shape of field notes 3.
func (l *httpLink) answer(x *exchange, resp *http.Response) (json.RawMessage, error) {
	switch {
	case resp.StatusCode/100 != 2:
		return nil, l.refused(x, resp)
	case isEventStream(resp.Header.Get("Content-Type")):
		return l.eventStream(x, resp.Body)
	}
	return l.single(x, resp)
}

// refused returns the error of a response whose status is not 2xx.
func (l *httpLink) refused(x *exchange, resp *http.Response) error {
	raw, err := readBounded(activity{resp.Body, x.touch}, 64<<10)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		l.opts.Log.Debug("the body of a refusal was cut off", "status", resp.StatusCode, "error", err)
	}
	refused := l.refusal(resp, raw)
	if lostSession(resp.Request, refused) && !l.knowsPing(x, refused) {
		l.lose(fmt.Errorf("%w (HTTP %d)", ErrForgotten, resp.StatusCode))
		return fmt.Errorf("%w: %w", ErrForgotten, refused)
	}
	return refused
}

// knowsPing reports whether the session is alive after a bare 404, which some servers send
// for an unknown method: a ping tells the two apart.
func (l *httpLink) knowsPing(x *exchange, refused *HTTPError) bool {
	if refused.Err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(x.ctx, closingTimeout)
	defer cancel()
	req, err := l.message(ctx, x.era, methodPing, wire.EncodeRequest(`"ping-`+x.id+`"`, methodPing, json.RawMessage(`{}`)))
	if err != nil {
		return false
	}
	resp, err := l.do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 == 2 {
		return true
	}
	raw, _ := readBounded(resp.Body, 4<<10) // a cut-off body is no JSON-RPC
	return wire.NameFrom(l.refusal(resp, raw)) == wire.MethodNotFound
}

// single reads a response that is one frame.
func (l *httpLink) single(x *exchange, resp *http.Response) (json.RawMessage, error) {
	raw, err := readBounded(activity{resp.Body, x.touch}, l.opts.maxAnswer())
	switch {
	case err != nil:
		return nil, err
	case bytes.HasPrefix(bytes.TrimSpace(raw), []byte("<")):
		return nil, fmt.Errorf("%w: a web page, so this is hardly the address of an MCP server: %v", ErrAnswer, head(raw))
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, fmt.Errorf("%w: HTTP %d without a body", ErrAnswer, resp.StatusCode)
	}
	result, err := l.take(x, raw)
	if errors.Is(err, errUnfinished) && x.early != nil {
		return x.early, nil
	}
	if errors.Is(err, errUnfinished) {
		return nil, fmt.Errorf("%w: it holds no response to this request: %v", ErrAnswer, head(raw))
	}
	return result, err
}

// eventStream reads frames until one answers the request. As in [Session.carryOut], the
// functions that it calls use little stack.
func (l *httpLink) eventStream(x *exchange, body io.Reader) (json.RawMessage, error) {
	limit := l.opts.MaxFrame
	if x.call {
		limit = l.opts.maxAnswer()
	}
	events := sse.NewReader(body, limit)
	events.Comment, events.Touch = x.beat, x.touch
	for {
		events.Await()
		if result, err := l.takeNext(x, events); err != errUnfinished {
			return result, err
		}
	}
}

// takeNext handles the next frame of an event stream.
//
// Errors: errUnfinished when it does not answer x; otherwise as eventStream.
func (l *httpLink) takeNext(x *exchange, events *sse.Reader) (json.RawMessage, error) {
	e, err := events.Next()
	if events.Retry > 0 {
		x.retry = events.Retry
	}
	if events.ID != "" {
		x.lastID = events.ID
	}
	switch {
	case errors.Is(err, io.EOF) && x.early != nil:
		return x.early, nil
	case errors.Is(err, io.EOF):
		return nil, ErrCut
	case errors.Is(err, sse.ErrTooLarge):
		err = fmt.Errorf("%w: %w; it begins %v", ErrTooLarge, err, head(e.Data))
		l.opts.Log.Warn("server sent an event that is too large", "method", x.method, "error", err)
		if x.call {
			return nil, err
		}
		x.skip(e.Data, err)
		return nil, errUnfinished
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrCut, err)
	}
	if len(bytes.TrimSpace(e.Data)) == 0 {
		return nil, errUnfinished
	}
	result, err := l.take(x, e.Data)
	if e.Name != "" && e.Name != "message" && errors.Is(err, wire.ErrMalformed) {
		x.beat()
		return nil, errUnfinished // an event of another kind, such as ping
	}
	if !x.call && errors.Is(err, wire.ErrMalformed) {
		x.skip(e.Data, err)
		return nil, errUnfinished
	}
	return result, err
}

// take handles the messages of one frame in order.
//
// Errors: errUnfinished when none of them answers x; that of the answer; [ErrAnswer].
func (l *httpLink) take(x *exchange, frame []byte) (json.RawMessage, error) {
	messages, err := wire.DecodeMessages(frame)
	l.opts.traceReceived(frame, messages)
	for _, m := range messages {
		switch {
		case m.IsNotification():
			l.note(x, wire.Note{Method: m.Method, Params: m.Params})
		case m.Method != "":
			if m.Method == methodPing {
				x.beat()
			}
			l.replyTo(x, m)
		case m.HasID && !x.answeredBy(m.ID) || x.frame == nil:
			l.opts.Log.Debug("server answered an unknown request", "method", x.method)
		case m.Error != nil:
			return nil, x.refusal(m)
		case x.ownAnswer(m):
		default:
			return m.Result, nil
		}
	}
	if err != nil {
		l.opts.Log.Warn("server sent a frame that is not JSON-RPC", "method", x.method, "frame", head(frame), "error", err)
		return nil, fmt.Errorf("%w: %w: %v", ErrAnswer, err, head(frame))
	}
	return nil, errUnfinished
}

// note passes on a notification. It belongs to the exchange whose response carries it; on a
// resumed stream its route decides, since a server that ignores Last-Event-ID opens its
// general stream instead.
func (l *httpLink) note(x *exchange, n wire.Note) {
	if x.ctx.Err() != nil {
		return
	}
	if belongsToAll(n) || x.resumed && n.Route() != x.id && n.Route() != "" {
		l.unsolicited(n)
		return
	}
	x.deliver(n)
}

// readBounded reads all of r. Errors: [ErrTooLarge], [ErrCut].
func readBounded(r io.Reader, limit int) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return raw, fmt.Errorf("%w: %w", ErrCut, err)
	}
	if len(raw) > limit {
		return raw[:limit], fmt.Errorf("%w: more than %d bytes; it begins %v", ErrTooLarge, limit, head(raw))
	}
	return raw, nil
}

// lostSession reports whether a refusal means that the server forgot the session: 404 (as
// the protocol says), or 400 with the generic code of servers built on the TypeScript SDK's
// example. An error with a name concerns the request, not the session.
func lostSession(req *http.Request, refused *HTTPError) bool {
	if req.Header.Get("Mcp-Session-Id") == "" || req.Method != http.MethodPost {
		return false
	}
	var e *wire.Error
	if !errors.As(refused, &e) {
		return refused.Status == http.StatusNotFound
	}
	return refused.Status == http.StatusNotFound && e.Name() == wire.UnknownError ||
		refused.Status == http.StatusBadRequest && e.Code == -32000
}
