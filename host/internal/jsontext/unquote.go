package jsontext

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// A lone surrogate is not a character. It is kept in the three bytes that UTF-8 would use
// for it (WTF-8), so that it is not lost; a pair of them can only come from invalid bytes.
const (
	surrMin = 0xd800
	lowMin  = 0xdc00
	surrMax = 0xdfff
)

// IsSurrogate reports whether r is half of a surrogate pair.
func IsSurrogate(r rune) bool { return surrMin <= r && r <= surrMax }

// IsHighSurrogate reports whether r is the first half of a surrogate pair.
func IsHighSurrogate(r rune) bool { return surrMin <= r && r < lowMin }

// Unquote decodes the inside of a JSON string that was checked before. Invalid bytes stay
// as they are.
func Unquote(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 {
		return string(b)
	}
	return string(AppendUnquoted(make([]byte, 0, len(b)), b))
}

// AppendUnquoted appends b to dst with its JSON escapes decoded: the inside of a JSON
// string, or a whole JSON text whose strings are to be searched. Invalid escapes stay as
// they are.
func AppendUnquoted[T []byte | string](dst []byte, b T) []byte {
	for i := 0; i < len(b); {
		c := b[i]
		if c != '\\' || i+1 >= len(b) {
			dst = append(dst, c)
			i++
			continue
		}
		r, n := EscapedRune(b[i:])
		dst = AppendRune(dst, r)
		i += n
	}
	return dst
}

// EscapedRune decodes the escape at the start of b, or both escapes of a surrogate pair.
func EscapedRune[T []byte | string](b T) (r rune, n int) {
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
		if IsHighSurrogate(r) && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
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

// AppendRune appends r as UTF-8, a surrogate as WTF-8.
func AppendRune(b []byte, r rune) []byte {
	if IsSurrogate(r) {
		return append(b, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(b, r)
}

// AppendEscape appends the \u escape of a code unit.
func AppendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

// hex4 reads four hexadecimal digits.
func hex4[T []byte | string](b T) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		c := b[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
