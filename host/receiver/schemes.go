package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// proof is what the headers of a delivery offer to prove it, under any scheme.
type proof struct {
	Headers
	signed bool     // the headers are those of Standard Webhooks
	shown  []string // secrets shown in a header, for the raw scheme
}

// Headers in which senders show a shared secret as it stands.
const (
	headerAuthorization = "Authorization"
	headerSecret        = "X-Webhook-Secret"
	headerToken         = "X-Webhook-Token"
)

// readProof takes the headers of a delivery. Schemes other than the standard one
// do without a signature, and then perhaps without an id.
//
// Errors: [ErrHeaders].
func readProof(header http.Header, scheme event.Scheme) (proof, error) {
	h, err := ReadHeaders(header)
	if err == nil {
		return proof{Headers: h, signed: true, shown: shownSecrets(header)}, nil
	}
	if scheme == event.SchemeStandard || len(header.Values(HeaderSignature)) > 0 && scheme != event.SchemeNone {
		return proof{}, err
	}
	p := proof{shown: shownSecrets(header)}
	if len(header.Values(HeaderID)) == 0 {
		return p, nil
	}
	id, err := single(header, HeaderID)
	if err != nil {
		return proof{}, err
	}
	if !validID(id) {
		return proof{}, fmt.Errorf("%w: webhook-id", ErrHeaders)
	}
	p.ID = trust.Untrusted(id)
	return p, nil
}

func shownSecrets(header http.Header) (shown []string) {
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
func (p proof) verify(body []byte, e Entry, now time.Time) (previous bool, err error) {
	if previous, err = p.verifySecret(body, e, now); err == nil && e.KeyRequired {
		err = p.verifyKey(body, e)
	}
	return previous, err
}

func (p proof) verifySecret(body []byte, e Entry, now time.Time) (previous bool, err error) {
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

// provenBy reports whether a shared secret signed the body, with its bytes as the
// key, or is shown in a header.
func (p proof) provenBy(secret event.Secret, body []byte) bool {
	text := secret.Reveal()
	if p.signed && p.matches([]byte(text), body) {
		return true
	}
	want := sha256.Sum256([]byte(text)) // so that the comparison tells nothing of the length
	found := false
	for _, s := range p.shown {
		got := sha256.Sum256([]byte(s))
		if hmac.Equal(got[:], want[:]) {
			found = true
		}
	}
	return found
}
