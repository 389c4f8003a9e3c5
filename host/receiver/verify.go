package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
)

// Names of the headers that a delivery carries (Standard Webhooks; the last one
// is SEP-3415's).
const (
	HeaderID           = "Webhook-Id"
	HeaderTimestamp    = "Webhook-Timestamp"
	HeaderSignature    = "Webhook-Signature"
	HeaderSubscription = "X-Mcp-Subscription-Id"
)

// Tolerance is how far the time of a delivery may lie from the host's, both ways
// (SEP-3415, webhook: within five minutes).
const Tolerance = 300 * time.Second

// Reasons for which a delivery is not verified.
var (
	// ErrHeaders: a header of the signature is missing, repeated or not in the
	// grammar.
	ErrHeaders = errors.New("malformed headers")
	// ErrSignature: no entry of the signature header matches.
	ErrSignature = errors.New("signature wrong")
	// ErrSecretAsText is an [ErrSignature] that would match if the text of the
	// secret were the key, instead of the bytes that it encodes.
	ErrSecretAsText = fmt.Errorf("%w: signature right if the secret is taken as text", ErrSignature)
	// ErrOldSecret is an [ErrSignature] that would match with the previous
	// secret, whose grace has ended.
	ErrOldSecret = fmt.Errorf("%w: made with the previous secret after its grace", ErrSignature)
	// ErrServerKey is an [ErrSignature] that is right by the secret, while a signature
	// by a key of the server is demanded and is missing or wrong.
	ErrServerKey = fmt.Errorf("%w: no v1a signature by a key of the server", ErrSignature)
	// ErrNoSecret: this host's secret is missing or cannot be used. The sender is not at
	// fault.
	ErrNoSecret = errors.New("no usable secret for the subscription")
)

// ClockError: the signature is right, but its time is out of bounds.
type ClockError struct {
	// Off is the sender's time minus the host's: negative when the sender is behind,
	// or the delivery is old.
	Off time.Duration
}

// Error implements error.
func (e *ClockError) Error() string {
	seconds := int64(e.Off / time.Second)
	if seconds < 0 {
		return fmt.Sprintf("clock off by %d seconds: the delivery is older", -seconds)
	}
	return fmt.Sprintf("clock off by %d seconds: the sender is ahead", seconds)
}

// Headers are the headers of a delivery, in their grammar. Nothing of them is verified before
// [Headers.Verify].
type Headers struct {
	ID       trust.Text // webhook-id
	ServerID trust.Text // X-MCP-Subscription-Id; empty if absent
	SentAt   time.Time  // webhook-timestamp: the time of the attempt, UTC

	timestamp  string
	signatures []signature
}

// signature is one entry of the signature header.
type signature struct {
	version string
	value   string
}

