package layout

import (
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// role returns the role of the line at a cell, which depends on whether the line is around the
// pane with the focus.
func (f *Frame) role(x, y int) themes.Role {
	r := f.focus
	if r.Empty() || x < r.X-1 || x > r.X+r.W || y < r.Y || y > r.Y+r.H {
		return themes.Rule
	}
	if x == r.X-1 || x == r.X+r.W || y == r.Y || y == r.Y+r.H {
		return themes.RuleOn
	}
	return themes.Rule
}

// ends returns the row below the panes.
func (f *Frame) ends() int { return f.screen.Now.Body.Y + f.screen.Now.Body.H }

// across reports whether a horizontal line is in a cell: the title of a pane, or the lower edge.
func (f *Frame) across(x, y int) bool {
	ends := f.ends()
	for i := range f.panes {
		p := &f.panes[i]
		if x >= p.X && x < p.X+p.W && (y == p.Y || y == ends && p.Y+p.H == y) {
			return true
		}
	}
	return false
}

// piece appends the cell of a line between panes, in row y of the rows from top to last.
func (f *Frame) piece(b []byte, x, y, top, last int) []byte {
	role := f.role(x, y)
	joint := cells.Joint(y > top, y < last, f.across(x-1, y), f.across(x+1, y))
	if joint == cells.Vertical {
		if role == themes.RuleOn {
			return append(b, f.line[1]...)
		}
		return append(b, f.line[0]...)
	}
	b = append(b, f.env.Theme.On(role)...)
	b = append(b, f.env.Glyphs.Box[joint]...)
	return append(b, themes.Reset...)
}

// bottom appends the lower edge of the panes.
func (f *Frame) bottom(b []byte) []byte {
	on, w, ends := themes.Role(0), f.screen.W, f.ends()
	for x := range w {
		role := f.role(x, ends)
		if x == 0 || role != on {
			b = append(b, f.env.Theme.On(role)...)
			on = role
		}
		above := x == 0 || x == w-1
		for i := range f.panes {
			if p := &f.panes[i]; p.X == x+1 && p.Y+p.H == ends {
				above = true
			}
		}
		b = append(b, f.env.Glyphs.Box[cells.Joint(above, false, x > 0, x < w-1)]...)
	}
	return append(b, themes.Reset...)
}
