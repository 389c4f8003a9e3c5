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
	ReasonAwaited     = "the server's secret has not come yet"
	ReasonNotInFlight = "verification without a subscribe in flight"
	ReasonPanic       = "internal error"
	ReasonChanged     = "an id that is known, with other data: the first are kept" // answered as success
)

// Seconds after which a sender should come again.
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

// blames reports whether the refusal says something against the sender.
func (r *refusal) blames() bool {
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

// visit is what is known of one request so far, for the record of a refusal.
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
		h.announce(w, r)
		return
	}
	v := visit{peer: peerOf(r)}
	challenge, err := h.protect(w, r, &v)
	if v.proven {
		v.peer.proven.Store(true)
	}
	if err != nil {
		h.refuse(w, r, v, err)
		return
	}
	status := http.StatusNoContent
	setSafe(w.Header())
	if challenge.IsZero() {
		w.WriteHeader(status)
	} else {
		status = http.StatusOK
		h.echo(w, challenge)
	}
	h.o.Log.Debug("delivery taken", "sub", string(v.sub), "status", status, "bytes", v.bytes)
}

// protect turns a panic into a refusal. The value of the panic may hold text
// from the delivery, so only its type is logged.
func (h *handler) protect(w http.ResponseWriter, r *http.Request, v *visit) (challenge trust.Text, err error) {
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
	allowed := h.hostAllowed(r.Host)
	var entry Entry
	state := PathUnknown
	if allowed {
		entry, state = h.o.Book.Lookup(r.URL.Path)
	}
	if state != PathUnknown {
		v.path = r.URL.Path
	}
	if !v.peer.proven.Load() {
		if wait := h.bad.wait(v.origin(), h.o.Now()); wait > 0 {
			return challenge, &refusal{http.StatusTooManyRequests, ReasonTooMany, 1 + int(wait/time.Second)}
		}
	}
	if !allowed {
		return challenge, &refusal{http.StatusMisdirectedRequest, ReasonHost, 0}
	}
	if state == PathUnknown {
		return challenge, &refusal{http.StatusNotFound, ReasonUnknownPath, 0}
	}
	v.sub = entry.Sub
	if r.Method != http.MethodPost {
		return challenge, &refusal{http.StatusMethodNotAllowed, ReasonMethod, 0}
	}
	if !plainJSON(r.Header) {
		return challenge, &refusal{http.StatusUnsupportedMediaType, ReasonMediaType, 0}
	}
	if state == PathKnown && entry.Awaited {
		return challenge, &refusal{http.StatusServiceUnavailable, ReasonAwaited, retrySoon}
	}
	headers, err := readProof(r.Header, entry.Scheme)
	if err != nil {
		return challenge, &refusal{http.StatusBadRequest, ReasonMalformed + ": " + err.Error(), 0}
	}
	if state == PathEnded {
		return challenge, &refusal{http.StatusServiceUnavailable, ReasonNoSuchID + ": the subscription ended", retryLater}
	}
	gone := &refusal{http.StatusGone, ReasonNoSuchID + ": the subscription was removed", 0}
	if state == PathRemoved && entry.Current.IsZero() {
		return challenge, gone
	}
	if err := h.gate.enter(); err != nil {
		return challenge, err
	}
	defer h.gate.leave()

	body, err := h.readBody(w, r, v)
	if errors.Is(err, errTooLarge) && state == PathKnown {
		return challenge, h.missed(v, headers.ID)
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
		return challenge, gone
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
	})
}

// hostAllowed keeps a web page from reaching a receiver on loopback through a
// name of its own (DNS rebinding).
func (h *handler) hostAllowed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if loopbackName(host) {
		return true
	}
	for _, allowed := range h.o.Hosts {
		if strings.EqualFold(host, allowed) {
			return true
		}
	}
	return false
}

func loopbackName(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

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

// missed refuses a delivery for good: the sender will drop it, so the gap is stored
// before it is told. Nothing proves the delivery; its sender knows the path.
func (h *handler) missed(v *visit, id trust.Text) error {
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
		body = make([]byte, r.ContentLength) // a longer one takes memory only as it comes
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

// deliver waits for the commit. The sender's going away does not stop it: what
// is verified is kept.
func (h *handler) deliver(w http.ResponseWriter, v *visit, d Delivery) error {
	ctx, cancel := context.WithTimeout(h.base, h.o.Limits.Deliver)
	defer cancel()
	// The time that the body took must not shorten the time for the answer. A
	// writer that knows no deadlines needs none.
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
		h.tell(*v, &refusal{http.StatusNoContent, ReasonChanged, 0})
		return nil
	case err == nil:
		return nil
	}
	h.o.Log.Warn("delivery not stored", "sub", string(d.Sub), "bytes", len(d.Body), "err", err)
	return &refusal{http.StatusServiceUnavailable, ReasonNotStored, retrySoon}
}

// echo answers a verification with its own challenge.
func (h *handler) echo(w http.ResponseWriter, challenge trust.Text) {
	w.Header().Set("Content-Type", "application/json")
	answer := append(trust.AppendJSONString([]byte(`{"challenge":`), challenge.Raw()), '}')
	if _, err := w.Write(answer); err != nil {
		h.o.Log.Debug("challenge not answered", "err", err)
	}
}

// refuse answers with nothing but the status and a constant text, and tells the
// host why.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, v visit, err error) {
	var why *refusal
	if !errors.As(err, &why) {
		why = &refusal{http.StatusServiceUnavailable, ReasonPanic, retryLater}
	}
	if !v.proven && why.blames() {
		v.peer.proven.Store(false)
		h.bad.charge(v.origin(), h.o.Now())
	}
	h.tell(v, why)

	header := w.Header()
	setSafe(header)
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
		// Without this the server would read a refused body to keep the connection.
		header.Set("Connection", "close")
	}
	w.WriteHeader(why.status)
	if _, err := io.WriteString(w, http.StatusText(why.status)+"\n"); err != nil {
		h.o.Log.Debug("refusal not answered", "err", err)
	}
}

// tell hands a refusal to the host.
func (h *handler) tell(v visit, why *refusal) {
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

func setSafe(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
}
