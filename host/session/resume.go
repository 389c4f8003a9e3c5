package session

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"eventdeck/host/internal/pause"
)

// maxResumes bounds the attempts to continue with one stream of which none brought
// anything new.
const maxResumes = 5

// maxRetry bounds how long a stream's retry: line can make the host wait.
const maxRetry = time.Minute

// resumable reports whether an answer that was cut may be fetched with
// Last-Event-ID: in the handshake era, where the server numbered its events, for
// calls. A stream of events is not: a server that takes Last-Event-ID without
// keeping what it named would lose events in silence, and the owner of the
// stream holds a cursor, which shows that.
func (x *exchange) resumable() bool {
	return x.call && !x.era.modern && x.lastID != "" && x.ctx.Err() == nil
}

// resume goes on with the answer behind the last event that came, which servers
// also use to hang up and be asked later. Without success it returns cut.
func (l *httpLink) resume(x *exchange, cut error) (json.RawMessage, error) {
	x.resumed = true
	backoff := l.opts.Reopen
	for fruitless := 0; fruitless < maxResumes; fruitless++ {
		if pause.For(x.ctx, max(backoff.Next(nil), min(x.retry, maxRetry))) != nil {
			return nil, context.Cause(x.ctx)
		}
		before := x.lastID
		result, err := l.resumeOnce(x)
		var refused *HTTPError
		switch {
		case errors.As(err, &refused):
			l.opts.Log.Debug("server does not resume the answer", "method", x.method, "error", err)
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
