package widget

// Steps returns by how many rows a key moves in a list of n rows of which page are in sight: one
// row, half a page, or to an end. ok is false for a key that does not move.
func Steps(key string, n, page int) (by int, ok bool) {
	switch key {
	case "j", "down":
		return 1, true
	case "k", "up":
		return -1, true
	case "pgdown", "ctrl+d":
		return max(1, page/2), true
	case "pgup", "ctrl+u":
		return -max(1, page/2), true
	case "g", "home":
		return -n, true
	case "G", "end":
		return n, true
	}
	return 0, false
}

// Chooser has the chosen row of a list in a dialog, and the rows that are in sight.
type Chooser struct {
	At int // the chosen row

	top, page int
}

// Visible returns which of the rows are in sight where page of them have room, from first to the
// one before end. The chosen row is among them.
func (c *Chooser) Visible(rows, page int) (first, end int) {
	c.page = page
	c.top = max(0, min(c.top, c.At), c.At-page+1)
	return c.top, min(c.top+page, rows)
}

// Key moves the choice by a key of [Steps] and reports whether the key is one.
func (c *Chooser) Key(key string, rows int) bool {
	by, ok := Steps(key, rows, c.page)
	if ok {
		c.At = max(0, min(c.At+by, rows-1))
	}
	return ok
}

// Click chooses the row that is so many rows below the first one in sight, if there is one.
func (c *Chooser) Click(below, rows int) {
	if i := c.top + below; below >= 0 && below < c.page && i < rows {
		c.At = i
	}
}

// Scroll has the rows that are in sight of a text to read.
type Scroll struct {
	rows, page int
	top        int
}

// Visible returns which of the rows are in sight where page of them have room, from first to the
// one before end.
func (s *Scroll) Visible(rows, page int) (first, end int) {
	s.rows, s.page = rows, page
	s.by(0)
	return s.top, min(s.top+page, rows)
}

// Key scrolls by a key of [Steps]; space is half a page down.
func (s *Scroll) Key(key string) {
	if key == "space" {
		key = "pgdown"
	}
	if by, ok := Steps(key, s.rows, s.page); ok {
		s.by(by)
	}
}

func (s *Scroll) by(n int) { s.top = max(0, min(s.top+n, s.rows-s.page)) }
