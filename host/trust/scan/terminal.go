package scan

import (
	"strings"

	"eventdeck/host/trust/internal/runes"
)

// control flags a control character and the sequence that it starts. Only the character
// itself is consumed: the rest is scanned as text, since a terminal that does not know the
// sequence would show it.
func (s *scanner) control(f *field, n runes.Unit) {
	rest := f.text[n.End:]
	switch {
	case n.R == 0x1b:
		s.escape(f, n, rest)
	case n.Class == runes.C1:
		s.span("term.c1", f, n.Start, n.End)
		if strings.ContainsRune("\u0090\u0098\u009b\u009d\u009e\u009f", n.R) {
			s.sequence(f, n.Start, n.R-0x40, rest)
		}
	case n.R == '\r':
		s.span("term.cr", f, n.Start, n.End)
	case n.R == '\b':
		s.span("term.bs", f, n.Start, n.End)
	default:
		s.span("term.c0", f, n.Start, n.End)
	}
}

// escape flags the sequence that an escape character starts.
func (s *scanner) escape(f *field, n runes.Unit, rest string) {
	if rest == "" {
		s.span("term.esc", f, n.Start, n.End)
		return
	}
	switch c := rest[0]; c {
	case '[', ']', 'P', '_', '^', 'X':
		s.sequence(f, n.Start, rune(c), rest[1:])
	case '\\':
		// The end of a sequence.
		s.flag("term.esc")
	default:
		s.span("term.esc", f, n.Start, min(n.End+1, len(f.text)))
	}
}

// sequence flags the control sequence of the given kind whose parameters are
// at the start of rest.
func (s *scanner) sequence(f *field, start int, kind rune, rest string) {
	base := len(f.text) - len(rest)
	if kind == '[' {
		s.csi(f, start, base, rest)
		return
	}
	end, ended := s.strings.end(f.text, base)
	body := f.text[base:end]
	mark := func(flag Flag) { s.span(flag, f, start, end) }
	if !ended {
		mark("term.unterminated")
	}
	switch kind {
	case ']':
		mark("term.osc")
		body = body[:min(len(body), maxCommand)]
		number, _, _ := strings.Cut(body, ";")
		switch number {
		case "0", "1", "2":
			mark("term.title")
		case "8":
			mark("term.osc8")
		case "52":
			mark("term.osc52")
		case "4", "10", "11", "12":
			if strings.Contains(body, "?") {
				mark("term.query")
			}
		}
	case 'P':
		mark("term.dcs")
		if strings.HasPrefix(body, "$q") || strings.HasPrefix(body, "+q") {
			mark("term.query")
		}
	case '_':
		mark("term.apc")
	case '^':
		mark("term.pm")
	case 'X':
		mark("term.sos")
	}
}

// csi flags a control sequence introduced by CSI.
func (s *scanner) csi(f *field, start, base int, rest string) {
	n := 0
	for n < len(rest) && rest[n] >= 0x20 && rest[n] <= 0x3f {
		n++
	}
	params, final, end := rest[:n], byte(0), base+n
	if n < len(rest) && rest[n] >= 0x40 && rest[n] <= 0x7e {
		final = rest[n]
		end++
	}
	mark := func(flag Flag) { s.span(flag, f, start, end) }
	mark("term.csi")
	if final == 0 {
		mark("term.unterminated")
	}
	switch {
	case final == 'n' || final == 'c' || final == 'q' && strings.HasPrefix(params, ">"),
		final == 't' && params != "" && !strings.HasPrefix(params, "8;"):
		mark("term.query")
	case (final == 'h' || final == 'l') && strings.HasPrefix(params, "?"):
		mark("term.mode")
	case final == 'm':
		for p := range strings.SplitSeq(params, ";") {
			if p == "8" {
				mark("term.conceal")
			}
		}
	}
}

// maxCommand bounds the part of an operating system command that is read, in bytes.
const maxCommand = 1024

// stringEnds finds the ends of the string sequences of one field. It caches the last one,
// so that many starts before one end do not cost quadratic time.
type stringEnds struct {
	text      string
	from, to  int // starts for which the answer is known
	at        int
	known     bool
	endedThen bool
}

// end returns the end of the string sequence whose content starts at base, and whether it
// is terminated.
func (e *stringEnds) end(text string, base int) (int, bool) {
	if !e.known || e.text != text || base < e.from || base > e.to {
		n, doubled, ended := stringSequence(text[base:])
		*e = stringEnds{text: text, from: base, to: base + doubled, at: base + n, known: true, endedThen: ended}
	}
	return e.at, e.endedThen
}

// stringSequence returns the length of a string sequence with its terminator, which is BEL,
// ESC \ or U+009C. Another escape cancels it, except that tmux doubles escapes that it
// passes through: doubled is the offset of the first of these, or of the end.
func stringSequence(s string) (n, doubled int, ended bool) {
	inner := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == 0x07:
			return i + 1, first(doubled, inner, i), true
		case s[i] == 0xc2 && i+1 < len(s) && s[i+1] == 0x9c:
			return i + 2, first(doubled, inner, i), true
		case s[i] != 0x1b:
		case i+1 < len(s) && s[i+1] == '\\':
			return i + 2, first(doubled, inner, i), true
		case i+1 < len(s) && s[i+1] == 0x1b && inner < 16:
			doubled = first(doubled, inner, i)
			inner++
			i++
		default:
			return i, first(doubled, inner, i), false
		}
	}
	return len(s), first(doubled, inner, len(s)), false
}

// first returns doubled if it is set, else i.
func first(doubled, inner, i int) int {
	if inner > 0 {
		return doubled
	}
	return i
}
