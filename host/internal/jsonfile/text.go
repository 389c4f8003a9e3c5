// Package jsonfile reads and edits the JSON files that an operator writes, with comments
// and trailing commas. Errors have line and column. An edit leaves everything else
// unchanged. It also tells who else can change such a file, or a program that one names.
package jsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text is the text of a file. Its values are offsets into the text, so that every error can
// name a place, and an edit leaves everything else unchanged.
type Text struct {
	Path  string
	Plain []byte // without comments, trailing commas and byte order mark
	bytes []byte // unchanged, without byte order mark
	mark  []byte // the byte order mark that some editors write
	fault error
}

// New returns the text of a file. All errors wrap fault.
func New(path string, raw []byte, fault error) *Text {
	own := bytes.TrimPrefix(raw, []byte("\ufeff"))
	return &Text{Path: path, Plain: plain(own, false), bytes: own, mark: raw[:len(raw)-len(own)], fault: fault}
}

// Member is one member of an object, with offsets into the text.
type Member struct {
	Key        string
	At         int // of the key
	Start, End int // of the value
}

// Find returns the first member with a key.
func Find(members []Member, key string) (Member, bool) {
	for _, m := range members {
		if m.Key == key {
			return m, true
		}
	}
	return Member{}, false
}

// Value returns the value of a member, without comments.
func (t *Text) Value(m Member) json.RawMessage { return t.Plain[m.Start:m.End] }

// Syntax checks that the text is JSON; least is what an empty file should contain.
func (t *Text) Syntax(least string) error {
	if len(bytes.TrimSpace(t.Plain)) == 0 {
		return t.Errorf(0, "the file is empty; it should hold %s", least)
	}
	var v json.RawMessage
	err := json.Unmarshal(t.Plain, &v)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return t.Errorf(0, "%w", err)
	}
	// The offset is after the wrong byte; at the end of the text there is none.
	at := int(syntax.Offset)
	if at > 0 && !strings.Contains(syntax.Error(), "unexpected end") {
		at--
	}
	return t.Errorf(at, "%w", err)
}

// Position returns line and column of an offset, both from 1; columns count
// characters.
func (t *Text) Position(at int) (line, column int) {
	before := t.Plain[:min(max(at, 0), len(t.Plain))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
}

// Where returns file:line:column of an offset.
func (t *Text) Where(at int) string {
	line, column := t.Position(at)
	return fmt.Sprintf("%s:%d:%d", t.Path, line, column)
}

// Error is an error at a place.
type Error struct {
	Fault error // the fault of [New]
	At    int   // offset
	Where string
	Err   error
}

// Error returns the fault, the place, and the cause.
func (e *Error) Error() string { return fmt.Sprintf("%v: %s: %v", e.Fault, e.Where, e.Err) }

// Unwrap returns the fault and the cause.
func (e *Error) Unwrap() []error { return []error{e.Fault, e.Err} }

// Errorf returns an [*Error] at an offset.
func (t *Text) Errorf(at int, format string, args ...any) error {
	return &Error{Fault: t.fault, At: at, Where: t.Where(at), Err: fmt.Errorf(format, args...)}
}

// Array returns the elements of a value that is an array. They have no key.
func (t *Text) Array(m Member) ([]Member, error) {
	dec := json.NewDecoder(bytes.NewReader(t.Plain[m.Start:m.End]))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('[') {
		return nil, t.Errorf(t.skip(m.Start), "%q must be a list", m.Key)
	}
	var elements []Member
	for dec.More() {
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, t.Errorf(t.skip(m.Start), "%w", err)
		}
		stop := m.Start + int(dec.InputOffset())
		elements = append(elements, Member{At: stop - len(value), Start: stop - len(value), End: stop})
	}
	return elements, nil
}

// Object returns the members of the object between two offsets.
func (t *Text) Object(start, end int, what string) ([]Member, error) {
	dec := json.NewDecoder(bytes.NewReader(t.Plain[start:end]))
	first := t.skip(start)
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, t.Errorf(first, "%s must be an object", what)
	}
	var members []Member
	for dec.More() {
		at := t.skip(start + int(dec.InputOffset()))
		tok, err := dec.Token()
		if err != nil {
			return nil, t.Errorf(at, "%w", err)
		}
		key, _ := tok.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, t.Errorf(at, "%w", err)
		}
		stop := start + int(dec.InputOffset())
		members = append(members, Member{Key: key, At: at, Start: stop - len(value), End: stop})
	}
	return members, nil
}

// skip returns the offset of the next token from at on.
func (t *Text) skip(at int) int {
	for at < len(t.Plain) && strings.IndexByte(" \t\r\n,:", t.Plain[at]) >= 0 {
		at++
	}
	return at
}
