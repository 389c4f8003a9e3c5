package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Refusals of [ParseObject]. All wrap [ErrRefused].
var (
	// ErrRefused is the root of every reason for which a JSON text is not taken.
	ErrRefused = errors.New("refused")
	// ErrSyntax: the text is not JSON.
	ErrSyntax = fmt.Errorf("%w: not valid JSON", ErrRefused)
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

// Member is one member of a JSON object in the order of the text. Value is a
// slice of the text that was parsed: not a copy.
type Member struct {
	Key   Text
	Value json.RawMessage
}

// ParseObject reads raw strictly, the whole tree, and returns the members of
// the top-level object: keys are exact (no case folding), duplicates at any
// level are refused, nothing may follow.
//
// Errors: [ErrSyntax], [ErrNotObject], [ErrTrailing], [ErrDuplicateKey],
// [ErrDepth], [ErrSize].
func ParseObject(raw []byte, lim Limits) ([]Member, error) {
	if lim.Bytes == 0 {
		lim.Bytes = 1 << 20
	}
	if lim.Depth == 0 {
		lim.Depth = 1000
	}
	if len(raw) > lim.Bytes {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are taken", ErrSize, len(raw), lim.Bytes)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var members []Member
	depth := 0
	var value func(top bool) error
	value = func(top bool) error {
		tok, err := dec.Token()
		if err != nil {
			return fmt.Errorf("%w: %v", ErrSyntax, err)
		}
		delim, ok := tok.(json.Delim)
		if !ok {
			if top {
				return ErrNotObject
			}
			return nil
		}
		if top && delim != '{' {
			return ErrNotObject
		}
		if depth++; depth > lim.Depth {
			return fmt.Errorf("%w: more than %d levels", ErrDepth, lim.Depth)
		}
		seen := map[string]bool{}
		for dec.More() {
			var key string
			if delim == '{' {
				k, err := dec.Token()
				if err != nil {
					return fmt.Errorf("%w: %v", ErrSyntax, err)
				}
				key = k.(string)
				if seen[key] {
					return fmt.Errorf("%w: %v", ErrDuplicateKey, Text{key})
				}
				seen[key] = true
			}
			start := dec.InputOffset()
			if err := value(false); err != nil {
				return err
			}
			if top {
				v := bytes.TrimLeft(raw[start:dec.InputOffset()], " \t\r\n:")
				members = append(members, Member{Key: Text{key}, Value: v})
			}
		}
		if _, err := dec.Token(); err != nil {
			return fmt.Errorf("%w: %v", ErrSyntax, err)
		}
		depth--
		return nil
	}
	if err := value(true); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, ErrTrailing
	}
	return members, nil
}

// AppendJSONString appends s to b as a JSON string. C0, U+007F to U+009F, bidi
// controls, tags, U+2028, U+2029, U+FEFF and invalid bytes are escaped; HTML
// characters are not.
func AppendJSONString(b []byte, s string) []byte {
	q, _ := json.Marshal(s)
	return append(b, q...)
}

// CompactJSON returns raw, which must be valid JSON, without white space between
// tokens: key order, duplicates and number spelling stay as received, and the
// characters that [AppendJSONString] escapes are escaped inside strings.
func CompactJSON(raw []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return AppendJSONString(nil, string(raw))
	}
	return b.Bytes()
}
