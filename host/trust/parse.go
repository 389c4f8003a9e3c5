package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Refusals of [ParseObject]. All wrap [ErrRefused].
var (
	// ErrRefused is the root of every reason for which a JSON text is not taken.
	ErrRefused = errors.New("refused")
	// ErrSyntax: the text is not JSON.
	ErrSyntax = fmt.Errorf("%w: not valid JSON", ErrRefused)
	// ErrBOM: the text starts with a byte order mark. It wraps [ErrSyntax].
	ErrBOM = fmt.Errorf("%w: it starts with a byte order mark", ErrSyntax)
	// ErrNotObject: the text is JSON, but its top level is not an object.
	ErrNotObject = fmt.Errorf("%w: not a JSON object", ErrRefused)
	// ErrTrailing: something follows the first JSON value.
	ErrTrailing = fmt.Errorf("%w: data after the JSON object", ErrRefused)
	// ErrDuplicateKey: an object on the way has the same key twice.
	ErrDuplicateKey = fmt.Errorf("%w: duplicate key", ErrRefused)
	// ErrDepth: nested deeper than [Limits.Depth].
	ErrDepth = fmt.Errorf("%w: nested too deep", ErrRefused)
	// ErrSize: longer than [Limits.Bytes].
	ErrSize = fmt.Errorf("%w: too large", ErrRefused)
)

// Limits bound what [ParseObject] takes. A zero field means its default.
type Limits struct {
	Bytes int // bytes of the whole text; default 1 MiB
	Depth int // levels of nesting; default 1000
}

const (
	defaultBytes = 1 << 20
	defaultDepth = 1000
)

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = defaultBytes
	}
	if l.Depth == 0 {
		l.Depth = defaultDepth
	}
	return l
}

// Member is one member of a JSON object in the order of the text. Value is a
// slice of the text that was parsed: not a copy.
type Member struct {
	Key   Text
	Value json.RawMessage
}

// ParseObject reads raw strictly, the whole tree, and returns the members of
// the top-level object: keys are exact (no case folding), duplicates at any
// level are refused, nothing may follow. Invalid UTF-8 and lone surrogates
// inside strings are accepted and kept: [Scan] flags them.
//
// Errors: [ErrSyntax], [ErrBOM], [ErrNotObject], [ErrTrailing],
// [ErrDuplicateKey], [ErrDepth], [ErrSize].
func ParseObject(raw []byte, lim Limits) ([]Member, error) {
	c := memberCollector{raw: raw}
	if err := walkJSON(raw, lim.withDefaults(), &c); err != nil {
		return nil, err
	}
	return c.members, nil
}

// ReadObject is [ParseObject] and [Scan] in one: the text is walked once. With an
// error the report is that on a text which is refused.
//
// Errors: those of [ParseObject].
func ReadObject(raw []byte, lim Limits) ([]Member, Report, error) {
	g := gate(raw)
	r := objectReader{scanner: scanner{raw: raw, collect: g.slow()}}
	r.members.raw, r.members.members = raw, r.room[:0]
	if err := walkJSON(raw, lim.withDefaults(), &r); err != nil {
		return nil, scanRefused(raw, err), err
	}
	return r.members.members, r.scanner.finish(g), nil
}

// objectReader collects members and what is seen in them.
type objectReader struct {
	scanner
	members memberCollector
	room    [8]Member
}

func (r *objectReader) key(depth, start, end int, escaped bool) {
	r.members.key(depth, start, end, escaped)
	r.scanner.key(depth, start, end, escaped)
}

func (r *objectReader) value(depth int, kind valueKind, start, end int, escaped bool) {
	r.members.value(depth, kind, start, end, escaped)
	r.scanner.value(depth, kind, start, end, escaped)
}

// Text returns the value as a text: null is the empty one. ok is false if it is
// neither that nor a string. Like [Text.UnmarshalJSON] it keeps invalid bytes and
// lone surrogates.
func (m Member) Text() (t Text, ok bool) {
	switch {
	case len(m.Value) >= 2 && m.Value[0] == '"':
		return Text{unquote(m.Value[1 : len(m.Value)-1])}, true
	case string(m.Value) == "null":
		return Text{}, true
	}
	return Text{}, false
}

// memberCollector keeps the members of the top level.
type memberCollector struct {
	raw     []byte
	members []Member
}

func (c *memberCollector) key(depth int, start, end int, escaped bool) {
	if depth != 1 {
		return
	}
	if c.members == nil {
		c.members = make([]Member, 0, 8)
	}
	c.members = append(c.members, Member{Key: Text{keyString(c.raw[start:end], escaped)}})
}

func (c *memberCollector) value(depth int, _ valueKind, start, end int, _ bool) {
	if depth == 1 {
		c.members[len(c.members)-1].Value = c.raw[start:end:end]
	}
}

func (c *memberCollector) open(int, int)     {}
func (c *memberCollector) sameFold(int, int) {}

// keyString returns the decoded key. The names that nearly every event has
// are not allocated again.
func keyString(b []byte, escaped bool) string {
	if escaped {
		return unquote(b)
	}
	switch string(b) {
	case "eventId":
		return "eventId"
	case "name":
		return "name"
	case "timestamp":
		return "timestamp"
	case "data":
		return "data"
	case "cursor":
		return "cursor"
	case "type":
		return "type"
	case "_meta":
		return "_meta"
	case "id":
		return "id"
	}
	return string(b)
}

var bom = []byte("\xef\xbb\xbf")

func syntaxError(raw []byte, at int, what string) error {
	if at == 0 && bytes.HasPrefix(raw, bom) {
		return ErrBOM
	}
	if at >= len(raw) {
		return fmt.Errorf("%w: it ends early, %s expected", ErrSyntax, what)
	}
	return fmt.Errorf("%w: %s expected at byte %d", ErrSyntax, what, at)
}
