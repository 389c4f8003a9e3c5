package session

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"eventdeck/host/internal/pause"
)

// maxResumes bounds successive attempts to resume one stream that bring nothing new.
const maxResumes = 5

// resumable reports whether a cut response may be resumed with Last-Event-ID: in the
// handshake era, if the server numbered its events, for calls. A stream of events is not
// resumed: a server that accepts Last-Event-ID without having kept the events would lose
// them silently, which the cursor of the stream's owner shows.
func (x *exchange) resumable() bool {
	return x.call && !x.era.modern && x.lastID != "" && x.ctx.Err() == nil
}

// resume continues the response after the last event received. Servers also hang up on
// purpose, to be polled. If it fails it returns cut.
func (l *httpLink) resume(x *exchange, cut error) (json.RawMessage, error) {
	x.resumed = true
	backoff := l.opts.Reopen
	for fruitless := 0; fruitless < maxResumes; fruitless++ {
		if pause.For(x.ctx, backoff.Next(&reopenError{cut, x.retry})) != nil {
			return nil, context.Cause(x.ctx)
		}
		before := x.lastID
		result, err := l.resumeOnce(x)
		var refused *HTTPError
		switch {
		case errors.As(err, &refused):
			l.opts.Log.Debug("server does not resume the response", "method", x.method, "error", err)
			return nil, cut
		case err == nil || !errors.Is(err, ErrCut) && !errors.Is(err, ErrUnreachable):
			return result, err
		case x.lastID != before:
			fruitless = -1
			backoff.Reset()
		}
	}
	return nil, cut
}

func (l *httpLink) resumeOnce(x *exchange) (json.RawMessage, error) {
	req, err := l.message(x.ctx, x.era, "", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set(headerLastID, x.lastID)
	resp, err := l.do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	x.touch()
	if resp.StatusCode != http.StatusOK || !isEventStream(resp.Header.Get("Content-Type")) {
		return nil, l.refusal(resp, nil)
	}
	return l.eventStream(x, resp.Body)
}

const headerLastID = "Last-Event-ID"
