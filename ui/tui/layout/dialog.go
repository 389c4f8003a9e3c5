package layout

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Box returns the position of a dialog's frame and the size of its inside. A dialog that would
// leave less than two columns of the panes has the whole width.
func (f *Frame) Box(d widget.Dialog) Rect {
	w, h := d.Size(f.screen.W+2, f.screen.H)
	w = max(1, min(w, f.screen.W-2))
	h = max(1, min(h, f.boxRows(d)))
	return Rect{X: (f.screen.W - w - 2) / 2, Y: max(0, (f.screen.H-h-2)/2), W: w, H: h}
}

// Inside converts a cell of the screen to one inside the frame of a dialog, and reports whether it
// is inside.
func (f *Frame) Inside(d widget.Dialog, x, y int) (int, int, bool) {
	r := f.Box(d)
	x, y = x-r.X-1, y-r.Y-1
	return x, y, x >= 0 && x < r.W && y >= 0 && y < r.H
}

// boxRows returns how many rows fit inside the frame of a dialog. The lines above and below the
// panes stay visible, except under a question on a low screen.
func (f *Frame) boxRows(d widget.Dialog) int {
	if _, ok := d.(widget.Question); ok && f.screen.Now.Hints.Empty() {
		return f.screen.H - 2
	}
	return f.screen.H - 4
}

// LeastSize is the smallest screen that has panes.
var LeastSize = fmt.Sprintf("%dx%d", LeastWidth, LeastHeight)

// Cut reports whether the dialog or prompt with the focus is not shown in full, and the screen
// size that it needs. A question that is cut off takes no answer.
func (f *Frame) Cut(tiny bool, d widget.Dialog, prompt *widget.Prompt) (needs string, cut bool) {
	q, ok := d.(widget.Question)
	w, h := max(f.screen.W, LeastWidth), LeastHeight
	switch {
	case tiny && ok:
		h = max(h, q.Rows(w-2)+2)
	case tiny:
		return LeastSize, d != nil || prompt != nil
	case ok:
		box := f.Box(d)
		if q.Rows(box.W) <= box.H {
			return "", false
		}
		h = f.screen.H + q.Rows(box.W) - box.H
	default:
		return "", false
	}
	return fmt.Sprintf("%dx%d", w, h), true
}

// CutWords says that a dialog, or the prompt for nil, does not fit and that only esc works.
func CutWords(d widget.Dialog, needs string) string {
	what := "this"
	if d != nil {
		what = d.Title()
	}
	return fmt.Sprintf("%s needs a screen of %s; esc goes back, nothing happens", what, needs)
}

// Over draws a dialog over lines, and dims these. needs is the screen size that the dialog needs
// if it does not fit: then only that is shown.
func (f *Frame) Over(lines []string, d widget.Dialog, needs string) {
	r := f.Box(d)
	var in cells.Canvas
	in.Begin(&f.env.Theme, r.W)
	if needs != "" {
		for _, line := range cells.Wrap(CutWords(d, needs), r.W, r.H) {
			in.Safe(themes.Warn, line)
			in.End()
		}
	} else {
		d.Draw(&in, r.H)
	}
	if in.Cursor.X >= 0 && in.Cursor.Y >= 0 && in.Cursor.Y < r.H {
		f.Cursor = cells.Point{X: r.X + 1 + in.Cursor.X, Y: r.Y + 1 + in.Cursor.Y}
	}
	box := f.box(d.Title(), r.W, in.Rows(r.H, nil))
	on, hints := f.env.Theme.On(themes.Backdrop), f.screen.Now.Hints
	for i, line := range lines {
		if i == hints.Y && !hints.Empty() {
			continue // it has the keys of the dialog
		}
		plain := ansi.Strip(line)
		if i < r.Y || i >= r.Y+len(box) {
			lines[i] = on + plain + themes.Reset
			continue
		}
		right := r.X + r.W + 2
		row := f.env.Fit([]byte(on), cells.Between(plain, 0, r.X), r.X)
		row = append(append(append(row, themes.Reset...), box[i-r.Y]...), on...)
		row = f.env.Fit(row, cells.Between(plain, right, f.screen.W), f.screen.W-right)
		lines[i] = string(append(row, themes.Reset...))
	}
}

// box puts rows of w cells into a frame with a title.
func (f *Frame) box(title string, w int, rows []string) []string {
	c, g := &f.boxed, f.env.Glyphs
	c.Begin(&f.env.Theme, w+2)
	c.Put(themes.RuleOn, g.Box[cells.Joint(false, true, false, true)]+g.RuleOn)
	c.Room-- // for the corner
	c.Put(themes.TitleOn, " "+title+" ")
	c.Rule(themes.RuleOn, g.Rule)
	c.Room++
	c.Put(themes.RuleOn, g.Box[cells.Joint(false, true, true, false)])
	c.End()
	side := f.env.Divider(themes.RuleOn)
	for _, row := range rows {
		c.Row(string(append(f.env.Fit([]byte(side), row, w), side...)))
	}
	c.Put(themes.RuleOn, g.Box[cells.Joint(true, false, false, true)])
	c.Room--
	c.Rule(themes.RuleOn, g.Rule)
	c.Room++
	c.Put(themes.RuleOn, g.Box[cells.Joint(true, false, true, false)])
	c.End()
	return c.All()
}
