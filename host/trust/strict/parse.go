// Package strict reads the JSON of servers: whole trees, exact keys, no duplicates, nothing
// after the object. It depends on package trust only.
package strict

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust"
)

// Limits bound the texts that [ParseObject] accepts. A zero field means its default.
type Limits = jsontext.Limits

// Refusals of [ParseObject]. All wrap [ErrRefused].
var (
	// ErrRefused is the root of every reason for which a JSON text is refused.
	ErrRefused = jsontext.ErrRefused
	// ErrSyntax: the text is not JSON.
	ErrSyntax = jsontext.ErrSyntax
	// ErrBOM: the text starts with a byte order mark. It wraps [ErrSyntax].
	ErrBOM = jsontext.ErrBOM
	// ErrNotObject: the text is JSON, but its top level is not an object.
	ErrNotObject = jsontext.ErrNotObject
	// ErrTrailing: something follows the first JSON value.
	ErrTrailing = jsontext.ErrTrailing
	// ErrDuplicateKey: an object has the same key twice.
	ErrDuplicateKey = jsontext.ErrDuplicateKey
	// ErrDepth: nested deeper than the limit.
	ErrDepth = jsontext.ErrDepth
	// ErrSize: longer than the limit.
	ErrSize = jsontext.ErrSize
)

// ErrUnicode: a key or a string has what is no character: half of a surrogate pair, or bytes that are
// not UTF-8. [ParseObject] accepts them; [CheckUnicode] does not.
var ErrUnicode = fmt.Errorf("%w: a name or a text is not Unicode: it has half of a surrogate pair, or bytes that are not UTF-8", ErrRefused)

// CheckUnicode reports whether all keys and strings of a JSON text that was parsed before consist of
// characters.
//
// Error: [ErrUnicode].
func CheckUnicode(raw []byte) error {
	if !utf8.Valid(jsontext.AppendUnquoted(nil, raw)) {
		return ErrUnicode
	}
	return nil
}

// Member is one member of a JSON object in the order of the text. Value is a part of the
// parsed text, not a copy.
type Member struct {
	Key   trust.Text
	Value json.RawMessage
}

// ParseObject reads raw strictly, the whole tree, and returns the members of
// the top-level object: keys are exact (no case folding), duplicates at any
// level are refused, nothing may follow. Invalid UTF-8 and lone surrogates
// inside strings are accepted and kept: package scan flags them.
//
// Errors: [ErrSyntax], [ErrBOM], [ErrNotObject], [ErrTrailing],
// [ErrDuplicateKey], [ErrDepth], [ErrSize].
func ParseObject(raw []byte, lim Limits) ([]Member, error) {
	return ParseObjectWith(raw, lim, noVisitor{})
}

// ParseObjectWith is [ParseObject] that also reports to v, even the part of a text before a
// refusal.
//
// Errors: those of [ParseObject].
func ParseObjectWith(raw []byte, lim Limits, v jsontext.Visitor) ([]Member, error) {
	c := memberCollector{Visitor: v, raw: raw}
	if err := jsontext.Walk(raw, lim, &c); err != nil {
		return nil, withKey(err)
	}
	return c.members, nil
}

// withKey adds the duplicate key to the error.
func withKey(err error) error {
	var twice *jsontext.DuplicateError
	if errors.As(err, &twice) {
		return fmt.Errorf("%w %s", ErrDuplicateKey, trust.Line(trust.Untrusted(twice.Key)).Clip(60).Plain())
	}
	return err
}

// noVisitor ignores everything.
type noVisitor struct{}

func (noVisitor) Key(int, int, int, bool)                  {}
func (noVisitor) Open(int, int)                            {}
func (noVisitor) Value(int, jsontext.Kind, int, int, bool) {}
func (noVisitor) SameFold(int, int)                        {}

// Text returns a string value, or the empty text for null. ok is false for other values.
// Like [trust.Text.UnmarshalJSON] it keeps invalid bytes and lone surrogates.
func (m Member) Text() (t trust.Text, ok bool) {
	switch {
	case len(m.Value) >= 2 && m.Value[0] == '"':
		return trust.Untrusted(jsontext.Unquote(m.Value[1 : len(m.Value)-1])), true
	case string(m.Value) == "null":
		return trust.Text{}, true
	}
	return trust.Text{}, false
}

// memberCollector keeps the members of the top level.
type memberCollector struct {
	jsontext.Visitor // also gets everything
	raw              []byte
	members          []Member
}

func (c *memberCollector) Key(depth int, start, end int, escaped bool) {
	c.Visitor.Key(depth, start, end, escaped)
	if depth != 1 {
		return
	}
	if c.members == nil {
		c.members = make([]Member, 0, 8)
	}
	c.members = append(c.members, Member{Key: trust.Untrusted(jsontext.Key(c.raw[start:end], escaped))})
}

func (c *memberCollector) Value(depth int, kind jsontext.Kind, start, end int, escaped bool) {
	c.Visitor.Value(depth, kind, start, end, escaped)
	if depth == 1 {
		c.members[len(c.members)-1].Value = c.raw[start:end:end]
	}
}

// Without returns an accepted object without the member of a name: the others as they are
// spelled, or raw itself if it has no such member.
func Without(raw []byte, name string) []byte {
	text, found := jsontext.View(raw), false
	rest := []byte{'{'}
	for m := jsontext.Enter(text, jsontext.SkipSpace(text, 0)); m.Next(); {
		if m.Key == name {
			found = true
			continue
		}
		if len(rest) > 1 {
			rest = append(rest, ',')
		}
		rest = append(append(append(rest, '"'), m.Key...), `":`...)
		rest = append(rest, text[m.Value:m.End]...)
	}
	if !found {
		return raw
	}
	return append(rest, '}')
}
