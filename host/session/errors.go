package session

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Errors of [Dial], [Session.Call] and [Stream.Result], besides the answers of
// the server ([*HTTPError], *wire.Error) and the errors of the caller's context.
var (
	// ErrServer: the server's configuration is invalid. Dialing again does not help.
	ErrServer = errors.New("server is described wrongly")
	// ErrUnreachable: no response began: no such host, connection refused, TLS failure,
	// program not found.
	ErrUnreachable = errors.New("server cannot be reached")
	// ErrVersion: host and server share no protocol version.
	ErrVersion = errors.New("no common protocol version")
)

// Errors of one call or stream; the session goes on.
var (
	// ErrCut: the connection ended before the response did.
	ErrCut = errors.New("connection ended before the answer")
	// ErrNotResumed: the server refused to resume an earlier request; see
	// [Session.HoldResumed]. It wraps the refusal.
	ErrNotResumed = errors.New("the request is not resumed")
	// ErrAnswer: the response is not JSON-RPC, or empty.
	ErrAnswer = errors.New("answer is not usable")
	// ErrTooLarge: a frame is larger than [Options.MaxFrame], or a response larger than
	// sixteen of them. It is an [ErrAnswer] and a [wire.ErrTooLarge] too.
	ErrTooLarge = fmt.Errorf("%w: %w", ErrAnswer, wire.ErrTooLarge)
)

// Errors that end a session and everything open on it.
var (
	// ErrLost: the server's process died, or the server forgot the session.
	// Dial again.
	ErrLost = errors.New("session is lost")
	// ErrForgotten: the server no longer knows the session, and has not carried out the
	// request. It is an [ErrLost] too.
	ErrForgotten = fmt.Errorf("%w: the server does not know it any more", ErrLost)
	// ErrFraming: the process frames its messages with Content-Length headers.
	// It is an [ErrLost] too, but dialing again does not help.
	ErrFraming = fmt.Errorf("%w: Content-Length framing is not supported, the server must write one JSON message a line", ErrLost)
	// ErrClosed: this side closed the stream or the session.
	ErrClosed = errors.New("closed by the host")
)

// headLen bounds the quoted beginning of a malformed response, in bytes.
const headLen = 200

// head returns the first bytes of raw, without trailing line breaks.
func head(raw []byte) trust.Text {
	return trust.Untrusted(strings.TrimRight(string(raw[:min(len(raw), headLen)]), "\r\n"))
}

// HTTPError is an HTTP response with a status other than 2xx. Where its body is a JSON-RPC
// error, the chain also holds that *wire.Error, which says more than the status.
type HTTPError struct {
	Status     int
	Body       trust.Text    // the first 200 bytes
	RetryAfter time.Duration // 0: the server did not say
	Err        error         // the body's *wire.Error, or nil
	Challenges []string      // the values of WWW-Authenticate, the server's words
}

// Error implements error.
func (e *HTTPError) Error() string {
	status := strings.TrimSpace(fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status)))
	switch {
	case e.Err != nil:
		return fmt.Sprintf("%s: %v", status, e.Err)
	case e.Body.IsZero():
		return status
	}
	return fmt.Sprintf("%s: %v", status, e.Body)
}

// Unwrap returns the body's JSON-RPC error.
func (e *HTTPError) Unwrap() error { return e.Err }

// Denied reports whether err is a refusal for lack of rights: HTTP 401 or 403.
func Denied(err error) bool {
	var e *HTTPError
	return errors.As(err, &e) && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(value string, now time.Time) time.Duration {
	s, err := strconv.Atoi(strings.TrimSpace(value))
	if err == nil || errors.Is(err, strconv.ErrRange) { // out of range: s is the nearest value
		return time.Duration(min(max(s, 0), int(maxRetryAfter/time.Second))) * time.Second
	}
	if t, err := http.ParseTime(value); err == nil {
		return min(max(t.Sub(now), 0), maxRetryAfter)
	}
	return 0
}
