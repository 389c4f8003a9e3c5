package tui

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
	"eventdeck/themes"
)

// canvas writes the rows of one pane into one buffer. Every row has exactly
// width cells: what is too long is clipped, what is short is filled.
type canvas struct {
	theme *themes.Theme
	width int

	buf  []byte
	ends []int // where each row ends in buf

	room    int         // cells left in the row that is being written
	found   string      // what is searched, in lower case: it is highlighted
	span    int         // the span that is explained, as [trust.Segment.Span]
	base    themes.Role // what Plain means in this row
	forced  bool        // base replaces every role but marks
	role    themes.Role // last role written
	started bool
}

// begin starts a pane of the given width. The buffer is used again.
func (c *canvas) begin(theme *themes.Theme, width int) {
	c.theme, c.width, c.span, c.found = theme, width, 0, ""
	c.buf, c.ends = c.buf[:0], c.ends[:0]
	c.startRow()
}

func (c *canvas) startRow() {
	c.room, c.base, c.forced, c.started = c.width, themes.Plain, false, false
}

// only gives the whole row one role; marks keep their attribute.
func (c *canvas) only(r themes.Role) { c.base, c.forced = r, true }

func (c *canvas) style(r themes.Role) {
	if c.forced || r == themes.Plain {
		r = c.base
	}
	if c.started && r == c.role {
		return
	}
	c.buf = append(c.buf, c.theme.On(r)...)
	c.role, c.started = r, true
}

// put writes our own text.
func (c *canvas) put(r themes.Role, s string) {
	if c.room <= 0 || s == "" {
		return
	}
	c.style(r)
	c.text(s)
}

// text appends what fits of safe text.
func (c *canvas) text(s string) {
	if ascii(s) {
		if len(s) > c.room {
			s = s[:c.room]
		}
		c.buf = append(c.buf, s...)
		c.room -= len(s)
		return
	}
	for s != "" {
		n, w := cluster(s)
		if w > c.room {
			c.fill(c.room)
			return
		}
		c.buf = append(c.buf, s[:n]...)
		c.room -= w
		s = s[n:]
	}
}

// safe writes a rendered line of a server. Marks and spans are told apart by an
// attribute in every theme, marks also in a selected row.
func (c *canvas) safe(r themes.Role, line trust.Rendered) {
	if c.found == "" {
		c.segments(r, line.Segments)
		return
	}
	for _, s := range line.Segments {
		c.segments(r, highlighted(s, c.found))
	}
}

func (c *canvas) segments(r themes.Role, segments []trust.Segment) {
	for _, s := range segments {
		if c.room <= 0 {
			return
		}
		role := r
		switch {
		case s.Span == foundSpan, s.Span > 0 && s.Span == c.span:
			role = themes.SpanOn
		case s.Span > 0 && s.Mark:
			role = themes.SpanMark
		case s.Span > 0:
			role = themes.Span
		case s.Mark:
			role = themes.Mark
		default:
			c.put(r, s.Text)
			continue
		}
		c.mark(role)
		c.text(s.Text)
	}
}

// mark begins a role that is told apart by an attribute also in a chosen row.
func (c *canvas) mark(r themes.Role) {
	if c.started && r == c.role {
		return
	}
	on := c.theme.On(r)
	if c.forced {
		on = c.theme.Over(c.base, r)
	}
	c.buf = append(c.buf, on...)
	c.role, c.started = r, true
}

// column writes a rendered line into exactly width cells.
func (c *canvas) column(r themes.Role, line trust.Rendered, width int) {
	width = min(width, c.room)
	line = line.Clip(width)
	c.safe(r, line)
	c.style(themes.Plain)
	c.fill(width - line.Width)
}

// right writes s at the end of the row, if there is room for it and a blank.
func (c *canvas) right(r themes.Role, s string) {
	w := ansi.StringWidth(s)
	if w == 0 || w+1 > c.room {
		return
	}
	c.style(themes.Plain)
	c.fill(c.room - w)
	c.put(r, s)
}

// line fills the rest of the row with a glyph of one cell.
func (c *canvas) line(r themes.Role, glyph string) {
	if c.room <= 0 {
		return
	}
	c.style(r)
	for ; c.room > 0; c.room-- {
		c.buf = append(c.buf, glyph...)
	}
}

func (c *canvas) fill(n int) {
	for n = min(n, c.room); n > 0; n-- {
		c.buf = append(c.buf, ' ')
		c.room--
	}
}

// end fills the row and goes on to the next.
func (c *canvas) end() {
	c.style(themes.Plain)
	c.fill(c.room)
	c.buf = append(c.buf, themes.Reset...)
	c.ends = append(c.ends, len(c.buf))
	c.startRow()
}

// rows returns exactly height rows: more are cut, missing ones are blank.
func (c *canvas) rows(height int, into []string) []string {
	for len(c.ends) < height {
		c.end()
	}
	all := string(c.buf)
	into = into[:0]
	start := 0
	for _, end := range c.ends[:height] {
		into = append(into, all[start:end])
		start = end
	}
	return into
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// cluster returns the bytes and cells of the first grapheme cluster of s.
func cluster(s string) (n, w int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, 1
	}
	g, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(g), w
}

// ours renders text of the operator or the program for a row: names and errors
// may have been pasted or hold a server's words.
func ours(s string) trust.Rendered { return trust.Line(trust.Untrusted(s)) }
