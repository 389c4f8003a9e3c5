package cells

import (
	"unicode"
	"unicode/utf8"

	"eventdeck/host/trust"
	"eventdeck/themes"
)

// highlighted splits the segments of a line so that each match of text, which is in lower case, is
// a span of its own. A match may run over several segments. Marks are not split.
func highlighted(line trust.Rendered, text string) []trust.Segment {
	plain := line.Plain()
	var out []trust.Segment
	begin, end, from := -1, -1, 0 // the match at or after from
	for _, s := range line.Segments {
		for until := from + len(s.Text); from < until; {
			if end <= from {
				at, n := indexFold(plain[from:], text)
				if begin, end = len(plain), len(plain)+1; at >= 0 {
					begin, end = from+at, from+at+n
				}
			}
			next, span := min(begin, until), s.Span
			if begin <= from {
				next, span = min(end, until), foundSpan
			}
			if s.Mark {
				next, span = until, s.Span
			}
			out = append(out, trust.Segment{Text: s.Text[len(s.Text)-(until-from) : len(s.Text)-(until-next)], Mark: s.Mark, Span: span, Kind: s.Kind})
			from = next
		}
	}
	return out
}

// foundSpan is the span number of search matches, above all numbers that findings have.
const foundSpan = 1 << 30

// pinRoles are the roles of pinned values; each has an attribute in every theme.
var pinRoles = [...]themes.Role{themes.FieldOn, themes.TitleOn, themes.Alarm}

// PinsMax is the number of values that can be pinned, each in a role of its own.
const PinsMax = len(pinRoles)

// pinned splits segments so that pinned values are spans of their own where they are whole words
// or numbers.
func pinned(parts []trust.Segment, pins []string) []trust.Segment {
	for i, pin := range pins {
		var out []trust.Segment
		for _, s := range parts {
			if s.Mark || s.Span >= foundSpan {
				out = append(out, s)
				continue
			}
			out = appendPinned(out, s, pin, foundSpan+1+i)
		}
		parts = out
	}
	return parts
}

func appendPinned(out []trust.Segment, s trust.Segment, pin string, span int) []trust.Segment {
	from := 0 // the text before has no match
	for from < len(s.Text) {
		at, n := indexFold(s.Text[from:], pin)
		if at < 0 {
			break
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(s.Text[:at])
		after, _ := utf8.DecodeRuneInString(s.Text[at+n:])
		if isWord(before) || isWord(after) {
			from = at + n
			continue
		}
		if at > 0 {
			out = append(out, trust.Segment{Text: s.Text[:at], Span: s.Span, Kind: s.Kind})
		}
		out = append(out, trust.Segment{Text: s.Text[at : at+n], Span: span, Kind: s.Kind})
		s.Text, from = s.Text[at+n:], 0
	}
	if s.Text != "" {
		out = append(out, s)
	}
	return out
}

// isWord reports whether r belongs to a word. [utf8.RuneError], which stands for an end of the
// text, does not.
func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// indexFold returns the position and the length in bytes of the first match of text in s, ignoring
// case; at is -1 if there is none. text is in lower case.
func indexFold(s, text string) (at, n int) {
	for i := range s {
		if n := prefixFold(s[i:], text); n > 0 {
			return i, n
		}
	}
	return -1, 0
}

// prefixFold returns how many bytes at the beginning of s match text, ignoring case; 0 if s does
// not begin with it.
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
