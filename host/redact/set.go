// Package redact keeps secrets out of what is stored and shown. A [Set] knows the
// shapes of secrets, and the secrets of this host by their values: what the operator
// configured, what was made for a webhook, what a server gave, and the arguments that
// a schema calls secret. Everything that a server says passes it before anything keeps
// it: see dialect.Options, session.Options, and [Handler] for the log. [Audience] knows
// other shapes, for a screen that is shown to others.
//
// Payloads of events are evidence: the store keeps them as they came, and only their
// traced frames pass.
//
// The package is a leaf: no I/O.
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

// Shown stands for a value that is not shown.
const Shown = "***"

// leastValue is how many bytes a value has at least that is looked for in every text. A
// shorter one would be found where it is not meant; it is masked where it is the value
// of the member that held it.
const leastValue = 6

// leastCoded is how many characters of base64 are looked for at least.
const leastCoded = 8

// maxGiven bounds the values that servers give: tokens renew themselves for months.
const maxGiven = 20_000

// Value is something secret.
type Value struct {
	Member string // the name of the nearest member that holds it; "": of none
	Secret event.Secret
}

// Set is what must not be shown. Its methods may be called from any goroutine. The zero
// Set knows the shapes of secrets alone, and so does a nil one; what was added stays.
type Set struct {
	shapes *shapes // nil: those of secrets

	mu     sync.RWMutex
	values values
	places map[string][]string // values that are too short to be looked for, by the name of their member
	given  []string            // those of the values that servers gave
	oldest int                 // of given, once there are maxGiven
}

// Add hides further values. Empty ones have nothing to hide.
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

// AddSecrets hides secrets of the operator that no member held.
func (s *Set) AddSecrets(all ...event.Secret) {
	for _, secret := range all {
		s.Add(Value{Secret: secret})
	}
}

// AddGiven hides secrets that a server gave or may have chosen: webhook secrets, also
// without their prefix, and tokens. Only those that look like a key are hidden, so that
// no server has words masked, and only the newest 20,000.
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

// each calls fn with a value as it is, in hexadecimal digits, and with what of it stands
// in base64 wherever it begins in a triple of bytes.
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

// Text returns a text, which may hold JSON and may be cut off at its end, without what
// is secret.
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

// JSON returns a JSON text without what is secret; it is JSON still.
func (s *Set) JSON(raw json.RawMessage) json.RawMessage {
	text := string(raw)
	masked := s.walk(text, false)
	if masked == text {
		return raw
	}
	if !json.Valid([]byte(masked)) && json.Valid(raw) {
		return json.RawMessage(`{}`) // a value that spans members: nothing is told
	}
	return json.RawMessage(masked)
}

// Frame returns a frame of the wire without what is secret. It need not be JSON; cut
// says that it is not complete.
func (s *Set) Frame(frame []byte, cut bool) trust.Text {
	return trust.Untrusted(s.walk(string(frame), cut))
}

// Error returns an error that is the same for [errors.Is] and [errors.As], and says the
// same without what is secret. A *wire.Error that is asked of it is masked too.
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

// maskedError is an error of which not all may be shown.
type maskedError struct {
	text   string
	err    error
	answer *wire.Error // that of err, masked; nil: it is as it was
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.err }

// As gives the masked answer in place of the one within.
func (e *maskedError) As(target any) bool {
	answer, ok := target.(**wire.Error)
	if !ok || e.answer == nil {
		return false
	}
	*answer = e.answer
	return true
}

// walk masks a text that may be JSON; cut says that it may end before its end.
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
