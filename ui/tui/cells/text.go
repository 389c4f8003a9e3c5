package cells

import (
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
)

// Sanitize renders text of the operator or the program for a row: names and errors
// may have been pasted or hold a server's words.
func Sanitize(s string) trust.Rendered { return trust.Line(trust.Unescaped(s)) }

// Pad appends blanks to an ASCII text up to n cells, and one more blank.
func Pad(s string, n int) string {
	for len(s) < n {
		s += " "
	}
	return s + " "
}

// Wrap sanitizes a text and breaks it into at most so many lines of at most width cells.
func Wrap(text string, width, most int) []trust.Rendered {
	lines := trust.Block(trust.Unescaped(text), max(1, width))
	return lines[:min(len(lines), most)]
}

// Pan returns a line without its first cells: an ellipsis stands for them.
// Tokens are kept whole.
func Pan(line trust.Rendered, cells int) trust.Rendered {
	if cells <= 0 || line.Width == 0 {
		return line
	}
	out := trust.Rendered{Segments: []trust.Segment{{Text: trust.CutMark, Mark: true}}, Width: 1}
	left := cells + 1
	for _, s := range line.Segments {
		w := ansi.StringWidth(s.Text)
		if left >= w && left > 0 {
			left -= w
			continue
		}
		if left > 0 && !s.Mark {
			for left > 0 && s.Text != "" {
				n, cw := cluster(s.Text)
				s.Text, left, w = s.Text[n:], left-cw, w-cw
			}
		}
		left = 0
		out.Segments = append(out.Segments, s)
		out.Width += w
	}
	return out
}

// Fold breaks a rendered line into lines of at most width cells. Marks are kept with their
// text; what does not fit goes on in the next line, nothing is left out.
func Fold(line trust.Rendered, width int) []trust.Rendered {
	width = max(1, width)
	out := []trust.Rendered{{}}
	for _, s := range line.Segments {
		for rest := s.Text; rest != ""; {
			at := &out[len(out)-1]
			n, cells := 0, 0
			for n < len(rest) {
				k, w := cluster(rest[n:])
				if at.Width+cells+w > width && at.Width+cells > 0 {
					break
				}
				n, cells = n+k, cells+w
			}
			if n == 0 {
				out = append(out, trust.Rendered{})
				continue
			}
			part := s
			part.Text, rest = rest[:n], rest[n:]
			at.Segments, at.Width = append(at.Segments, part), at.Width+cells
		}
	}
	return out
}

// Between returns the cells of a safe text from one place to another, with blanks for what
// is not there and for wide characters of which only a part would be.
func Between(s string, from, to int) string {
	var b strings.Builder
	at := 0
	for s != "" && at < to {
		n, w := cluster(s)
		switch {
		case at >= from && at+w <= to:
			b.WriteString(s[:n])
		case at+w > from:
			b.WriteString(strings.Repeat(" ", min(at+w, to)-max(at, from)))
		}
		at += w
		s = s[n:]
	}
	b.WriteString(strings.Repeat(" ", max(0, to-max(at, from))))
	return b.String()
}

// Join concatenates rendered texts to one line.
func Join(lines ...trust.Rendered) trust.Rendered {
	var out trust.Rendered
	for _, l := range lines {
		out.Segments = append(out.Segments, l.Segments...)
		out.Width += l.Width
	}
	return out
}

// PadLeft puts blanks before an ASCII text up to n cells.
func PadLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-len(s))) + s
}

// WholeParts leaves out the last parts of a list that do not fit, but not the
// first one.
func WholeParts(text, sep string, room int) string {
	for ansi.StringWidth(text) > room {
		i := strings.LastIndex(text, sep)
		if i <= 0 {
			break
		}
		text = text[:i]
	}
	return text
}

// Sentence writes words with a capital letter, if they begin with an ASCII one, and a full stop;
// "" stays "".
func Sentence(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:] + "."
}

// HasText reports whether s holds a text in lower case, without regard to case.
func HasText(s, lower string) bool { return strings.Contains(strings.ToLower(s), lower) }

// ShortPath keeps the end of a long path.
func ShortPath(path string) string {
	if len(path) <= 40 {
		return path
	}
	return filepath.Join("…", filepath.Base(filepath.Dir(path)), filepath.Base(path))
}
