package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/trust/strict"
)

// Reasons of refusals, as they stand in [event.Refusal]. A colon and details may
// follow. The reasons of a wrong signature or clock are the texts of
// [ErrSignature], [ErrSecretAsText] and [*ClockError].
const (
	ReasonUnknownPath = "unknown path"
	ReasonNoSuchID    = "no such id" // the path is known, its subscription is gone
	ReasonTooLarge    = "too large"
	ReasonMalformed   = "malformed"
	ReasonHost        = "addressed to another host"
	ReasonMethod      = "not a POST"
	ReasonMediaType   = "not plain application/json"
	ReasonStalled     = "body did not arrive in time"
	ReasonBusy        = "too many deliveries at once"
	ReasonTooMany     = "too many bad requests from there"
	ReasonKeyAwaited  = "the server's signing keys are not known yet"
	ReasonClosing     = "shutting down"
	ReasonNotStored   = "not stored"
	ReasonAwaited     = "the secret is not known yet"
	ReasonNotInFlight = "verification without a subscribe in flight"
	ReasonPanic       = "internal error"
	ReasonChanged     = "an id that is known, with other data: the first are kept" // answered as success
)

// Seconds after which a sender should retry.
const (
	retrySoon  = 1
	retryLater = 60
)

// refusal is an answer other than success.
type refusal struct {
	status int
	reason string
	retry  int // seconds for Retry-After; 0 for none
}

// Error implements error.
func (r *refusal) Error() string { return r.reason }

// blamesSender reports whether the sender is at fault.
func (r *refusal) blamesSender() bool {
	return r.status < 500 && r.status != http.StatusGone && r.status != http.StatusTooManyRequests
}

// handler answers requests. It is safe for use by many goroutines.
type handler struct {
	o    Options
	gate *gate
	bad  *limiter
	// base ends when the server gives up deliveries that were begun.
	base context.Context
}

// visit is what is known of a request so far, for the report of a refusal.
type visit struct {
	sub    event.SubID
	path   string // if it is known
	bytes  int64
	peer   *peer
	proven bool // the delivery is genuine
}

func (v *visit) origin() origin { return origin{v.peer.source, v.path} }

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == WellKnown && h.hostAllowed(r.Host) {
		h.serveWellKnown(w, r)
		return
	}
	v := visit{peer: sender(r, h.o.Proxies)}
	challenge, err := h.takeRecovering(w, r, &v)
	if v.proven {
		v.peer.proven.Store(true)
	}
	if err != nil {
		h.refuse(w, r, v, err)
		return
	}
	status := http.StatusNoContent
	setSafeHeaders(w.Header())
	if challenge.IsZero() {
		w.WriteHeader(status)
	} else {
		status = http.StatusOK
		h.answerChallenge(w, challenge)
	}
	h.o.Log.Debug("delivery taken", "sub", string(v.sub), "status", status, "bytes", v.bytes)
}

