// Package redact keeps secrets out of stored and shown texts. A [Set] knows the shapes of
// secrets, and the secrets of this host by value: configured secrets, webhook secrets,
// secrets that servers issued, and arguments that a schema calls secret. Everything that a
// server says is masked before it is stored: see dialect.Options, session.Options, and
// [Handler] for the log. [Audience] knows other shapes, for a screen that is shown to
// others.
//
// Payloads of events are evidence: the store keeps them as received, and only their traced
// frames are masked.
//
// The package is a leaf: no I/O.
//
// # What is masked
//
// All text from a server goes through one redact.Set before it is stored or shown: its
// self-description, errors and standard error in session; descriptions, errors, states, ends
// of streams and of leases in dialect.For; every line of the log in redact.Handler. The set
// knows the patterns of secrets, and the secrets of this host by value: client secrets,
// tokens, headers and variables whose name says secret or whose value looks like a key,
// secrets in addresses, webhook secrets, stream resumption ids, and arguments that a schema
// marks as secret; for a server process also environment variables whose names contain key,
// token, secret or password. Each value is registered before it is sent. A value is found in
// JSON within strings, escaped, URL-encoded, in base64, in hexadecimal digits, and truncated.
// Patterns are webhook secrets, keys with the prefix of their issuer, variables such as
// API_TOKEN=…, and in addresses the user, query values, and keys in the path.
//
// Payloads of events, ids and cursors pass unchanged: the store keeps evidence. A screen for
// an audience has its own set, redact.Audience, between itself and the host.
package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/host/wire"
)

// Shown replaces a masked value.
const Shown = "***"

// leastValue is the length, in bytes, from which a value is searched for in every text. A
// shorter one would match by chance; it is masked only as the value of its member.
const leastValue = 6

// leastCoded is the least number of base64 characters that are searched for.
const leastCoded = 8

// maxGiven bounds the values issued by servers: tokens are renewed for months.
const maxGiven = 20_000

// Value is a secret value.
type Value struct {
	Member string // name of the nearest member that holds it; "": none
	Secret event.Secret
}

// Set masks secrets. Its methods may be called from any goroutine. The zero Set and a nil
// one know only the shapes of secrets. Added values are never removed, except by
// [Set.AddGiven].
type Set struct {
	shapes *shapes // nil: secretShapes

	mu     sync.RWMutex
	values values
	places map[string][]string // values shorter than leastValue, by the name of their member
	given  []string            // the values issued by servers, oldest first from oldest on
	oldest int                 // index of the oldest, once there are maxGiven
}

// Add masks further values. It ignores empty ones.
func (s *Set) Add(all ...Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range all {
		switch text := v.Secret.Reveal(); {
		case text == "":
		case len(text) >= leastValue:
			each(text, s.values.add)
		case v.Member != "":
			if s.places == nil {
				s.places = map[string][]string{}
			}
			s.places[v.Member] = append(s.places[v.Member], text)
		}
	}
}

// AddSecrets masks secrets of the operator that belong to no member.
func (s *Set) AddSecrets(all ...event.Secret) {
	for _, secret := range all {
		s.Add(Value{Secret: secret})
	}
}

// AddGiven masks secrets that a server issued or may have chosen: webhook secrets, also
// without their prefix, and tokens. Only those that look like a key are masked, so that no
// server can have words masked, and only the newest 20,000.
func (s *Set) AddGiven(all ...event.Secret) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range all {
		_, err := secret.WebhookKey()
		text := strings.TrimPrefix(secret.Reveal(), "whsec_")
		if err != nil && !event.LooksRandom(text) || s.values.has(text) {
			continue
		}
		each(text, s.values.add)
		if len(s.given) < maxGiven {
			s.given = append(s.given, text)
			continue
		}
		each(s.given[s.oldest], s.values.remove)
		s.given[s.oldest] = text
		s.oldest = (s.oldest + 1) % maxGiven
	}
}

// each calls fn with a value as it is, in hexadecimal digits, and in base64 for each of the
// three alignments, without the characters that depend on neighbouring bytes.
func each(value string, fn func(string)) {
	fn(value)
	digits := hex.EncodeToString([]byte(value))
	fn(digits)
	fn(strings.ToUpper(digits))
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for skip := range 3 {
			whole := (len(value) - skip) / 3 * 3
			if text := enc.EncodeToString([]byte(value[skip : skip+whole])); len(text) >= leastCoded {
				fn(text)
			}
		}
	}
}

// Text masks secrets in a text, which may contain JSON and may be cut off.
func (s *Set) Text(text trust.Text) trust.Text { return trust.Untrusted(s.String(text.Raw())) }

// String is [Set.Text] for a text that is safe to print, such as an error's.
func (s *Set) String(text string) string {
	body, clipped := strings.CutSuffix(text, "…")
	body = s.walk(body, true)
	if clipped {
		body += "…"
	}
	return body
}

// JSON masks secrets in a JSON text; the result is JSON.
func (s *Set) JSON(raw json.RawMessage) json.RawMessage {
	text := string(raw)
	masked := s.walk(text, false)
	if masked == text {
		return raw
	}
	if !json.Valid([]byte(masked)) && json.Valid(raw) {
		return json.RawMessage(`{}`) // a value that spans members: show nothing
	}
	return json.RawMessage(masked)
}

// Frame masks secrets in a frame of the wire, which need not be JSON; cut says that it is
// not complete.
func (s *Set) Frame(frame []byte, cut bool) trust.Text {
	return trust.Untrusted(s.walk(string(frame), cut))
}

// Error returns an error that is the same for [errors.Is] and [errors.As], with secrets
// masked in its text. A *wire.Error in its chain is masked too.
func (s *Set) Error(err error) error {
	if err == nil {
		return nil
	}
	was := err.Error()
	out := &maskedError{text: was, err: err}
	var answer *wire.Error
	if errors.As(err, &answer) {
		masked := *answer
		masked.Message, masked.Data = s.Text(answer.Message), s.JSON(answer.Data)
		if masked.Message != answer.Message || !bytes.Equal(masked.Data, answer.Data) {
			out.answer = &masked
			out.text = strings.ReplaceAll(out.text, answer.Error(), masked.Error())
		}
	}
	out.text = s.String(out.text)
	if out.text == was && out.answer == nil {
		return err
	}
	return out
}

// maskedError is an error with a masked text.
type maskedError struct {
	text   string
	err    error
	answer *wire.Error // the masked *wire.Error of err; nil: it needs no masking
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// As sets the masked *wire.Error in place of the original.
func (e *maskedError) As(target any) bool {
	answer, ok := target.(**wire.Error)
	if !ok || e.answer == nil {
		return false
	}
	*answer = e.answer
	return true
}

// walk masks a text that may be JSON; cut says that it may be cut off.
func (s *Set) walk(text string, cut bool) string {
	known := rules{shapes: &secretShapes}
	if s != nil {
		if s.shapes != nil {
			known.shapes = s.shapes
		}
		s.mu.RLock()
		defer s.mu.RUnlock()
		known.values, known.places = &s.values, s.places
	}
	return known.mask(text, maxDepth, cut)
}
