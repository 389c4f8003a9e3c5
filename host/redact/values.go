package redact

import (
	"slices"
	"strings"
)

// leastPart is the length, in bytes, of the beginnings by which values are found. As long a
// beginning is masked where a text is cut off.
const leastPart = 4

// values finds thousands of values in a text in one pass. The zero value is empty.
type values struct {
	byHead map[[leastPart]byte][]string
	marks  [1 << markBits / 64]uint64 // bits: a value has a beginning with this hash
}

const markBits = 16

func headOf(s string) [leastPart]byte { return [leastPart]byte([]byte(s[:leastPart])) }

// add adds a value of at least leastPart bytes.
func (v *values) add(text string) {
	head := headOf(text)
	if slices.Contains(v.byHead[head], text) {
		return
	}
	if v.byHead == nil {
		v.byHead = map[[leastPart]byte][]string{}
	}
	v.byHead[head] = append(v.byHead[head], text)
	mark := markOf(text)
	v.marks[mark/64] |= 1 << (mark % 64)
}

// remove removes a value.
func (v *values) remove(text string) {
	head := headOf(text)
	left := slices.DeleteFunc(v.byHead[head], func(have string) bool { return have == text })
	if v.byHead[head] = left; len(left) == 0 {
		delete(v.byHead, head)
	}
}

func (v *values) empty() bool { return v == nil || len(v.byHead) == 0 }

// has reports whether a text is one of the values.
func (v *values) has(text string) bool {
	return !v.empty() && len(text) >= leastPart && slices.Contains(v.byHead[headOf(text)], text)
}

// in reports whether replace would mask something.
func (v *values) in(text string, cut bool) bool {
	if v.empty() {
		return false
	}
	encoded := strings.ContainsAny(text, "%+")
	for at := 0; at+leastPart <= len(text); at++ {
		if (encoded || v.begins(text[at:])) && v.longest(text, at, cut) > 0 {
			return true
		}
	}
	return false
}

// begins reports whether a value may begin like a text. It rules out nearly all texts.
func (v *values) begins(text string) bool {
	mark := markOf(text)
	return v.marks[mark/64]>>(mark%64)&1 == 1
}

// markOf hashes the first bytes of a text.
func markOf(text string) uint32 {
	head := uint32(text[0])<<24 | uint32(text[1])<<16 | uint32(text[2])<<8 | uint32(text[3])
	return head * 0x9e3779b1 >> (32 - markBits)
}

// replace masks the values in a text without escapes other than those of URLs. With cut it
// also masks the beginning of a value at the end of the text, or before an ellipsis or line
// break. Overlapping values are masked as one.
func (v *values) replace(text string, cut bool) string {
	if v.empty() {
		return text
	}
	var out strings.Builder
	done, until := 0, 0 // written; masked
	encoded := strings.ContainsAny(text, "%+")
	for at := 0; at+leastPart <= len(text); at++ {
		if !encoded && !v.begins(text[at:]) {
			continue
		}
		if end := v.longest(text, at, cut); end > until {
			if at >= until {
				out.WriteString(text[done:at])
				out.WriteString(Shown)
			}
			done, until = end, end
		}
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// longest returns the end of the longest value that begins at an offset of a text, 0 if
// none does.
func (v *values) longest(text string, at int, cut bool) (end int) {
	rest := text[at:]
	try := func(head [leastPart]byte) {
		for _, value := range v.byHead[head] {
			size, fits := spelled(rest, value)
			if !fits {
				size = 0
				if cut {
					size = cutOff(rest, value)
				}
			}
			if size > 0 && !(fits && partOfNumber(text, value, at, at+size)) {
				end = max(end, at+size)
			}
		}
	}
	if strings.IndexByte(rest[:leastPart], '%') >= 0 || strings.IndexByte(rest[:leastPart], '+') >= 0 {
		heads(rest, [leastPart]byte{}, 0, try)
	} else if v.begins(rest) {
		try(headOf(rest))
	}
	return end
}

// cutOff returns the length of the cut-off value with which a text begins, 0 if there is
// none.
func cutOff(text, value string) int {
	if i := strings.IndexAny(text, "\n…"); i >= 0 {
		text = text[:i]
	}
	if size, fits := spelled(text, value); !fits && size == len(text) {
		return size
	}
	return 0
}

// heads calls found with each possible decoding of the beginning of a text with URL
// encoding.
func heads(text string, head [leastPart]byte, n int, found func([leastPart]byte)) {
	if n == leastPart {
		found(head)
		return
	}
	if text == "" {
		return
	}
	head[n] = text[0]
	heads(text[1:], head, n+1, found)
	switch {
	case text[0] == '+':
		head[n] = ' '
		heads(text[1:], head, n+1, found)
	case text[0] == '%' && len(text) >= 3:
		if hi, lo := hexDigit(text[1]), hexDigit(text[2]); hi >= 0 && lo >= 0 {
			head[n] = byte(hi<<4 | lo)
			heads(text[3:], head, n+1, found)
		}
	}
}

// spelled reports whether a text begins with a value, plain or URL-encoded, and the length
// of that. If the text ends within the value, size is the length of the matching part, else
// 0.
func spelled(text, value string) (size int, fits bool) {
	if strings.HasPrefix(text, value) {
		return len(value), true
	}
	for i := range len(value) {
		rest := text[size:]
		switch {
		case rest == "", rest[0] == '%' && len(rest) < 3:
			return len(text), false
		case rest[0] == '%' && hexDigit(rest[1])<<4|hexDigit(rest[2]) == int(value[i]):
			size += 3
		case rest[0] == value[i], rest[0] == '+' && value[i] == ' ':
			size++
		default:
			return 0, false
		}
	}
	return size, true
}

// hexDigit returns the value of a hexadecimal digit, a negative number for another
// character.
func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1 << 8
}

// partOfNumber reports whether a value of digits is part of a longer number.
func partOfNumber(text, value string, from, to int) bool {
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for i := range len(value) {
		if !digit(value[i]) {
			return false
		}
	}
	return from > 0 && digit(text[from-1]) || to < len(text) && digit(text[to])
}
