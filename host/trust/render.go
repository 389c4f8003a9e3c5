package trust

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Segment is a run of cells of one kind. Its text is safe to print.
type Segment struct {
	Text string // safe text
	Mark bool   // stands for something that is not shown as it came
}

// Rendered is one line of safe text, ready to be laid out. Its width is known
// before any style is added.
type Rendered struct {
	Segments []Segment
	Width    int // cells
}

// Plain returns the line without styles.
func (r Rendered) Plain() string {
	var b strings.Builder
	for _, s := range r.Segments {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Line returns the one-line form of t: line feeds and tabs are marks too.
func Line(t Text) Rendered {
	var r Rendered
	for s := t.s; s != ""; {
		c, n := utf8.DecodeRuneInString(s)
		if c == utf8.RuneError && n == 1 {
			r.add(fmt.Sprintf(`\x%02x`, s[0]), true)
		} else if unsafeRune(c) {
			r.add(token(c), true)
		} else {
			r.add(string(c), false)
		}
		s = s[n:]
	}
	return r
}

func (r *Rendered) add(s string, mark bool) {
	r.Width += ansi.StringWidth(s)
	if n := len(r.Segments); n > 0 && r.Segments[n-1].Mark == mark {
		r.Segments[n-1].Text += s
		return
	}
	r.Segments = append(r.Segments, Segment{Text: s, Mark: mark})
}

func unsafeRune(c rune) bool { return !unicode.IsGraphic(c) || unicode.Is(unicode.Mn, c) }

func token(c rune) string {
	switch {
	case c < 0x80:
		return fmt.Sprintf(`\x%02x`, c)
	case c <= 0xffff:
		return fmt.Sprintf(`\u%04x`, c)
	}
	return fmt.Sprintf(`\U%08x`, c)
}
