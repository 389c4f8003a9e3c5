package tui

import (
	"fmt"
	"strings"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"

	tea "charm.land/bubbletea/v2"
)

// View implements [tea.Model].
func (a *app) View() tea.View {
	content := a.draw()
	if n := a.audience.Rows; n > 0 {
		content += "\n" + a.audience.Draw(&a.Env, a.panes.W)
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
	if a.panes.W <= 0 || a.panes.H <= 0 {
		return ""
	}
	a.cursor = cells.Point{X: -1}
	a.panes.Now = a.arranged()
	if a.panes.Now.Tiny {
		return a.drawTiny()
	}
	l := &a.panes.Now
	panes := a.placed[:0]
	for _, p := range [...]placed{{pane: layout.Tree, Rect: l.Tree}, {pane: layout.Stream, Rect: l.Stream}, {pane: a.panes.Subject, Rect: l.Table}, {pane: layout.Detail, Rect: l.Detail}} {
		if !p.Empty() {
			panes = append(panes, p)
		}
	}
	a.placed = panes
	focus := a.panes.Focus
	if a.dialog != nil {
		focus = layout.None
	}
	a.border.begin(&a.Env, l.Body, panes, focus)
	for i := range panes {
		panes[i].rows = a.pane(panes[i].pane, panes[i].Rect)
	}
	var scope []string
	if !l.Scope.Empty() {
		scope = a.drawScope(l.Scope.W)
	}
	crumb, status, hints := a.drawCrumb(), a.drawStatus(), a.drawHints()

	b := a.frame[:0]
	for y := range a.panes.H {
		if y > 0 {
			b = append(b, '\n')
		}
		switch {
		case y == l.Crumb.Y && !l.Crumb.Empty():
			b = append(b, crumb...)
		case y == l.Status.Y:
			b = append(b, status...)
		case y == l.Hints.Y && !l.Hints.Empty():
			b = append(b, hints...)
		case y == l.Scope.Y && !l.Scope.Empty():
			b = append(b, scope[0]...)
		case l.Framed && y == l.Body.Y+l.Body.H:
			b = a.border.bottom(b, a.panes.W)
		default:
			b = a.appendPanes(b, y)
		}
	}
	a.frame = b
	if a.dialog == nil && a.prompt == nil && a.actions.Chord == "" {
		return string(b)
	}
	lines := strings.Split(string(b), "\n")
	a.bottom(lines)
	if a.dialog != nil {
		a.over(lines)
	}
	return strings.Join(lines, "\n")
}

// appendPanes adds row y of the panes, with the lines between them and around them.
func (a *app) appendPanes(b []byte, y int) []byte {
	l := &a.panes.Now
	top, last, x := l.Body.Y, l.Body.Y+l.Body.H, 0
	if !l.Framed {
		last-- // there is no lower edge
	}
	if l.Framed {
		b = a.border.append(b, 0, y, top, last)
		x = 1
	}
	for i := range a.placed {
		p := &a.placed[i]
		if y < p.Y || y >= p.Y+p.H {
			continue
		}
		if p.X > x {
			b = a.border.append(b, x, y, top, last)
		}
		b = append(b, p.rows[y-p.Y]...)
		x = p.X + p.W
	}
	if l.Framed {
		b = a.border.append(b, x, y, top, last)
	}
	return b
}

// pane draws a pane: its title, then its rows.
func (a *app) pane(p layout.Pane, r layout.Rect) []string {
	c := &a.titles
	c.Begin(&a.Theme, r.W)
	line, role, glyph := a.border.role(r.X, r.Y), themes.Title, a.Glyphs.Rule
	if p == a.panes.Focus && a.dialog == nil {
		role, glyph = themes.TitleOn, a.Glyphs.RuleOn
	}
	c.Put(line, glyph)
	c.Put(role, " ")
	c.Put(role, a.paneTitle(p, r.W-4))
	c.Put(role, " ")
	c.Rule(line, a.Glyphs.Rule)
	c.End()
	rows := append(make([]string, 0, r.H), c.Top())
	switch p {
	case layout.Tree:
		return append(rows, a.audience.Airy(r.W, r.H-1, func(h int) []string { return a.tree.Draw(r.W, h) })...)
	case layout.Stream:
		n := a.stripRows()
		body := a.audience.Airy(r.W, r.H-1-n, func(h int) []string { return a.stream.Draw(r.W, h) })
		if n > 0 {
			rows = append(rows, a.strip.Draw(r.W, a.rowsShown())...)
		}
		return append(rows, body...)
	case layout.Subs, layout.Log:
		return append(rows, a.audience.Airy(r.W, r.H-1, func(h int) []string { return a.table().Draw(r.W, h) })...)
	}
	return append(rows, a.detail.Draw(r.W, r.H-1)...)
}

func (a *app) paneTitle(p layout.Pane, room int) string {
	switch p {
	case layout.Tree:
		return "1 Servers"
	case layout.Stream:
		if words := a.stream.BelowWords(); words != "" && !a.stream.Follow && a.panes.Now.Crumb.Empty() { // else that says it
			return "2 Stream " + a.Glyphs.Dot + " " + words
		}
		return "2 Stream"
	case layout.Subs, layout.Log:
		return a.board().Title(room)
	}
	switch {
	case a.rowSub() != nil, a.onNode():
		return "3 Detail " + a.Glyphs.Dot + " health"
	case a.showsRecord():
		return a.detail.Title(room)
	}
	return "3 Detail"
}

func (a *app) drawTiny() string {
	c := &a.statuses
	c.Begin(&a.Theme, a.panes.W)
	text := fmt.Sprintf("%s, %d in trouble, %s stored", cells.Count(a.tree.Total.All, "sub"), a.tree.Total.Trouble, cells.Number(a.snap.Last))
	if needs, cut := a.cut(); cut {
		text = a.cutWords(needs)
	} else if a.note.text != "" {
		text = a.note.text
	}
	lines := cells.Wrap(text, a.panes.W, a.panes.H)
	for range (a.panes.H - len(lines)) / 2 {
		c.End()
	}
	for _, line := range lines {
		c.Fill((a.panes.W - line.Width) / 2)
		c.Safe(themes.Plain, line)
		c.End()
	}
	return strings.Join(c.Rows(a.panes.H, nil), "\n")
}