// takeRecovering is take with a panic turned into a refusal. The panic's value may hold text
// from the delivery, so only its type is logged.
func (h *handler) takeRecovering(w http.ResponseWriter, r *http.Request, v *visit) (challenge trust.Text, err error) {
	defer func() {
		if p := recover(); p != nil {
			h.o.Log.Error("panic while taking a delivery", "type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			err = &refusal{http.StatusServiceUnavailable, ReasonPanic, retryLater}
		}
	}()
	return h.take(w, r, v)
}

// take runs the checks in order, cheap ones first, and hands the delivery to
// the Sink. A challenge that must be answered is returned; otherwise nil means
// that the delivery is committed. Every error is a *refusal.
func (h *handler) take(w http.ResponseWriter, r *http.Request, v *visit) (challenge trust.Text, err error) {
	entry, state, headers, err := h.admit(r, v)
	if err != nil {
		return challenge, err
	}
	if err := h.gate.enter(); err != nil {
		return challenge, err
	}
	defer h.gate.leave()

	body, err := h.readBody(w, r, v)
	if errors.Is(err, errTooLarge) && state == PathKnown {
		return challenge, h.refuseTooLarge(v, headers.ID)
	}
	if err != nil {
		return challenge, err
	}
	now := h.o.Now()
	previous, err := headers.verify(body, entry, now)
	if err != nil {
		if errors.Is(err, errUnknownKey) {
			h.o.UnknownKey(entry.Sub)
		}
		return challenge, unverified(err)
	}
	v.proven = entry.Scheme != event.SchemeNone
	if state == PathRemoved {
		return challenge, errRemoved
	}
	c := classify(body, entry.Foreign)
	if c.kind == typeVerification {
		if !entry.InFlight {
			return challenge, &refusal{http.StatusForbidden, ReasonNotInFlight, 0}
		}
		h.o.Challenged(entry.Sub, headers.ServerID)
		return c.challenge, nil
	}
	return challenge, h.deliver(w, v, Delivery{
		Sub:          entry.Sub,
		WebhookID:    headers.ID,
		ServerID:     headers.ServerID,
		At:           now.UTC(),
		SentAt:       headers.SentAt,
		Body:         body,
		Type:         c.kind,
		Control:      c.control,
		Refused:      c.refused,
		UsedPrevious: previous,
		Old:          entry.Old,
		New:          entry.New,
	})
}

// errRemoved refuses a delivery to the path of a subscription that was removed.
var errRemoved error = &refusal{http.StatusGone, ReasonNoSuchID + ": the subscription was removed", 0}

// admit runs the checks that need no body. The state is PathKnown, or PathRemoved with a secret
// by which the delivery can be verified. Every error is a *refusal.
func (h *handler) admit(r *http.Request, v *visit) (entry Entry, state PathState, headers credentials, err error) {
	allowed := h.hostAllowed(r.Host)
	if allowed {
		entry, state = h.o.Book.Lookup(r.URL.Path)
	}
	if state != PathUnknown {
		v.path = r.URL.Path
	}
	if !v.peer.proven.Load() {
		if wait := h.bad.wait(v.origin(), h.o.Now()); wait > 0 {
			return entry, state, headers, &refusal{http.StatusTooManyRequests, ReasonTooMany, 1 + int(wait/time.Second)}
		}
	}
	v.sub = entry.Sub
	switch {
	case !allowed:
		err = &refusal{http.StatusMisdirectedRequest, ReasonHost, 0}
	case state == PathUnknown:
		err = &refusal{http.StatusNotFound, ReasonUnknownPath, 0}
	case r.Method != http.MethodPost:
		err = &refusal{http.StatusMethodNotAllowed, ReasonMethod, 0}
	case !plainJSON(r.Header):
		err = &refusal{http.StatusUnsupportedMediaType, ReasonMediaType, 0}
	case state == PathKnown && entry.Awaited:
		err = &refusal{http.StatusServiceUnavailable, ReasonAwaited, retrySoon}
	}
	if err != nil {
		return entry, state, headers, err
	}
	headers, malformed := readCredentials(r.Header, entry.Scheme)
	switch {
	case malformed != nil:
		err = &refusal{http.StatusBadRequest, ReasonMalformed + ": " + malformed.Error(), 0}
	case state == PathEnded:
		err = &refusal{http.StatusServiceUnavailable, ReasonNoSuchID + ": the subscription ended", retryLater}
	case state == PathRemoved && entry.Current.IsZero():
		err = errRemoved
	}
	return entry, state, headers, err
}

// hostAllowed reports whether requests may be addressed to a host. Others are refused so that
// no web page reaches a receiver on loopback through a name of its own (DNS rebinding).
func (h *handler) hostAllowed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	return event.IsLoopback(host) || slices.ContainsFunc(h.o.Hosts, func(allowed string) bool { return strings.EqualFold(host, allowed) })
}

// plainJSON reports whether a body is JSON in UTF-8 without an encoding, by its headers.
func plainJSON(header http.Header) bool {
	types := header.Values("Content-Type")
	if len(types) != 1 || len(header.Values("Content-Encoding")) > 0 {
		return false
	}
	media, params, err := mime.ParseMediaType(types[0])
	if err != nil || media != "application/json" {
		return false
	}
	charset, given := params["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

// errTooLarge is the answer to a body that is too large.
var errTooLarge error = &refusal{http.StatusRequestEntityTooLarge, ReasonTooLarge, 0}

// refuseTooLarge stores the gap of a delivery that is too large, as its sender will drop it, and
// returns the refusal. The delivery is not verified: its sender knows the path, and that is
// enough.
func (h *handler) refuseTooLarge(v *visit, id trust.Text) error {
	ctx, cancel := context.WithTimeout(h.base, h.o.Limits.Deliver)
	defer cancel()
	if err := h.o.TooLarge(ctx, v.sub, id); err != nil {
		h.o.Log.Warn("the gap of a delivery that is too large was not stored", "sub", string(v.sub), "err", err)
		return &refusal{http.StatusServiceUnavailable, ReasonNotStored, retrySoon}
	}
	return errTooLarge
}

func (h *handler) readBody(w http.ResponseWriter, r *http.Request, v *visit) ([]byte, error) {
	if r.ContentLength > MaxBody {
		return nil, errTooLarge
	}
	var body []byte
	var err error
	if r.ContentLength >= 0 && r.ContentLength <= maxDrained {
		body = make([]byte, r.ContentLength) // a longer one is given memory only as it arrives
		var n int
		n, err = io.ReadFull(r.Body, body)
		body = body[:n]
	} else {
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	}
	v.bytes = int64(len(body))
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &tooLarge):
		return nil, errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &refusal{http.StatusRequestTimeout, ReasonStalled, 0}
	}
	return nil, &refusal{http.StatusBadRequest, ReasonMalformed + ": the body broke off", 0}
}

