// Composes the screen: panes with the lines between them, the lines above and below
// them, and a dialog on top.

package layout

import (
	"strings"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// pane is a placed pane with its rows.
type pane struct {
	Placed
	rows []string
}

// Frame draws the lines around the panes. Neighbouring panes share a line; all lines around the
// pane with the focus have the colour of the focus.
type Frame struct {
	Cursor  cells.Point // of the field that is typed in; X is -1 without one
	env     *cells.Env
	screen  *Screen
	panes   []pane
	focus   Rect      // empty while a dialog has the focus
	line    [2]string // a vertical line: without the focus, with it
	style   int       // of line, from 1
	content []byte
	title   cells.Canvas
	boxed   cells.Canvas
}

// NewFrame returns the frame of a screen.
func NewFrame(env *cells.Env, screen *Screen) Frame { return Frame{env: env, screen: screen} }

// Panes draws the panes of the current layout: titled returns the title of a pane in at most room
// cells, rows its rows. No pane has the focus while a dialog is shown.
func (f *Frame) Panes(dialog bool, titled func(p Pane, room int) string, rows func(p Pane, r Rect) []string) {
	f.Cursor = cells.Point{X: -1}
	f.panes, f.focus = f.panes[:0], Rect{}
	for _, p := range f.screen.Shown() {
		if p.Empty() {
			continue
		}
		if f.panes = append(f.panes, pane{Placed: p}); p.Pane == f.screen.Focus && !dialog {
			f.focus = p.Rect
		}
	}
	if f.style != f.env.Style+1 {
		f.style, f.line = f.env.Style+1, [2]string{f.env.Divider(themes.Rule), f.env.Divider(themes.RuleOn)}
	}
	for i := range f.panes {
		p := &f.panes[i]
		p.rows = append(make([]string, 0, p.H), f.titleOf(p, titled(p.Pane, p.W-4)))
		p.rows = append(p.rows, rows(p.Pane, p.Rect)...)
	}
}

// titleOf draws the title line of a pane.
func (f *Frame) titleOf(p *pane, text string) string {
	c := &f.title
	c.Begin(&f.env.Theme, p.W)
	line, role, glyph := f.role(p.X, p.Y), themes.Title, f.env.Glyphs.Rule
	if p.Rect == f.focus {
		role, glyph = themes.TitleOn, f.env.Glyphs.RuleOn
	}
	c.Put(line, glyph)
	c.Put(role, " ")
	c.Put(role, text)
	c.Put(role, " ")
	c.Rule(line, f.env.Glyphs.Rule)
	c.End()
	return c.Top()
}

// Edges are the lines above and below the panes, each as wide as the screen.
type Edges struct{ Crumb, Scope, Status, Hints string }

// Draw returns the screen: the given lines and the panes that [Frame.Panes] drew.
func (f *Frame) Draw(e Edges) string {
	l := &f.screen.Now
	b := f.content[:0]
	for y := range f.screen.H {
		if y > 0 {
			b = append(b, '\n')
		}
		switch {
		case y == l.Crumb.Y && !l.Crumb.Empty():
			b = f.env.Fit(b, e.Crumb, f.screen.W)
		case y == l.Status.Y:
			b = f.env.Fit(b, e.Status, f.screen.W)
		case y == l.Hints.Y && !l.Hints.Empty():
			b = f.env.Fit(b, e.Hints, f.screen.W)
		case y == l.Scope.Y && !l.Scope.Empty():
			b = f.env.Fit(b, e.Scope, f.screen.W)
		case l.Framed && y == l.Body.Y+l.Body.H:
			b = f.bottom(b)
		default:
			b = f.row(b, y)
		}
	}
	f.content = b
	return string(b)
}

// row appends row y of the panes, with the lines between and around them.
func (f *Frame) row(b []byte, y int) []byte {
	l := &f.screen.Now
	top, last, x := l.Body.Y, l.Body.Y+l.Body.H, 0
	if !l.Framed {
		last-- // without a lower edge
	}
	if l.Framed {
		b = f.piece(b, 0, y, top, last)
		x = 1
	}
	for i := range f.panes {
		p := &f.panes[i]
		if y < p.Y || y >= p.Y+p.H {
			continue
		}
		if p.X > x {
			b = f.piece(b, x, y, top, last)
		}
		b = f.env.Fit(b, p.rows[y-p.Y], p.W)
		x = p.X + p.W
	}
	if l.Framed {
		b = f.piece(b, x, y, top, last)
	}
	return b
}

// Prompt draws a prompt over the last lines.
func (f *Frame) Prompt(lines []string, p *widget.Prompt) {
	var c cells.Canvas
	c.Begin(&f.env.Theme, f.screen.W)
	p.Draw(&c)
	n := min(max(c.Height(), 2), len(lines))
	f.Cursor = cells.Point{X: c.Cursor.X, Y: c.Cursor.Y + len(lines) - n}
	copy(lines[len(lines)-n:], c.Rows(n, nil))
}

// Centred returns a screen with nothing but a centred text.
func (f *Frame) Centred(text string) string {
	f.Cursor = cells.Point{X: -1}
	c := &f.boxed
	c.Begin(&f.env.Theme, f.screen.W)
	lines := cells.Wrap(text, f.screen.W, f.screen.H)
	for range (f.screen.H - len(lines)) / 2 {
		c.End()
	}
	for _, line := range lines {
		c.Fill((f.screen.W - line.Width) / 2)
		c.Safe(themes.Plain, line)
		c.End()
	}
	return strings.Join(c.Rows(f.screen.H, nil), "\n")
}
