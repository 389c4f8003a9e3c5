package trust

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// A lone surrogate is no code point. It is kept in the three bytes that UTF-8
// would use for it (WTF-8), so that it is not lost on the way; a pair of them
// can come from invalid bytes only.
const (
	surrMin = 0xd800
	lowMin  = 0xdc00
	surrMax = 0xdfff
)

// unquote decodes the inside of a JSON string that was read before. Invalid
// bytes stay as they are.
func unquote(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	return string(AppendUnquoted(make([]byte, 0, len(b)), b))
}

// AppendUnquoted appends to dst the text with its JSON escapes decoded: the
// inside of a JSON string, or a whole JSON text whose strings are to be searched.
// Anything else stays as it is, so that no input is wrong.
func AppendUnquoted[T []byte | string](dst []byte, b T) []byte {
	for i := 0; i < len(b); {
		c := b[i]
		if c != '\\' || i+1 >= len(b) {
			dst = append(dst, c)
			i++
			continue
		}
		r, n := escapeRune(b[i:])
		dst = appendRune(dst, r)
		i += n
	}
	return dst
}

// escapeRune decodes the escape at the start of b, of a pair of surrogates both.
func escapeRune[T []byte | string](b T) (r rune, n int) {
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, ok := hex4(b[2:])
		if !ok {
			return '\\', 1
		}
		if surrMin <= r && r < lowMin && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if low, ok := hex4(b[8:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, 12
				}
			}
		}
		return r, 6
	}
	return rune(b[1]), 2
}

// appendRune appends r as UTF-8, a surrogate as WTF-8.
func appendRune(b []byte, r rune) []byte {
	if surrMin <= r && r <= surrMax {
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(b, r)
}

// decodeRune reads the next rune of s. ok is false for a byte that is no part
// of one; a lone surrogate is returned as itself.
func decodeRune[T []byte | string](s T) (r rune, n int, ok bool) {
	if c := s[0]; c < utf8.RuneSelf {
		return rune(c), 1, true
	}
	if len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80 {
		return rune(0xd000) | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3, true
	}
	r, n = utf8.DecodeRune([]byte(s[:min(len(s), utf8.UTFMax)]))
	if r == utf8.RuneError && n == 1 {
		return rune(s[0]), 1, false
	}
	return r, n, true
}

func isSurrogate(r rune) bool { return surrMin <= r && r <= surrMax }

// lowSurrogateAt reports whether s begins with the second half of a pair.
func lowSurrogateAt[T []byte | string](s T) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1] >= 0xb0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80
}

// AppendJSONString appends s to b as a JSON string that can act on no
// terminal. C0, U+007F to U+009F, bidi controls, tags, U+2028, U+2029, U+FEFF
// and other characters without a glyph are escaped, invalid bytes as \u00XX;
// HTML characters are not.
func AppendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	b = appendEscaped(b, s)
	return append(b, '"')
}

func appendEscaped[T []byte | string](b []byte, s T) []byte {
	for i := 0; i < len(s); {
		if c := s[i]; c >= 0x20 && c < 0x7f {
			if c == '"' || c == '\\' {
				b = append(b, '\\')
			}
			b = append(b, c)
			i++
			continue
		}
		r, n, ok := decodeRune(s[i:])
		b = appendJSONRune(b, r, ok, ok && surrMin <= r && r < lowMin && lowSurrogateAt(s[i+n:]))
		i += n
	}
	return b
}

// appendJSONRune appends one code point, escaped where it must be. pairs says
// that r and what follows are the halves of a pair: they must not become one
// character.
func appendJSONRune(b []byte, r rune, ok, pairs bool) []byte {
	switch {
	case !ok:
		return appendU(b, r)
	case pairs:
		for _, c := range appendRune(nil, r) {
			b = appendU(b, rune(c))
		}
		return b
	case r == '\n':
		return append(b, '\\', 'n')
	case r == '\t':
		return append(b, '\\', 't')
	case r == '\r':
		return append(b, '\\', 'r')
	case !jsonEscaped(r):
		return utf8.AppendRune(b, r)
	case r > 0xffff:
		hi, lo := utf16.EncodeRune(r)
		return appendU(appendU(b, hi), lo)
	}
	return appendU(b, r)
}

func appendU(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// jsonEscaped tells which code points are escaped in JSON that we write.
// Joiners and variation selectors are left: emoji and Persian need them.
func jsonEscaped(r rune) bool {
	switch classOf(r) {
	case control, c1, bidi, tag, separator, nonchar, surrogate, private, unassigned:
		return true
	case invisible:
		return r != zwj && r != zwnj
	}
	return false
}

// CompactJSON returns raw, which must be valid JSON, without white space between
// tokens: key order, duplicates and number spelling stay as received, and the
// characters that [AppendJSONString] escapes are escaped inside strings and
// keys. Text that is not JSON becomes one JSON string.
func CompactJSON(raw []byte) []byte {
	return AppendCompactJSON(make([]byte, 0, len(raw)), raw)
}

// AppendCompactJSON appends what [CompactJSON] returns to b.
func AppendCompactJSON(b, raw []byte) []byte {
	if !json.Valid(raw) {
		return AppendJSONString(b, string(raw))
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\n', '\t', '\r':
			i++
		case '"':
			end := stringEnd(raw, i)
			b = append(b, '"')
			b = appendRequoted(b, raw[i+1:end-1])
			b = append(b, '"')
			i = end
		default:
			b = append(b, c)
			i++
		}
	}
	return b
}

// appendRequoted appends the inside of a JSON string: its escapes as they
// came, the rest as [AppendJSONString] writes it.
func appendRequoted(b, s []byte) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			b = append(b, c, s[i+1])
			i += 2
		case c >= 0x20 && c < 0x7f:
			b = append(b, c)
			i++
		default:
			// Bytes as received: a surrogate in them is invalid bytes.
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = appendU(b, rune(c))
			} else {
				b = appendJSONRune(b, r, true, false)
			}
			i += n
		}
	}
	return b
}

// stringEnd returns the offset behind the string whose quote is at i in valid
// JSON.
func stringEnd(raw []byte, i int) int {
	for j := i + 1; j < len(raw); j++ {
		switch raw[j] {
		case '"':
			return j + 1
		case '\\':
			j++
		}
	}
	return len(raw)
}
