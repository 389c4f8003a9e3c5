package jsonfile

import (
	"eventdeck/host/internal/jsontext"
)

// plain blanks what JSON does not know but people write into configuration
// files: comments and a comma behind the last member. Offsets stay as they are.
// Line ends in comments stay too, so that places can be named, unless flat is
// set.
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
	comma := -1     // of a comma behind a member, while nothing but blanks came after it
	last := byte(0) // what is no blank and no comment
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

// commentEnd returns the offset behind the comment at i. The line end is no part
// of it.
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
