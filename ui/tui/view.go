package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
)

// View implements [tea.Model].
func (a *app) View() tea.View {
	content := a.draw()
	if n := a.audience.rows; n > 0 {
		content += "\n" + a.captions(n)
	}
	v := tea.NewView(content)
	v.AltScreen = true
	if a.cursor.X >= 0 { // where one types, so that input methods open there
		v.Cursor = tea.NewCursor(a.cursor.X, a.cursor.Y)
	}
	v.ReportFocus = true
	v.KeyboardEnhancements.ReportAlternateKeys = true
	v.WindowTitle = a.windowTitle()
	if !a.mouse.off {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// draw returns exactly h lines of exactly w cells.
func (a *app) draw() string {
	if a.Glyphs == &cells.ASCIIGlyphs {
		return strings.ReplaceAll(a.compose(), cells.UnicodeGlyphs.More, cells.ASCIIGlyphs.More) // where texts are cut
	}
	return a.compose()
}

// compose lays the panes and what is over them together.
func (a *app) compose() string {
	if a.w <= 0 || a.h <= 0 {
		return ""
	}
	a.cursor = cells.Point{X: -1}
	a.lay = layout.Arrange(a.shape())
	if a.lay.Tiny {
		return a.drawTiny()
	}
	l := &a.lay
	var left, mid, right, scope []string
	if !l.Tree.Empty() {
		left = a.pane(layout.Tree, l.Tree)
	}
	if !l.Stream.Empty() {
		mid = a.pane(layout.Stream, l.Stream)
	}
	if !l.Table.Empty() {
		mid = a.pane(a.subject, l.Table)
	}
	if !l.Detail.Empty() {
		right = a.pane(layout.Detail, l.Detail)
	}
	if !l.Scope.Empty() {
		scope = a.drawScope(l.Scope.W)
	}
	crumb, status, hints := a.drawCrumb(), a.drawStatus(), a.drawHints()
	list := l.Stream
	if !l.Table.Empty() {
		list = l.Table
	}
	divider := a.Divider(themes.Rule)

	b := a.frame[:0]
	for y := range a.h {
		if y > 0 {
			b = append(b, '\n')
		}
		switch {
		case y == l.Crumb.Y && !l.Crumb.Empty():
			b = append(b, crumb...)
			continue
		case y == l.Status.Y:
			b = append(b, status...)
			continue
		case y == l.Hints.Y && !l.Hints.Empty():
			b = append(b, hints...)
			continue
		case y == l.Scope.Y && !l.Scope.Empty():
			b = append(b, scope[0]...)
			continue
		}
		x := 0
		for _, p := range [...]struct {
			layout.Rect
			rows []string
		}{{l.Tree, left}, {list, mid}, {l.Detail, right}} {
			if p.Empty() || y < p.Y || y >= p.Y+p.H {
				continue
			}
			if p.X > x {
				b = append(b, divider...)
			}
			b = append(b, p.rows[y-p.Y]...)
			x = p.X + p.W
		}
	}
	a.frame = b
	if a.dialog == nil && a.prompt == nil && a.chord == "" {
		return string(b)
	}
	lines := strings.Split(string(b), "\n")
	a.bottom(lines)
	if a.dialog != nil {
		a.over(lines)
	}
	return strings.Join(lines, "\n")
}

// pane draws a pane: its title, then its rows.
func (a *app) pane(p layout.Pane, r layout.Rect) []string {
	c := &a.titles
	c.Begin(&a.Theme, r.W)
	role, rule, glyph := themes.Title, themes.Rule, a.Glyphs.Rule
	if p == a.focus && a.dialog == nil {
		role, rule, glyph = themes.TitleOn, themes.RuleOn, a.Glyphs.RuleOn
	}
	c.Put(rule, glyph)
	c.Put(role, " ")
	c.Put(role, a.paneTitle(p, r.W-4))
	c.Put(role, " ")
	c.Rule(rule, glyph)
	c.End()
	rows := append(make([]string, 0, r.H), c.Top())
	switch p {
	case layout.Tree:
		return append(rows, a.airy(r.W, r.H-1, func(h int) []string { return a.tree.Draw(r.W, h) })...)
	case layout.Stream:
		return append(rows, a.airy(r.W, r.H-1, func(h int) []string { return a.stream.Draw(r.W, h) })...)
	case layout.Subs, layout.Log:
		return append(rows, a.airy(r.W, r.H-1, func(h int) []string { return a.table().Draw(r.W, h) })...)
	}
	return append(rows, a.detail.Draw(r.W, r.H-1)...)
}

func (a *app) paneTitle(p layout.Pane, room int) string {
	switch p {
	case layout.Tree:
		return "1 Servers"
	case layout.Stream:
		if words := a.stream.BelowWords(); words != "" && !a.stream.Follow {
			return "2 Stream " + a.Glyphs.Dot + " " + words
		}
		return "2 Stream"
	case layout.Subs, layout.Log:
		return a.board().Title(room)
	}
	switch {
	case a.rowSub() != nil, a.onNode():
		return "3 Detail " + a.Glyphs.Dot + " why is it quiet?"
	case a.showsRecord():
		return a.detail.Title(room)
	}
	return "3 Detail"
}

func (a *app) drawTiny() string {
	c := &a.statuses
	c.Begin(&a.Theme, a.w)
	text := fmt.Sprintf("%s, %d in trouble, %s stored", cells.Count(a.tree.Total.All, "sub"), a.tree.Total.Trouble, cells.Number(a.snap.Last))
	for y := range a.h {
		if y == a.h/2 {
			c.Fill(max(0, (a.w-len(text))/2))
			c.Put(themes.Plain, text)
		}
		c.End()
	}
	return strings.Join(c.Rows(a.h, nil), "\n")
}

// boxAt returns where the frame of the dialog begins and the cells inside it.
func (a *app) boxAt() (x, y, w, h int) {
	w, h = a.dialog.Size(a.w, a.h)
	w = max(1, min(w, a.w-4))
	h = max(1, min(h, a.h-4))
	return (a.w - w - 2) / 2, max(0, (a.h-h-2)/2), w, h
}

// over lays the dialog over the frame.
func (a *app) over(lines []string) {
	x, y, w, h := a.boxAt()
	c := &a.boxed
	c.Begin(&a.Theme, w+2)
	c.Put(themes.RuleOn, a.Glyphs.RuleOn)
	c.Put(themes.TitleOn, " "+a.dialog.Title()+" ")
	c.Rule(themes.RuleOn, a.Glyphs.RuleOn)
	c.End()
	var in cells.Canvas
	in.Begin(&a.Theme, w)
	a.dialog.Draw(&in, h)
	if in.Cursor.X >= 0 && in.Cursor.Y >= 0 && in.Cursor.Y < h {
		a.cursor = cells.Point{X: x + 1 + in.Cursor.X, Y: y + 1 + in.Cursor.Y}
	}
	side := a.Divider(themes.RuleOn)
	for _, row := range in.Rows(h, nil) {
		c.Row(side + row + side)
	}
	c.Rule(themes.RuleOn, a.Glyphs.RuleOn)
	c.End()
	for i, row := range c.Rows(h+2, nil) {
		if y+i < len(lines) {
			lines[y+i] = splice(lines[y+i], row, x, w+2, a.w)
		}
	}
}

// splice puts a row of w cells over a line of total cells, from x on.
func splice(line, row string, x, w, total int) string {
	left := ansi.Truncate(line, x, "")
	left += themes.Reset + strings.Repeat(" ", max(0, x-ansi.StringWidth(left)))
	right := ansi.TruncateLeft(line, x+w, "")
	if ansi.StringWidth(right) > total-x-w { // a wide glyph lies across the edge
		right = ansi.TruncateLeft(line, x+w+1, "")
	}
	gap := total - x - w - ansi.StringWidth(right)
	return left + row + themes.Reset + strings.Repeat(" ", max(0, gap)) + right
}