// ReadHeaders reads the headers of a delivery.
//
// The grammar keeps the signed text id.timestamp.body from being split in
// another place: an id is 1 to 255 visible ASCII characters without braces that
// do not end in a dot and 10 or 11 digits; a timestamp is 10 or 11 digits
// without sign or leading zero.
//
// Errors: [ErrHeaders].
func ReadHeaders(header http.Header) (Headers, error) {
	id, err := readID(header)
	if err != nil {
		return Headers{}, err
	}
	stamp, err := single(header, HeaderTimestamp)
	if err != nil {
		return Headers{}, err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || !validTimestamp(stamp) {
		return Headers{}, fmt.Errorf("%w: webhook-timestamp", ErrHeaders)
	}
	list, err := single(header, HeaderSignature)
	if err != nil {
		return Headers{}, err
	}
	signatures, err := parseSignatures(list)
	if err != nil {
		return Headers{}, err
	}
	var server string
	if len(header.Values(HeaderSubscription)) > 0 {
		if server, err = single(header, HeaderSubscription); err != nil {
			return Headers{}, err
		}
		if len(server) > maxSubscriptionBytes {
			return Headers{}, fmt.Errorf("%w: x-mcp-subscription-id", ErrHeaders)
		}
	}
	return Headers{
		ID:         trust.Untrusted(id),
		ServerID:   trust.Untrusted(server),
		SentAt:     time.Unix(seconds, 0).UTC(),
		timestamp:  stamp,
		signatures: signatures,
	}, nil
}

func readID(header http.Header) (string, error) {
	id, err := single(header, HeaderID)
	if err == nil && !validID(id) {
		err = fmt.Errorf("%w: webhook-id", ErrHeaders)
	}
	return id, err
}

// single returns the only value of a header. Error: [ErrHeaders].
func single(header http.Header, name string) (string, error) {
	values := header.Values(name)
	switch len(values) {
	case 0:
		return "", fmt.Errorf("%w: no %s", ErrHeaders, strings.ToLower(name))
	case 1:
		return values[0], nil
	}
	return "", fmt.Errorf("%w: %s more than once", ErrHeaders, strings.ToLower(name))
}

func validID(id string) bool {
	if id == "" || len(id) > maxIDBytes {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '{' || c == '}' {
			return false
		}
	}
	dot := strings.LastIndexByte(id, '.')
	if dot < 0 {
		return true
	}
	tail := id[dot+1:]
	return len(tail) != 10 && len(tail) != 11 || !allDigits(tail)
}

func validTimestamp(s string) bool {
	return (len(s) == 10 || len(s) == 11) && s[0] != '0' && allDigits(s)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

func parseSignatures(list string) ([]signature, error) {
	if len(list) > maxSignatureBytes {
		return nil, fmt.Errorf("%w: webhook-signature is longer than %d bytes", ErrHeaders, maxSignatureBytes)
	}
	fields := strings.Fields(list)
	if len(fields) == 0 {
		return nil, fmt.Errorf("%w: webhook-signature is empty", ErrHeaders)
	}
	if len(fields) > maxSignatures {
		return nil, fmt.Errorf("%w: webhook-signature has more than %d entries", ErrHeaders, maxSignatures)
	}
	signatures := make([]signature, len(fields))
	for i, field := range fields {
		signatures[i].version, signatures[i].value, _ = strings.Cut(field, ",")
	}
	return signatures, nil
}

// Verify checks the signature over the raw body with the secrets of e, then the
// time against now. It reports whether the previous secret was the one that
// matched. Entries of unknown versions are skipped; one entry that matches is
// enough.
//
// Errors: [ErrSignature], [ErrSecretAsText], [ErrOldSecret], [*ClockError] when
// the signature is right, [ErrNoSecret].
func (h Headers) Verify(body []byte, e Entry, now time.Time) (previous bool, err error) {
	current, currentErr := e.Current.WebhookKey()
	old, oldErr := e.Previous.WebhookKey()
	grace := now.Before(e.PreviousUntil)
	if currentErr != nil && (oldErr != nil || !grace) {
		return false, ErrNoSecret
	}
	matchCurrent := h.matches(current, body)
	matchOld := h.matches(old, body)
	switch {
	case matchCurrent:
	case matchOld && grace:
		previous = true
	case matchOld:
		return false, ErrOldSecret
	case h.matchesText(e.Current, body) || grace && h.matchesText(e.Previous, body):
		return false, ErrSecretAsText
	default:
		return false, ErrSignature
	}
	if err := h.onTime(now); err != nil {
		return false, err
	}
	return previous, nil
}

// onTime checks the time of a delivery whose signature is right. Error: [*ClockError].
func (h Headers) onTime(now time.Time) error {
	off := time.Duration(h.SentAt.Unix()-now.Unix()) * time.Second
	if off < -Tolerance || off > Tolerance {
		return &ClockError{Off: off}
	}
	return nil
}

// matches reports whether a v1 entry was made with key; an empty key matches none. It checks
// every entry, so that its time does not depend on which one matches.
func (h Headers) matches(key, body []byte) bool {
	if len(key) == 0 {
		return false
	}
	want := mac(key, h.ID.Raw(), h.timestamp, body)
	found := false
	for _, s := range h.signatures {
		if s.version != "v1" {
			continue
		}
		got, err := base64.StdEncoding.Strict().DecodeString(s.value)
		if hmac.Equal(got, want) && err == nil {
			found = true
		}
	}
	return found
}

// matchesText reports whether a sender used the text of the secret, with or without its prefix,
// as the key. It is for diagnosis only.
func (h Headers) matchesText(secret event.Secret, body []byte) bool {
	text := secret.Reveal()
	whole := h.matches([]byte(text), body)
	tail := h.matches([]byte(strings.TrimPrefix(text, "whsec_")), body)
	return whole || tail
}

// Sign returns the v1 entry of a signature header for a delivery of body with
// the given id, sent at the given time. It is the counterpart of
// [Headers.Verify], for senders and tests.
//
// Errors: [event.ErrSecret].
func Sign(secret event.Secret, id string, at time.Time, body []byte) (string, error) {
	key, err := secret.WebhookKey()
	if err != nil {
		return "", fmt.Errorf("cannot sign: %w", err)
	}
	sum := mac(key, id, strconv.FormatInt(at.Unix(), 10), body)
	return "v1," + base64.StdEncoding.EncodeToString(sum), nil
}

// mac computes the v1 signature (Standard Webhooks: HMAC-SHA256 over
// id.timestamp.body).
func mac(key []byte, id, timestamp string, body []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(id + "." + timestamp + "."))
	m.Write(body)
	return m.Sum(nil)
}
