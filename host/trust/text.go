// Package trust holds text that another party wrote: every string from a server. Such text
// is data. It is kept as received, and is shown only through the safe rendering of this
// package.
//
// The package is a leaf: no I/O, no clock, no knowledge of servers or screens.
package trust

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"eventdeck/host/internal/jsontext"
)

// Text is a string from a server: a name, a description, an id, a cursor, an error message,
// a payload. It is comparable and may be a map key.
//
// Text has no String method on purpose: it cannot be concatenated, styled or
// printed by accident. Package fmt and log/slog show its escaped one-line form;
// [Text.Raw] is for the protocol, the store and exports only.
type Text struct{ s string }

// Untrusted marks s as text from a server.
func Untrusted(s string) Text { return Text{s} }

// Raw returns the text as received. It is for the store, the wire and exports of exact
// bytes, never for a screen, a log or an error.
func (t Text) Raw() string { return t.s }

// IsZero reports whether the text is empty.
func (t Text) IsZero() bool { return t.s == "" }

// Len returns the length in bytes.
func (t Text) Len() int { return len(t.s) }

// Format implements [fmt.Formatter]: every verb prints the escaped one-line
// form, so that a stray %v in an error or a log cannot act on a terminal.
func (t Text) Format(f fmt.State, verb rune) {
	s := Line(t).Plain()
	if verb == 'q' {
		s = `"` + s + `"`
	}
	fmt.Fprint(f, s)
}

// LogValue implements [slog.LogValuer] with the escaped one-line form.
func (t Text) LogValue() slog.Value { return slog.StringValue(Line(t).Plain()) }

// MarshalJSON writes the text as a JSON string that is safe for terminals: see
// [AppendJSONString].
func (t Text) MarshalJSON() ([]byte, error) { return AppendJSONString(nil, t.s), nil }

// UnmarshalJSON reads a JSON string. Unlike encoding/json it keeps invalid bytes and lone
// surrogates. It leaves t unchanged on null.
//
// Errors: [jsontext.ErrSyntax].
func (t *Text) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	if len(raw) < 2 || raw[0] != '"' || !json.Valid(raw) {
		return fmt.Errorf("%w: a string expected", jsontext.ErrSyntax)
	}
	t.s = jsontext.Unquote(raw[1 : len(raw)-1])
	return nil
}

// GobEncode returns the exact bytes, for another process of the same user.
func (t Text) GobEncode() ([]byte, error) { return []byte(t.s), nil }

// GobDecode reads the bytes of GobEncode.
func (t *Text) GobDecode(raw []byte) error {
	t.s = string(raw)
	return nil
}
