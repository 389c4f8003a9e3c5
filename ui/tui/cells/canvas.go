package cells

import (
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host/trust"
	"eventdeck/themes"
)

// Canvas writes the rows of one pane into one buffer. Every row has exactly Width cells: longer
// text is clipped, shorter rows are padded with blanks.
type Canvas struct {
	theme *themes.Theme
	Width int

	buf  []byte
	ends []int // where each row ends in buf

	Room    int         // cells left in the current row
	Found   string      // the searched text in lower case; matches are highlighted
	Pins    []string    // values in lower case, each highlighted in its role
	Span    int         // the span that is explained; see [trust.Segment.Span]
	base    themes.Role // the role of plain text in this row
	forced  bool        // base replaces every role except those of marks
	role    themes.Role // last role written
	started bool

	Cursor Point // the cursor of the terminal; X is -1 if no text is typed here
}

// Begin clears the canvas for a pane of width cells. The buffer is reused; rows that were returned
// before are copies and stay valid.
func (c *Canvas) Begin(theme *themes.Theme, width int) {
	c.theme, c.Width, c.Span, c.Found, c.Pins = theme, width, 0, "", nil
	c.buf, c.ends, c.Cursor = c.buf[:0], c.ends[:0], Point{X: -1}
	c.startRow()
}

func (c *Canvas) startRow() {
	c.Room, c.base, c.forced, c.started = c.Width, themes.Plain, false, false
}

// Only gives everything that is written to the current row one role; marks keep their attribute.
func (c *Canvas) Only(r themes.Role) { c.base, c.forced = r, true }

// Style sets the role of the text and blanks that follow.
func (c *Canvas) Style(r themes.Role) {
	if c.forced || r == themes.Plain {
		r = c.base
	}
	if c.started && r == c.role {
		return
	}
	c.buf = append(c.buf, c.theme.On(r)...)
	c.role, c.started = r, true
}

// Point is the position of a cell; the first cell of the first row is 0, 0.
type Point struct{ X, Y int }

// PutCursor puts the cursor of the terminal where the next cell is written.
func (c *Canvas) PutCursor() { c.Cursor = Point{c.Width - c.Room, len(c.ends)} }

// Put writes text of the program, which is not sanitized.
func (c *Canvas) Put(r themes.Role, s string) {
	if c.Room <= 0 || s == "" {
		return
	}
	c.Style(r)
	c.text(s)
}

// text appends safe text, clipped to the room that is left.
func (c *Canvas) text(s string) {
	if ascii(s) {
		if len(s) > c.Room {
			s = s[:c.Room]
		}
		c.buf = append(c.buf, s...)
		c.Room -= len(s)
		return
	}
	for s != "" {
		n, w := cluster(s)
		if w > c.Room {
			c.Fill(c.Room)
			return
		}
		c.buf = append(c.buf, s[:n]...)
		c.Room -= w
		s = s[n:]
	}
}

// Safe writes rendered text. Marks and spans have an attribute in every theme, marks also in the
// chosen row. Matches of the search and pinned values are highlighted.
func (c *Canvas) Safe(r themes.Role, line trust.Rendered) {
	if c.Found == "" && len(c.Pins) == 0 {
		c.segments(r, line.Segments)
		return
	}
	segments := line.Segments
	if c.Found != "" {
		segments = highlighted(line, c.Found)
	}
	c.segments(r, pinned(segments, c.Pins))
}

func (c *Canvas) segments(r themes.Role, segments []trust.Segment) {
	for _, s := range segments {
		if c.Room <= 0 {
			return
		}
		role := r
		switch {
		case s.Span > foundSpan:
			role = pinRoles[(s.Span-foundSpan-1)%len(pinRoles)]
		case s.Span == foundSpan, s.Span > 0 && s.Span == c.Span:
			role = themes.SpanOn
		case s.Span > 0 && s.Mark:
			role = themes.SpanMark
		case s.Span > 0:
			role = themes.Span
		case s.Mark && s.Text == trust.CutMark:
			c.Put(themes.Faint, s.Text)
			continue
		case s.Mark:
			role = themes.Mark
		default:
			c.Put(kindRole(r, s.Kind), s.Text)
			continue
		}
		c.mark(role)
		c.text(s.Text)
	}
}

