package jsontext

import (
	"strings"
	"unsafe"
)

// Members iterates over the members of an object, or the elements of an array, in place.
// The text should have been checked before: an invalid one ends at its first error.
type Members struct {
	Key        string // without quotes, not decoded; "" in an array
	Value, End int    // bounds of the value
	Object     bool   // not an array

	text string
	at   int
}

// Enter starts at the bracket at text[at].
func Enter(text string, at int) Members {
	return Members{text: text, at: at + 1, Object: text[at] == '{'}
}

// Next advances to the next member or element, initially the first, and reports whether
// there is one.
func (m *Members) Next() bool {
	s := m.text
	i := SkipSpace(s, m.at)
	if i < len(s) && s[i] == ',' {
		i = SkipSpace(s, i+1)
	}
	if m.Object {
		if i >= len(s) || s[i] != '"' {
			return false
		}
		end, _ := StringEnd(s, i)
		m.Key = s[i+1 : max(i+1, end-1)]
		if i = SkipSpace(s, end); i >= len(s) || s[i] != ':' {
			return false
		}
		i = SkipSpace(s, i+1)
	}
	if i >= len(s) || s[i] == ']' || s[i] == '}' {
		return false
	}
	m.Value, m.End = i, ValueEnd(s, i)
	m.at = m.End
	return m.End > i
}

// SkipSpace returns the offset of the first byte from i on that is not white space.
func SkipSpace[T []byte | string](s T, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// StringEnd returns the offset after the string whose opening quote is at i, and whether it
// is closed; if not, end is the end of the text.
func StringEnd(s string, i int) (end int, closed bool) {
	for j := i + 1; ; {
		step := strings.IndexByte(s[j:], '"')
		if step < 0 {
			return len(s), false
		}
		j += step + 1
		back := j - 2
		for back > i && s[back] == '\\' {
			back--
		}
		if (j-2-back)%2 == 0 {
			return j, true
		}
	}
}

// StringEndIn is [StringEnd] for bytes, without closed.
func StringEndIn(raw []byte, i int) int {
	end, _ := StringEnd(View(raw), i)
	return end
}

// ValueEnd returns the offset after the value that begins at i.
func ValueEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			i, _ = StringEnd(s, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		case ':':
			i++
			continue
		default:
			for i++; i < len(s) && !endsScalar(s[i]); i++ {
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

func endsScalar(c byte) bool {
	switch c {
	case '"', '{', '}', '[', ']', ',', ':', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// Depth returns how deep the objects and arrays of a text are nested.
func Depth(raw []byte) int {
	depth, most := 0, 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = StringEndIn(raw, i) - 1
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

// Inside returns a string without its quotes, not decoded, or another scalar as it is.
func Inside(value string) string {
	if len(value) >= 2 && value[0] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

// View returns bytes as a string without a copy. They must not change.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
