package trust

import (
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"

	"eventdeck/host/internal/jsontext"
	"eventdeck/host/trust/internal/runes"
)

// lowSurrogateAt reports whether s begins with the second half of a pair.
func lowSurrogateAt[T []byte | string](s T) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1] >= 0xb0 && s[1] <= 0xbf && s[2]&0xc0 == 0x80
}

// AppendJSONString appends s to b as a JSON string that is safe for terminals. C0, U+007F
// to U+009F, bidi controls, tags, U+2028, U+2029, U+FEFF and other characters without a
// glyph are escaped, invalid bytes as \u00XX; HTML characters are not.
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
		r, n, ok := runes.DecodeRune(s[i:])
		b = appendJSONRune(b, r, ok, ok && jsontext.IsHighSurrogate(r) && lowSurrogateAt(s[i+n:]))
		i += n
	}
	return b
}

// appendJSONRune appends one code point, escaped if it must be. pairs says that r and the
// next rune are the halves of a surrogate pair: they must not become one character.
func appendJSONRune(b []byte, r rune, ok, pairs bool) []byte {
	switch {
	case !ok:
		return jsontext.AppendEscape(b, r)
	case pairs:
		for _, c := range jsontext.AppendRune(nil, r) {
			b = jsontext.AppendEscape(b, rune(c))
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
		return jsontext.AppendEscape(jsontext.AppendEscape(b, hi), lo)
	}
	return jsontext.AppendEscape(b, r)
}

// jsonEscaped reports whether a code point is escaped in the JSON that we write. Joiners
// and variation selectors are not: emoji and Persian need them.
func jsonEscaped(r rune) bool {
	switch runes.ClassOf(r) {
	case runes.Control, runes.C1, runes.Bidi, runes.Tag, runes.Separator, runes.Nonchar, runes.Surrogate, runes.Private, runes.Unassigned:
		return true
	case runes.Invisible:
		return r != runes.ZWJ && r != runes.ZWNJ
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
			end := jsontext.StringEndIn(raw, i)
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
			// Raw bytes: a surrogate in them is invalid.
			r, n := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && n == 1 {
				b = jsontext.AppendEscape(b, rune(c))
			} else {
				b = appendJSONRune(b, r, true, false)
			}
			i += n
		}
	}
	return b
}
