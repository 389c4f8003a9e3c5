package widget

// Steps returns by how many of n rows a key moves in a list of which page rows are in
// sight: one, half a page, or to either end. ok is false for every other key.
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

// Chooser is which row of a list in a dialog is chosen, and which rows are in sight.
type Chooser struct {
	At int // the chosen row

	top, page int
}

// Lay takes how many rows there are and how many of them have room, and returns those
// that are in sight, the chosen one among them: from first to the one before end.
func (c *Chooser) Lay(rows, page int) (first, end int) {
	c.page = page
	c.top = max(0, min(c.top, c.At), c.At-page+1)
	return c.top, min(c.top+page, rows)
}

// Key moves as a key of [Steps] says, in so many rows, and tells whether it was one.
func (c *Chooser) Key(key string, rows int) bool {
	by, ok := Steps(key, rows, c.page)
	if ok {
		c.At = max(0, min(c.At+by, rows-1))
	}
	return ok
}

// Click chooses the row so many below the first in sight, if that one is in sight.
func (c *Chooser) Click(below, rows int) {
	if i := c.top + below; below >= 0 && below < c.page && i < rows {
		c.At = i
	}
}

// Scroll says which of the rows that a dialog has to read are in sight.
type Scroll struct {
	rows, page int
	top        int
}

// Lay takes how many rows there are and how many of them have room, and returns those
// that are in sight: from first to the one before end.
func (s *Scroll) Lay(rows, page int) (first, end int) {
	s.rows, s.page = rows, page
	s.by(0)
	return s.top, min(s.top+page, rows)
}

// Key moves as a key of [Steps] says, and half a page down for space.
func (s *Scroll) Key(key string) {
	if key == "space" {
		key = "pgdown"
	}
	if by, ok := Steps(key, s.rows, s.page); ok {
		s.by(by)
	}
}

func (s *Scroll) by(n int) { s.top = max(0, min(s.top+n, s.rows-s.page)) }
