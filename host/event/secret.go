package event

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unique"
)

// ErrSecret is the root of every reason for which a webhook secret is refused.
var ErrSecret = errors.New("webhook secret")

// Secret is a value that must not leave the program in clear: a webhook secret,
// a token, a header. Every way of printing it shows only its last four
// characters. The zero Secret means none. Secrets are comparable.
type Secret struct {
	// A handle, because package fmt prints strings in unexported fields, and strings under
	// verb %p, without calling Format.
	h unique.Handle[string]
}

// NewSecret wraps s.
func NewSecret(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{unique.Make(s)}
}

// NewWebhookSecret makes a whsec_ secret of 32 bytes from random (nil means the
// system's source). SEP-3415, webhook: 24 to 64 bytes from a CSPRNG, made by
// the host.
func NewWebhookSecret(random io.Reader) (Secret, error) {
	if random == nil {
		random = rand.Reader
	}
	key := make([]byte, 32)
	if _, err := io.ReadFull(random, key); err != nil {
		return Secret{}, fmt.Errorf("%w: no randomness: %w", ErrSecret, err)
	}
	return NewSecret("whsec_" + base64.StdEncoding.EncodeToString(key)), nil
}

// Reveal returns the secret in clear, for the wire and for sealing only.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return s.h.Value()
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s == Secret{} }

// WebhookKey returns the bytes with which deliveries are signed.
//
// Errors: [ErrSecret], when the secret is not whsec_ and base64 of 24 to 64 bytes.
func (s Secret) WebhookKey() ([]byte, error) {
	text, ok := strings.CutPrefix(s.Reveal(), "whsec_")
	if !ok {
		return nil, fmt.Errorf("%w: does not begin with whsec_", ErrSecret)
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which the decoder skips
		return nil, fmt.Errorf("%w: not base64", ErrSecret)
	}
	if len(key) < 24 || len(key) > 64 {
		return nil, fmt.Errorf("%w: %s, must be 24 to 64", ErrSecret, Some(len(key), "byte", "bytes"))
	}
	return key, nil
}

func (s Secret) mask() string {
	clear := s.Reveal()
	switch {
	case clear == "":
		return ""
	case len(clear) < 16:
		return "…"
	case strings.HasPrefix(clear, "whsec_"):
		return "whsec_…" + clear[len(clear)-4:]
	}
	return "…" + clear[len(clear)-4:]
}

// Format implements [fmt.Formatter] with the masked form for every verb.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.mask()) }

// String returns the masked form.
func (s Secret) String() string { return s.mask() }

// LogValue implements [slog.LogValuer] with the masked form.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.mask()) }

// MarshalJSON writes the masked form.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.mask()) }

// GobEncode writes the masked form.
func (s Secret) GobEncode() ([]byte, error) { return []byte(s.mask()), nil }

// GobDecode reads a masked form into a stand-in that prints the same and is no secret.
func (s *Secret) GobDecode(raw []byte) error {
	*s = NewSecret(strings.Replace(string(raw), "…", "……………………", 1))
	if len(raw) <= len("…") {
		*s = NewSecret(string(raw))
	}
	return nil
}
