package tui

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// boxAt returns where the frame of the dialog begins and the cells inside it. Dialogs leave
// two cells beside them and their frame: the largest ones have the whole width, since
// slivers of the panes beside them would tell nothing.
func (a *app) boxAt() (x, y, w, h int) {
	w, h = a.dialog.Size(a.panes.W+2, a.panes.H)
	w = max(1, min(w, a.panes.W-2))
	h = max(1, min(h, a.boxRows()))
	return (a.panes.W - w - 2) / 2, max(0, (a.panes.H-h-2)/2), w, h
}

// boxRows is how many rows a dialog can have inside of its frame: the lines of the
// screen's edges stay in view, but on a low screen a question takes them too.
func (a *app) boxRows() int {
	if _, ok := a.dialog.(widget.Question); ok && a.panes.Now.Hints.Empty() {
		return a.panes.H - 2
	}
	return a.panes.H - 4
}

// tiny tells whether the screen is too small for panes, dialogs and prompts.
func (a *app) tiny() bool { return a.arranged().Tiny }

// leastSize is the smallest screen that has panes.
var leastSize = fmt.Sprintf("%dx%d", layout.LeastWidth, layout.LeastHeight)

// unseen is the size that a screen needs on which something is changed, "" if it has it.
func (a *app) unseen() string {
	if a.tiny() {
		return leastSize
	}
	return ""
}

// cut tells that what has the keys is not shown in full, and the size that it needs. What
// cannot be read is not answered.
func (a *app) cut() (needs string, cut bool) {
	q, ok := a.dialog.(widget.Question)
	w, h := max(a.panes.W, layout.LeastWidth), layout.LeastHeight
	switch {
	case a.tiny() && ok:
		h = max(h, q.Rows(w-2)+2)
	case a.tiny():
		return leastSize, a.dialog != nil || a.prompt != nil
	case ok:
		_, _, in, rows := a.boxAt()
		if q.Rows(in) <= rows {
			return "", false
		}
		h = a.panes.H + q.Rows(in) - rows
	default:
		return "", false
	}
	return fmt.Sprintf("%dx%d", w, h), true
}

// cutWords tell why what has the keys takes none but those that lead back.
func (a *app) cutWords(needs string) string {
	what := "this"
	if a.dialog != nil {
		what = a.dialog.Title()
	}
	return fmt.Sprintf("%s needs a screen of %s; esc goes back, nothing happens", what, needs)
}

// over lays the dialog over the frame, whose panes stand back meanwhile.
func (a *app) over(lines []string) {
	x, y, w, h := a.boxAt()
	var in cells.Canvas
	in.Begin(&a.Theme, w)
	if needs, cut := a.cut(); cut {
		for _, line := range cells.Wrap(a.cutWords(needs), w, h) {
			in.Safe(themes.Warn, line)
			in.End()
		}
	} else {
		a.dialog.Draw(&in, h)
	}
	if in.Cursor.X >= 0 && in.Cursor.Y >= 0 && in.Cursor.Y < h {
		a.cursor = cells.Point{X: x + 1 + in.Cursor.X, Y: y + 1 + in.Cursor.Y}
	}
	box := a.box(a.dialog.Title(), w, in.Rows(h, nil))
	for i, line := range lines {
		if i == a.panes.Now.Hints.Y && !a.panes.Now.Hints.Empty() {
			continue // its keys are those of the dialog
		}
		plain := ansi.Strip(line)
		if i < y || i >= y+len(box) {
			lines[i] = a.Theme.On(themes.Backdrop) + plain + themes.Reset
			continue
		}
		lines[i] = a.Theme.On(themes.Backdrop) + cells.Between(plain, 0, x) + themes.Reset + box[i-y] +
			a.Theme.On(themes.Backdrop) + cells.Between(plain, x+w+2, a.panes.W) + themes.Reset
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
