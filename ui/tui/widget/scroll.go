package widget

// Steps returns by how many rows a key moves in a list of n rows of which page are visible: one
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

// Chooser keeps the chosen row of a list in a dialog, and the scroll position.
type Chooser struct {
	At int // the chosen row

	top, page int
}

// Visible returns the visible rows of a list when page of them fit: from first up to, but not
// including, end. The chosen row is among them.
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

// Click chooses the row that is below rows after the first visible one, if there is one.
func (c *Chooser) Click(below, rows int) {
	if i := c.top + below; below >= 0 && below < c.page && i < rows {
		c.At = i
	}
}

// Scroll keeps the scroll position of a text.
type Scroll struct {
	rows, page int
	top        int
}

// Visible returns the visible rows of a text when page of them fit: from first up to, but not
// including, end.
func (s *Scroll) Visible(rows, page int) (first, end int) {
	s.rows, s.page = rows, page
	s.by(0)
	return s.top, min(s.top+page, rows)
}

// Key scrolls by a key of [Steps]; space scrolls down half a page.
func (s *Scroll) Key(key string) {
	if key == "space" {
		key = "pgdown"
	}
	if by, ok := Steps(key, s.rows, s.page); ok {
		s.by(by)
	}
}

func (s *Scroll) by(n int) { s.top = max(0, min(s.top+n, s.rows-s.page)) }
