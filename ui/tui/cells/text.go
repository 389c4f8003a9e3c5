package cells

import (
	"path/filepath"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
)

// Sanitize renders text of the operator or the program for a row: names and errors may contain
// pasted text or a server's words.
func Sanitize(s string) trust.Rendered { return trust.Line(trust.Unescaped(s)) }

// Pad pads an ASCII text with blanks to n cells, and adds one more blank.
func Pad(s string, n int) string {
	for len(s) < n {
		s += " "
	}
	return s + " "
}

// Wrap sanitizes a text and returns it in lines of at most width cells, without those beyond
// maxLines.
func Wrap(text string, width, maxLines int) []trust.Rendered {
	lines := trust.Block(trust.Unescaped(text), max(1, width))
	return lines[:min(len(lines), maxLines)]
}

// Pan returns a line with an ellipsis in place of its first cells. Marks are kept whole.
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

// Fold breaks a rendered line into lines of at most width cells. Nothing is left out.
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

// Between returns the cells from up to, but not including, to of a safe text. Cells beyond its end
// and the visible parts of wide characters that are cut become blanks.
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

// Join concatenates rendered texts.
func Join(lines ...trust.Rendered) trust.Rendered {
	var out trust.Rendered
	for _, l := range lines {
		out.Segments = append(out.Segments, l.Segments...)
		out.Width += l.Width
	}
	return out
}

// PadLeft pads an ASCII text on the left to n cells.
func PadLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-len(s))) + s
}

// WholeParts drops parts from the end of a list until it fits into room cells; the first part
// stays.
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

// HasText reports whether s contains lower, a text in lower case, ignoring the case of s.
func HasText(s, lower string) bool { return strings.Contains(strings.ToLower(s), lower) }

// ShortPath shortens a long path to its last two elements.
func ShortPath(path string) string {
	if len(path) <= 40 {
		return path
	}
	return filepath.Join("…", filepath.Base(filepath.Dir(path)), filepath.Base(path))
}
