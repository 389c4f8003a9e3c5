package host

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/session"
	"eventdeck/host/wire"
)

// ReasonOf returns the reason for which a request to a server failed. It is empty for nil, and
// for errors of this host.
func ReasonOf(err error) event.Reason {
	var (
		told   interface{ Reason() event.Reason } // of an attached process, which had the error itself
		answer *wire.Error
		status *session.HTTPError
	)
	switch {
	case err == nil, isOwn(err):
		return ""
	case errors.Is(err, event.ErrKeyLocked):
		return event.ReasonLocked
	case errors.As(err, &told):
		return told.Reason()
	case errors.Is(err, ErrSignIn):
		return event.ReasonSignIn
	case errors.Is(err, ErrRefused), session.Denied(err), wire.NameFrom(err) == wire.Forbidden:
		return event.ReasonRights
	case wire.Is(err, wire.CallbackEndpointError, "reason", "tls_error"), isTLS(err):
		return event.ReasonTLS
	case wire.NameFrom(err) == wire.CallbackEndpointError:
		return event.ReasonChallenge
	case wire.NameFrom(err) == wire.ResourceExhausted,
		errors.As(err, &answer) && answer.RetryAfter() > 0,
		errors.As(err, &status) && (status.Status == http.StatusTooManyRequests || status.RetryAfter > 0):
		return event.ReasonQuota
	case errors.As(err, &answer), errors.As(err, &status), errors.Is(err, session.ErrAnswer),
		errors.Is(err, wire.ErrMalformed), errors.Is(err, wire.ErrUnacceptable), errors.Is(err, ErrNoEvents):
		return event.ReasonServerError
	}
	return event.ReasonUnreachable
}

// Transient reports whether the same request may succeed later without an act of the operator: the
// server is away or busy, or cannot reach the receiver.
func Transient(err error) bool {
	switch ReasonOf(err) {
	case event.ReasonUnreachable, event.ReasonTLS, event.ReasonQuota, event.ReasonChallenge:
		return true
	}
	var status *session.HTTPError
	return wire.NameFrom(err) == "" && errors.As(err, &status) && status.Status >= http.StatusInternalServerError
}

// RetryAfter returns how long a server that refused a request asks to wait; 0 if it does not say.
func RetryAfter(err error) time.Duration { return session.RetryAfter(err) }

// isOwn reports whether an error comes from this host, and not from a server or the network.
func isOwn(err error) bool {
	for _, is := range []error{
		event.ErrClosed, event.ErrFull, event.ErrDamaged, event.ErrFenced, event.ErrNotFound, event.ErrSilent,
		ErrUnknownServer, ErrUnknownType, ErrMode, ErrArguments, ErrStopped, ErrUnconfirmed, ErrLimit,
	} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// isTLS reports whether a connection failed because one side did not trust the other.
func isTLS(err error) bool {
	var (
		verify  *tls.CertificateVerificationError
		alert   tls.AlertError
		header  tls.RecordHeaderError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
	)
	return errors.As(err, &verify) || errors.As(err, &alert) || errors.As(err, &header) ||
		errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &name)
}
