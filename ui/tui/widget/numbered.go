package widget

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Numbered is a dialog to choose one of at most nine rows, by its digit or by cursor and enter. Esc
// chooses none.
type Numbered struct {
	Screen Screen
	Glyphs *cells.Glyphs
	Head   string
	Says   string // what happens to the chosen row
	Rows   []Row
	Take   func(i int) tea.Cmd // called with the index of the chosen row
	at     int
}

// Row is a value with its name.
type Row struct{ Name, Value trust.Rendered }

// rowNameMax is the largest width of names, in cells.
const rowNameMax = 30

// Title implements [Dialog].
func (d *Numbered) Title() string { return d.Head }

// Size implements [Dialog].
func (d *Numbered) Size(int, int) (int, int) {
	w := cells.Sanitize(d.Says).Width + 2
	for _, r := range d.Rows {
		w = max(w, d.names()+r.Value.Width+6)
	}
	return w, len(d.Rows) + 1
}

// names returns the width of the names, in cells.
func (d *Numbered) names() (w int) {
	for _, r := range d.Rows {
		w = max(w, r.Name.Width)
	}
	return min(w, rowNameMax)
}

// Draw implements [Dialog].
func (d *Numbered) Draw(c *cells.Canvas, h int) {
	c.Safe(themes.Dim, cells.Sanitize(" "+d.Says).Clip(c.Room))
	c.End()
	shown := max(1, h-1)
	top := max(0, d.at-shown+1)
	for i := top; i < min(top+shown, len(d.Rows)); i++ {
		c.Mark(i == d.at, d.Glyphs.Cursor)
		c.Put(themes.Key, strconv.Itoa(i+1)+" ")
		c.Column(themes.Dim, d.Rows[i].Name, min(d.names(), c.Room))
		c.Put(themes.Plain, "  ")
		c.Safe(themes.Strong, d.Rows[i].Value.Clip(c.Room))
		c.End()
	}
}

// Key implements [Dialog].
func (d *Numbered) Key(k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); name {
	case "esc", "q":
		d.Screen.Show(nil)
	case "down", "j":
		d.at = min(d.at+1, len(d.Rows)-1)
	case "up", "k":
		d.at = max(d.at-1, 0)
	case "enter":
		return d.choose(d.at)
	default:
		if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(d.Rows) {
			return d.choose(n - 1)
		}
	}
	return nil
}

func (d *Numbered) choose(i int) tea.Cmd {
	d.Screen.Show(nil)
	return d.Take(i)
}

// Hints implements [Dialog].
func (d *Numbered) Hints() []string {
	return []string{"1-" + strconv.Itoa(len(d.Rows)), "take it", "enter", "take the chosen one", "esc", "back"}
}
