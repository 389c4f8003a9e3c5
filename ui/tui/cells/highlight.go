package cells

import (
	"unicode"
	"unicode/utf8"

	"eventdeck/host/trust"
)

// highlighted parts a segment so that what is searched stands in spans of its own.
func highlighted(s trust.Segment, text string) []trust.Segment {
	if s.Mark {
		return []trust.Segment{s}
	}
	var out []trust.Segment
	for s.Text != "" {
		at, n := indexFold(s.Text, text)
		if at < 0 {
			break
		}
		if at > 0 {
			out = append(out, trust.Segment{Text: s.Text[:at], Span: s.Span})
		}
		out = append(out, trust.Segment{Text: s.Text[at : at+n], Span: foundSpan})
		s.Text = s.Text[at+n:]
	}
	if s.Text != "" {
		out = append(out, s)
	}
	return out
}

// foundSpan is the span of what was searched and found; spans of findings are
// counted from 1.
const foundSpan = 1 << 30

// indexFold returns place and length of the first text in s without regard to
// case. text is in lower case.
func indexFold(s, text string) (at, n int) {
	for i := range s {
		if n := prefixFold(s[i:], text); n > 0 {
			return i, n
		}
	}
	return -1, 0
}

// prefixFold returns how many bytes of s are text, 0 if s does not begin so.
func prefixFold(s, text string) int {
	n := 0
	for _, want := range text {
		r, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || unicode.ToLower(r) != want {
			return 0
		}
		n += size
	}
	return n
}
