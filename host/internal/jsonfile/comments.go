package jsonfile

import (
	"eventdeck/host/internal/jsontext"
)

// plain blanks out comments and trailing commas, which people write into configuration
// files. Offsets stay the same. Unless flat is set, so do line ends in comments, for line
// numbers.
func plain(raw []byte, flat bool) []byte {
	out := make([]byte, len(raw))
	copy(out, raw)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if flat || out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	comma := -1     // offset of the last comma, if only blanks have followed it
	last := byte(0) // last byte that is neither blank nor comment
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			i = jsontext.StringEndIn(raw, i) - 1
			comma, last = -1, c
		case c == '/' && i+1 < len(raw) && (raw[i+1] == '/' || raw[i+1] == '*'):
			end := commentEnd(raw, i)
			blank(i, end)
			i = end - 1
		case c == ',' && last != '{' && last != '[' && last != ',':
			comma, last = i, c
		case (c == '}' || c == ']') && comma >= 0:
			blank(comma, comma+1)
			comma, last = -1, c
		case !isBlank(c):
			comma, last = -1, c
		}
	}
	return out
}

// commentEnd returns the offset after the comment at i. The line end is not part of it.
func commentEnd(raw []byte, i int) int {
	if raw[i+1] == '/' {
		for i < len(raw) && raw[i] != '\n' {
			i++
		}
		return i
	}
	for i += 2; i+1 < len(raw); i++ {
		if raw[i] == '*' && raw[i+1] == '/' {
			return i + 2
		}
	}
	return len(raw)
}
