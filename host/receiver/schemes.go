package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// credentials are the proofs in the headers of a delivery, for any scheme.
type credentials struct {
	Headers
	signed  bool     // the headers are those of Standard Webhooks
	secrets []string // in clear, for the raw scheme
}

// Headers in which senders put a shared secret in clear.
const (
	headerAuthorization = "Authorization"
	headerSecret        = "X-Webhook-Secret"
	headerToken         = "X-Webhook-Token"
)

// readCredentials reads the headers of a delivery. Schemes other than the standard one allow
// deliveries without a signature, and those may have no id.
//
// Errors: [ErrHeaders].
func readCredentials(header http.Header, scheme event.Scheme) (credentials, error) {
	h, err := ReadHeaders(header)
	if err == nil {
		return credentials{Headers: h, signed: true, secrets: headerSecrets(header)}, nil
	}
	if scheme == event.SchemeStandard || len(header.Values(HeaderSignature)) > 0 && scheme != event.SchemeNone {
		return credentials{}, err
	}
	p := credentials{secrets: headerSecrets(header)}
	if len(header.Values(HeaderID)) == 0 {
		return p, nil
	}
	id, err := readID(header)
	if err != nil {
		return credentials{}, err
	}
	p.ID = trust.Untrusted(id)
	return p, nil
}

func headerSecrets(header http.Header) (shown []string) {
	for _, v := range header.Values(headerAuthorization) {
		if kind, token, ok := strings.Cut(v, " "); ok && strings.EqualFold(kind, "bearer") {
			v = strings.TrimSpace(token)
		}
		shown = append(shown, v)
	}
	shown = append(shown, header.Values(headerSecret)...)
	return append(shown, header.Values(headerToken)...)
}

// verify proves a delivery by the scheme of e. It reports whether the previous
// secret was the one that matched.
//
// Errors: those of [Headers.Verify], [ErrServerKey], errUnknownKey.
func (p credentials) verify(body []byte, e Entry, now time.Time) (previous bool, err error) {
	if previous, err = p.verifySecret(body, e, now); err == nil && e.KeyRequired {
		err = p.verifyKey(body, e)
	}
	return previous, err
}

func (p credentials) verifySecret(body []byte, e Entry, now time.Time) (previous bool, err error) {
	switch e.Scheme {
	case event.SchemeStandard:
		return p.Verify(body, e, now)
	case event.SchemeNone:
		return false, nil
	}
	if e.Current.IsZero() {
		return false, ErrNoSecret
	}
	grace := !e.Previous.IsZero() && now.Before(e.PreviousUntil)
	switch {
	case p.provenBy(e.Current, body):
	case grace && p.provenBy(e.Previous, body):
		previous = true
	default:
		return false, ErrSignature
	}
	if p.signed {
		return previous, p.onTime(now)
	}
	return previous, nil
}

// provenBy reports whether a shared secret signed the body, with its text as the key, or
// stands in a header.
func (p credentials) provenBy(secret event.Secret, body []byte) bool {
	text := secret.Reveal()
	if p.signed && p.matches([]byte(text), body) {
		return true
	}
	want := sha256.Sum256([]byte(text)) // so that the comparison tells nothing of the length
	found := false
	for _, s := range p.secrets {
		got := sha256.Sum256([]byte(s))
		if hmac.Equal(got[:], want[:]) {
			found = true
		}
	}
	return found
}
