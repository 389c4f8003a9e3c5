package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
)

func (a *app) View() tea.View {
	content := a.draw()
	if n := a.audience.Rows; n > 0 {
		content += "\n" + a.audience.Draw(&a.Env, a.panes.W)
	}
	v := tea.NewView(content)
	v.AltScreen = true
	if a.frame.Cursor.X >= 0 { // input methods open at the cursor
		v.Cursor = tea.NewCursor(a.frame.Cursor.X, a.frame.Cursor.Y)
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
		return strings.ReplaceAll(a.compose(), cells.UnicodeGlyphs.More, cells.ASCIIGlyphs.More) // the mark of cut texts
	}
	return a.compose()
}

// compose draws the panes, with a dialog or a prompt over them.
func (a *app) compose() string {
	if a.panes.W <= 0 || a.panes.H <= 0 {
		return ""
	}
	a.panes.Now = a.arranged()
	if a.panes.Now.Tiny {
		a.react.BeginFrame()
		a.react.EndFrame()
		return a.drawTiny()
	}
	a.react.BeginFrame()
	a.frame.Panes(a.dialog != nil, a.paneTitle, a.paneRows)
	a.react.EndFrame()
	e := layout.Edges{Crumb: a.Edges.Head.Draw(a.panes.W, a.panes.W >= layout.TreeWidth), Status: a.Edges.Status.Draw(a.panes.W), Hints: a.drawHints()}
	if l := a.panes.Now.Scope; !l.Empty() {
		e.Scope = a.Edges.Head.Scope(l.W)
	}
	content := a.frame.Draw(e)
	if a.dialog == nil && a.prompt == nil && a.actions.Chord == "" {
		return content
	}
	lines := strings.Split(content, "\n")
	switch {
	case a.prompt != nil:
		a.frame.Prompt(lines, a.prompt)
	case a.actions.Chord != "" && a.panes.Now.Hints.Empty():
		lines[len(lines)-1] = e.Hints
	}
	if a.dialog != nil {
		needs, _ := a.cut()
		a.frame.Over(lines, a.dialog, needs)
	}
	return strings.Join(lines, "\n")
}

// drawHints draws the keys that work, or the rest of a long failure.
func (a *app) drawHints() string {
	if more := a.Edges.Status.More(a.panes.W); more != "" && a.dialog == nil && a.actions.Chord == "" {
		return more
	}
	var pairs []string
	if a.dialog != nil {
		pairs = a.dialog.Hints()
	}
	return a.actions.Hints(&a.Theme, a.panes.W, pairs)
}

// cut reports whether the dialog or prompt with the focus is not shown in full, and the screen size
// that it needs.
func (a *app) cut() (needs string, cut bool) {
	return a.frame.Cut(a.arranged().Tiny, a.dialog, a.prompt)
}

// paneRows draws the rows of a pane.
func (a *app) paneRows(p layout.Pane, r layout.Rect) []string {
	switch p {
	case layout.Tree:
		return a.audience.Airy(r.W, r.H-1, func(h int) []string { return a.tree.Draw(r.W, h) })
	case layout.Stream:
		n := a.stripRows()
		body := a.audience.Airy(r.W, r.H-1-n, func(h int) []string { return a.stream.Draw(r.W, h) })
		if n == 0 {
			return body
		}
		return slices.Concat(a.strip.Draw(r.W, a.rowsShown()), body)
	case layout.Other:
		return a.audience.Airy(r.W, r.H-1, func(h int) []string { return a.stream.Other.Draw(r.W, h) })
	case layout.React:
		head := a.react.Headline(r.W)
		return append(head, a.audience.Airy(r.W, r.H-1-len(head), func(h int) []string { return a.table().Draw(r.W, h) })...)
	case layout.Subs, layout.Log:
		return a.audience.Airy(r.W, r.H-1, func(h int) []string { return a.table().Draw(r.W, h) })
	}
	return a.detail.Draw(r.W, r.H-1)
}

func (a *app) paneTitle(p layout.Pane, room int) string {
	switch p {
	case layout.Tree:
		return "1 Servers"
	case layout.Other:
		return a.stream.Other.Caption(room)
	case layout.Stream:
		if a.stream.Two {
			return "2 " + a.stream.Caption(room-2)
		}
		if words := a.stream.BelowWords(); words != "" && !a.stream.Follow && a.panes.Now.Crumb.Empty() { // else the top line says it
			return "2 Stream " + a.Glyphs.Dot + " " + words
		}
		return "2 Stream"
	case layout.Subs, layout.Log, layout.React:
		return a.tableTitle(room)
	}
	switch {
	case a.panes.Subject == layout.React:
		if words := a.react.Title(); words != "" {
			return "3 Detail " + a.Glyphs.Dot + " " + words
		}
		return "3 Detail"
	case a.choice.OfRow() != nil, a.choice.OnNode():
		return "3 Detail " + a.Glyphs.Dot + " health"
	case a.detail.ShowsRecord():
		return a.detail.Title(room)
	}
	return "3 Detail"
}

func (a *app) drawTiny() string {
	text := cells.Count(a.tree.Total.All, "sub") + ", " + cmp.Or(a.tree.Total.InTrouble(), "none in trouble") + ", " + cells.Number(a.snap.Last) + " stored"
	if needs, cut := a.cut(); cut {
		text = layout.CutWords(a.dialog, needs)
	} else if note := &a.Edges.Status.Note; note.Text != "" {
		text = note.Words()
	}
	return a.frame.Centred(text)
}