// kindRole returns the role of a JSON token in plain text; in any other role the token keeps that.
func kindRole(r themes.Role, k trust.Kind) themes.Role {
	if r != themes.Plain {
		return r
	}
	switch k {
	case trust.Key:
		return themes.Dim
	case trust.Number:
		return themes.Number
	case trust.Literal:
		return themes.Literal
	case trust.Sign:
		return themes.Faint
	}
	return r
}

// mark sets a role whose attribute also shows in the chosen row.
func (c *Canvas) mark(r themes.Role) {
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

// Column writes a rendered line into exactly width cells.
func (c *Canvas) Column(r themes.Role, line trust.Rendered, width int) {
	width = min(width, c.Room)
	line = line.Clip(width)
	c.Safe(r, line)
	c.Style(themes.Plain)
	c.Fill(width - line.Width)
}

// Right writes s at the end of the row if s and a blank before it fit.
func (c *Canvas) Right(r themes.Role, s string) {
	w := ansi.StringWidth(s)
	if w == 0 || w+1 > c.Room {
		return
	}
	c.Style(themes.Plain)
	c.Fill(c.Room - w)
	c.Put(r, s)
}

// Rule fills the rest of the row with a glyph of one cell.
func (c *Canvas) Rule(r themes.Role, glyph string) {
	if c.Room <= 0 {
		return
	}
	c.Style(r)
	for ; c.Room > 0; c.Room-- {
		c.buf = append(c.buf, glyph...)
	}
}

// Fill writes at most n blanks, as many as fit.
func (c *Canvas) Fill(n int) {
	n = max(0, min(n, c.Room))
	c.Room -= n
	for ; n > len(blanks); n -= len(blanks) {
		c.buf = append(c.buf, blanks...)
	}
	c.buf = append(c.buf, blanks[:n]...)
}

const blanks = "                                                                "

// Mark starts a row of a list: with the cursor glyph and in the role of the cursor if the row is
// chosen, otherwise with a blank.
func (c *Canvas) Mark(chosen bool, cursor string) {
	if !chosen {
		cursor = " "
	} else {
		c.Only(themes.Cursor)
	}
	c.Put(themes.Plain, cursor)
}

// Lines writes rendered lines, each in its own row after lead.
func (c *Canvas) Lines(leadRole themes.Role, lead string, role themes.Role, lines []trust.Rendered) {
	for _, l := range lines {
		c.Put(leadRole, lead)
		c.Safe(role, l)
		c.End()
	}
}

// End fills the row and goes on to the next.
func (c *Canvas) End() {
	c.Style(themes.Plain)
	c.Fill(c.Room)
	c.buf = append(c.buf, themes.Reset...)
	c.ends = append(c.ends, len(c.buf))
	c.startRow()
}

// Rows returns exactly height rows: it drops further ones and adds blank ones.
func (c *Canvas) Rows(height int, into []string) []string {
	for len(c.ends) < height {
		c.End()
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
	if boxed(s) && (len(s) == boxBytes || s[boxBytes] < utf8.RuneSelf || boxed(s[boxBytes:])) {
		return boxBytes, 1
	}
	g, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(g), w
}

// boxBytes is the length of a box-drawing, block or geometric character in UTF-8.
const boxBytes = 3

// boxed reports whether s begins with a character from U+2500 to U+25BF, of which frames and bars
// consist. They are one cell wide and join no character before them.
func boxed(s string) bool {
	return len(s) >= boxBytes && s[0] == 0xE2 && s[1] >= 0x94 && s[1] <= 0x96
}

// Row appends a finished row, which must have the width of the canvas.
func (c *Canvas) Row(s string) {
	c.buf = append(c.buf, s...)
	c.ends = append(c.ends, len(c.buf))
	c.startRow()
}

// Height returns the number of rows written so far.
func (c *Canvas) Height() int { return len(c.ends) }

// All returns the rows written so far.
func (c *Canvas) All() []string { return c.Rows(len(c.ends), nil) }

// Top returns the first row.
func (c *Canvas) Top() string {
	if len(c.ends) == 0 {
		c.End()
	}
	return string(c.buf[:c.ends[0]])
}

// Field writes a table cell of width cells, aligned to the right or left, and a blank after it.
func (c *Canvas) Field(r themes.Role, line trust.Rendered, width int, right bool) {
	if right {
		width = min(width, c.Room)
		line = line.Clip(width)
		c.Style(themes.Plain)
		c.Fill(width - line.Width)
		c.Safe(r, line)
	} else {
		c.Column(r, line, width)
	}
	c.Put(themes.Plain, " ")
}
