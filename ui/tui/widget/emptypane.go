package widget

import (
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Lesson is a line of an empty pane that names a key and what it does.
type Lesson struct{ Key, Text string }

// DrawLessons writes a heading, a blank row and the lessons.
func DrawLessons(c *cells.Canvas, head string, list []Lesson) {
	c.Put(themes.Plain, "  "+head)
	c.End()
	c.End()
	for _, l := range list {
		c.Put(themes.Key, "  "+cells.Pad(l.Key, 4))
		c.Put(themes.Dim, l.Text)
		c.End()
	}
}