// unverified returns the refusal of a delivery whose verification failed with err.
func unverified(err error) *refusal {
	var clock *ClockError
	switch {
	case errors.Is(err, ErrNoSecret):
		return &refusal{http.StatusServiceUnavailable, err.Error(), retryLater}
	case errors.Is(err, errUnknownKey):
		return &refusal{http.StatusServiceUnavailable, ReasonKeyAwaited, retrySoon}
	case errors.As(err, &clock):
		return &refusal{http.StatusUnauthorized, clock.Error(), 0}
	}
	return &refusal{http.StatusUnauthorized, err.Error(), 0}
}

// deliver hands a verified delivery to the Sink and waits for the commit, even if the sender
// has gone. Every error is a *refusal.
func (h *handler) deliver(w http.ResponseWriter, v *visit, d Delivery) error {
	ctx, cancel := context.WithTimeout(h.base, h.o.Limits.Deliver)
	defer cancel()
	// The time for the answer begins now, however long the body took. A writer without
	// deadlines, as in tests, needs none.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(h.o.Limits.Deliver + writeTimeout))

	err := h.o.Sink.Deliver(ctx, d)
	switch {
	case errors.Is(err, ErrRejected), err == nil && d.Type == TypeMalformed:
		reason := ReasonMalformed
		if d.Refused != nil {
			reason += ": " + strings.TrimPrefix(d.Refused.Error(), strict.ErrRefused.Error()+": ")
		}
		return &refusal{http.StatusBadRequest, reason, 0}
	case errors.Is(err, ErrChanged):
		h.report(*v, &refusal{http.StatusNoContent, ReasonChanged, 0})
		return nil
	case err == nil:
		return nil
	}
	h.o.Log.Warn("delivery not stored", "sub", string(d.Sub), "bytes", len(d.Body), "err", err)
	return &refusal{http.StatusServiceUnavailable, ReasonNotStored, retrySoon}
}

// answerChallenge answers a verification with its challenge.
func (h *handler) answerChallenge(w http.ResponseWriter, challenge trust.Text) {
	w.Header().Set("Content-Type", "application/json")
	answer := append(trust.AppendJSONString([]byte(`{"challenge":`), challenge.Raw()), '}')
	if _, err := w.Write(answer); err != nil {
		h.o.Log.Debug("challenge not answered", "err", err)
	}
}

// refuse answers with the status and its standard text only, and reports the reason to the
// host.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, v visit, err error) {
	var why *refusal
	if !errors.As(err, &why) {
		why = &refusal{http.StatusServiceUnavailable, ReasonPanic, retryLater}
	}
	if !v.proven && why.blamesSender() {
		v.peer.proven.Store(false)
		h.bad.charge(v.origin(), h.o.Now())
	}
	h.report(v, why)

	header := w.Header()
	setSafeHeaders(header)
	header.Set("Content-Type", "text/plain; charset=utf-8")
	switch why.status {
	case http.StatusMethodNotAllowed:
		header.Set("Allow", http.MethodPost)
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "StandardWebhooks")
	}
	if why.retry > 0 {
		header.Set("Retry-After", strconv.Itoa(why.retry))
	}
	if v.bytes == 0 && (r.ContentLength < 0 || r.ContentLength > maxDrained) {
		// Otherwise net/http would read the refused body to keep the connection.
		header.Set("Connection", "close")
	}
	w.WriteHeader(why.status)
	if _, err := io.WriteString(w, http.StatusText(why.status)+"\n"); err != nil {
		h.o.Log.Debug("refusal not answered", "err", err)
	}
}

// report hands a refusal to the host and logs it.
func (h *handler) report(v visit, why *refusal) {
	h.o.Refused(event.Refusal{
		At:     h.o.Now().UTC(),
		Sub:    v.sub,
		Reason: why.reason,
		Status: why.status,
		Bytes:  v.bytes,
	})
	h.o.Log.LogAttrs(context.Background(), slog.LevelDebug, "delivery refused",
		slog.String("sub", string(v.sub)), slog.Int("status", why.status), slog.Int64("bytes", v.bytes), slog.String("reason", why.reason))
}

func setSafeHeaders(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
}
