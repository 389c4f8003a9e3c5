package jsontext

import (
	"bytes"
	"errors"
	"fmt"
)

// Refusals of [Walk]. All wrap [ErrRefused].
var (
	// ErrRefused is the root of every reason for which a JSON text is refused.
	ErrRefused = errors.New("refused")
	// ErrSyntax: the text is not JSON.
	ErrSyntax = fmt.Errorf("%w: not valid JSON", ErrRefused)
	// ErrBOM: the text starts with a byte order mark. It wraps [ErrSyntax].
	ErrBOM = fmt.Errorf("%w: it starts with a byte order mark", ErrSyntax)
	// ErrNotObject: the text is JSON, but its top level is not an object.
	ErrNotObject = fmt.Errorf("%w: not a JSON object", ErrRefused)
	// ErrTrailing: something follows the first JSON value.
	ErrTrailing = fmt.Errorf("%w: data after the JSON object", ErrRefused)
	// ErrDuplicateKey: an object has the same key twice.
	ErrDuplicateKey = fmt.Errorf("%w: duplicate key", ErrRefused)
	// ErrDepth: nested deeper than [Limits.Depth].
	ErrDepth = fmt.Errorf("%w: nested too deep", ErrRefused)
	// ErrSize: longer than [Limits.Bytes].
	ErrSize = fmt.Errorf("%w: too large", ErrRefused)
)

// Limits bound the texts that [Walk] accepts. A zero field means its default.
type Limits struct {
	Bytes int // bytes of the whole text; default 1 MiB
	Depth int // levels of nesting; default 1000
}

// Default limits.
const (
	DefaultBytes = 1 << 20
	DefaultDepth = 1000
)

// WithDefaults returns the limits with defaults for zero fields.
func (l Limits) WithDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = DefaultBytes
	}
	if l.Depth == 0 {
		l.Depth = DefaultDepth
	}
	return l
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

// DuplicateError is an [ErrDuplicateKey] with the key. Its text does not contain the key,
// which is untrusted.
type DuplicateError struct{ Key string }

func (e *DuplicateError) Error() string { return ErrDuplicateKey.Error() }

func (e *DuplicateError) Unwrap() error { return ErrDuplicateKey }
