package tui

import (
	"github.com/charmbracelet/x/ansi"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// boxAt returns where the frame of the dialog begins and the cells inside it. Dialogs leave
// two cells beside them and their frame: the largest ones have the whole width, since
// slivers of the panes beside them would tell nothing.
func (a *app) boxAt() (x, y, w, h int) {
	w, h = a.dialog.Size(a.w+2, a.h)
	w = max(1, min(w, a.w-2))
	h = max(1, min(h, a.h-4))
	return (a.w - w - 2) / 2, max(0, (a.h-h-2)/2), w, h
}

// over lays the dialog over the frame, whose panes stand back meanwhile.
func (a *app) over(lines []string) {
	x, y, w, h := a.boxAt()
	var in cells.Canvas
	in.Begin(&a.Theme, w)
	a.dialog.Draw(&in, h)
	if in.Cursor.X >= 0 && in.Cursor.Y >= 0 && in.Cursor.Y < h {
		a.cursor = cells.Point{X: x + 1 + in.Cursor.X, Y: y + 1 + in.Cursor.Y}
	}
	box := a.box(a.dialog.Title(), w, in.Rows(h, nil))
	for i, line := range lines {
		if i == a.lay.Hints.Y && !a.lay.Hints.Empty() {
			continue // its keys are those of the dialog
		}
		plain := ansi.Strip(line)
		if i < y || i >= y+len(box) {
			lines[i] = a.Theme.On(themes.Backdrop) + plain + themes.Reset
			continue
		}
		lines[i] = a.Theme.On(themes.Backdrop) + cells.Between(plain, 0, x) + themes.Reset + box[i-y] +
			a.Theme.On(themes.Backdrop) + cells.Between(plain, x+w+2, a.w) + themes.Reset
	}
}

// box puts rows of w cells into a frame with a title.
func (a *app) box(title string, w int, rows []string) []string {
	c, g := &a.boxed, a.Glyphs
	c.Begin(&a.Theme, w+2)
	c.Put(themes.RuleOn, g.Box[cells.Joint(false, true, false, true)]+g.RuleOn)
	c.Room-- // of the corner
	c.Put(themes.TitleOn, " "+title+" ")
	c.Rule(themes.RuleOn, g.Rule)
	c.Room++
	c.Put(themes.RuleOn, g.Box[cells.Joint(false, true, true, false)])
	c.End()
	side := a.Divider(themes.RuleOn)
	for _, row := range rows {
		c.Row(side + row + side)
	}
	c.Put(themes.RuleOn, g.Box[cells.Joint(true, false, false, true)])
	c.Room--
	c.Rule(themes.RuleOn, g.Rule)
	c.Room++
	c.Put(themes.RuleOn, g.Box[cells.Joint(true, false, true, false)])
	c.End()
	return c.All()
}
