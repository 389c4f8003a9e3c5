package tui

import (
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
)

// placed is a pane where it stands, with its rows.
type placed struct {
	pane layout.Pane
	layout.Rect
	rows []string
}

// frame draws the lines between and around the panes. They are shared: the pane that has
// the keys is told by the colour of all lines around it.
type frame struct {
	env   *cells.Env
	panes []placed
	focus layout.Rect // empty while a dialog has the keys
	ends  int         // the row under the panes
	line  [2]string   // a vertical line: of the other panes, of the one with the keys
	style int         // that the lines were made in, from 1
}

// begin takes the panes that are drawn.
func (f *frame) begin(env *cells.Env, body layout.Rect, panes []placed, focus layout.Pane) {
	f.env, f.panes, f.focus, f.ends = env, panes, layout.Rect{}, body.Y+body.H
	for i := range panes {
		if panes[i].pane == focus {
			f.focus = panes[i].Rect
		}
	}
	if f.style != env.Style+1 {
		f.style, f.line = env.Style+1, [2]string{env.Divider(themes.Rule), env.Divider(themes.RuleOn)}
	}
}

// role is that of the line at a cell: it is around the pane with the keys or not.
func (f *frame) role(x, y int) themes.Role {
	r := f.focus
	if r.Empty() || x < r.X-1 || x > r.X+r.W || y < r.Y || y > r.Y+r.H {
		return themes.Rule
	}
	if x == r.X-1 || x == r.X+r.W || y == r.Y || y == r.Y+r.H {
		return themes.RuleOn
	}
	return themes.Rule
}

// across tells whether a line runs into a cell from the pane at its left or right: a
// title, or the lower edge of all.
func (f *frame) across(x, y int) bool {
	for i := range f.panes {
		p := &f.panes[i]
		if x >= p.X && x < p.X+p.W && (y == p.Y || y == f.ends && p.Y+p.H == y) {
			return true
		}
	}
	return false
}

// append adds the piece of line that stands at a cell between panes, in row y of rows
// from top to the last.
func (f *frame) append(b []byte, x, y, top, last int) []byte {
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

// bottom adds the lower edge of all panes, of w cells.
func (f *frame) bottom(b []byte, w int) []byte {
	on := themes.Role(0)
	for x := range w {
		role := f.role(x, f.ends)
		if x == 0 || role != on {
			b = append(b, f.env.Theme.On(role)...)
			on = role
		}
		left, right := x > 0, x < w-1
		above := x == 0 || x == w-1
		for i := range f.panes {
			if p := &f.panes[i]; p.X == x+1 && p.Y+p.H == f.ends {
				above = true
			}
		}
		b = append(b, f.env.Glyphs.Box[cells.Joint(above, false, left, right)]...)
	}
	return append(b, themes.Reset...)
}
