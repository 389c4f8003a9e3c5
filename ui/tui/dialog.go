package tui

import (
	"slices"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// dialog is a box over the panes that has all keys.
type dialog interface {
	title() string
	// size returns the cells it would like to have inside its frame.
	size(a *app) (w, h int)
	draw(a *app, c *cells.Canvas, h int)
	key(a *app, name, text string) tea.Cmd
	paste(a *app, text string) tea.Cmd
	hints() []string // key, word, key, word …
}

// confirm asks the operator to choose; esc chooses nothing.
type confirm struct {
	head    string
	text    []string
	choices []choice
	gone    func(*app) // it was closed without a choice
}

type choice struct {
	key, title string
	run        func(*app) tea.Cmd
}

func (d *confirm) title() string { return d.head }

func (d *confirm) size(*app) (int, int) {
	w := 44
	for _, s := range d.text {
		w = max(w, cells.Sanitize(s).Width+2)
	}
	for _, ch := range d.choices {
		w = max(w, cells.Sanitize(ch.title).Width+8)
	}
	return w, len(d.text) + len(d.choices) + 3
}

func (d *confirm) draw(_ *app, c *cells.Canvas, _ int) {
	for _, s := range d.text {
		c.Put(themes.Plain, " ")
		c.Safe(themes.Plain, cells.Sanitize(s).Clip(c.Room))
		c.End()
	}
	c.End()
	for _, ch := range d.all() {
		c.Put(themes.Key, " "+cells.Pad(ch.key, 5))
		c.Put(themes.Plain, ch.title)
		c.End()
	}
}

// all are the choices and what esc does.
func (d *confirm) all() []choice {
	if slices.ContainsFunc(d.choices, func(c choice) bool { return c.key == "esc" }) {
		return d.choices
	}
	return append(d.choices[:len(d.choices):len(d.choices)], choice{key: "esc", title: "go back, nothing happens"})
}

func (d *confirm) key(a *app, name, _ string) tea.Cmd {
	for _, ch := range d.choices {
		if ch.key == name {
			a.dialog = nil
			return ch.run(a)
		}
	}
	if name == "esc" || name == "q" || name == "n" {
		a.dialog = nil
		if d.gone != nil {
			d.gone(a)
		}
	}
	return nil
}

func (d *confirm) paste(*app, string) tea.Cmd { return nil }
func (d *confirm) hints() []string            { return []string{"esc", "back"} }

// editor is a small field for text: one line, or several.
type editor struct {
	lines    [][]rune
	row, col int
	one      bool // one line only
}

func (e *editor) set(s string) {
	e.lines, e.row, e.col = [][]rune{nil}, 0, 0
	e.insert(s)
}

func (e *editor) text() string {
	var out []rune
	for i, l := range e.lines {
		if i > 0 {
			out = append(out, '\n')
		}
		out = append(out, l...)
	}
	return string(out)
}

// insert takes text at the cursor. What is no letter, blank or line end is left out.
func (e *editor) insert(s string) {
	if len(e.lines) == 0 {
		e.lines = [][]rune{nil}
	}
	for _, r := range s {
		switch {
		case r == '\n' && !e.one:
			rest := append([]rune(nil), e.lines[e.row][e.col:]...)
			e.lines[e.row] = e.lines[e.row][:e.col:e.col]
			e.lines = append(e.lines[:e.row+1], append([][]rune{rest}, e.lines[e.row+1:]...)...)
			e.row, e.col = e.row+1, 0
			continue
		case r == '\n' || r == '\t':
			r = ' '
		case !unicode.IsGraphic(r):
			continue
		}
		l := e.lines[e.row]
		e.lines[e.row] = append(l[:e.col:e.col], append([]rune{r}, l[e.col:]...)...)
		e.col++
	}
}

// key edits by one key and reports whether the text changed.
func (e *editor) key(name, text string) bool {
	if len(e.lines) == 0 {
		e.lines = [][]rune{nil}
	}
	switch name {
	case "left":
		if e.col > 0 {
			e.col--
		} else if e.row > 0 {
			e.row--
			e.col = len(e.lines[e.row])
		}
	case "right":
		if e.col < len(e.lines[e.row]) {
			e.col++
		} else if e.row < len(e.lines)-1 {
			e.row, e.col = e.row+1, 0
		}
	case "up", "down":
		if name == "up" {
			e.row = max(0, e.row-1)
		} else {
			e.row = min(e.row+1, len(e.lines)-1)
		}
		e.col = min(e.col, len(e.lines[e.row]))
	case "home", "ctrl+a":
		e.col = 0
	case "end", "ctrl+e":
		e.col = len(e.lines[e.row])
	case "backspace":
		return e.erase()
	case "delete":
		if e.row == len(e.lines)-1 && e.col == len(e.lines[e.row]) {
			return false
		}
		e.key("right", "")
		return e.erase()
	case "ctrl+u":
		e.set("")
		return true
	case "enter":
		if e.one {
			return false
		}
		e.insert("\n")
		return true
	default:
		if text == "" {
			return false
		}
		e.insert(text)
		return true
	}
	return false
}

func (e *editor) erase() bool {
	l := e.lines[e.row]
	switch {
	case e.col > 0:
		e.lines[e.row] = append(l[:e.col-1:e.col-1], l[e.col:]...)
		e.col--
	case e.row > 0:
		above := e.lines[e.row-1]
		e.col = len(above)
		e.lines[e.row-1] = append(above[:len(above):len(above)], l...)
		e.lines = append(e.lines[:e.row], e.lines[e.row+1:]...)
		e.row--
	default:
		return false
	}
	return true
}

// drawLine writes one line of the field with its cursor.
func (e *editor) drawLine(c *cells.Canvas, i int, on bool) {
	role := themes.Field
	if on {
		role = themes.FieldOn
	}
	l := e.lines[i]
	if !on || i != e.row {
		c.Safe(role, cells.Sanitize(string(l)).Clip(c.Room))
		return
	}
	// Keep the cursor in sight.
	start := 0
	for start < e.col && cells.Sanitize(string(l[start:e.col])).Width+1 > c.Room {
		start++
	}
	c.Safe(role, cells.Sanitize(string(l[start:e.col])))
	under := " "
	if e.col < len(l) {
		under = cells.Sanitize(string(l[e.col : e.col+1])).Plain()
	}
	c.Put(themes.Cursor, under)
	if e.col+1 <= len(l) {
		c.Safe(role, cells.Sanitize(string(l[e.col+1:])).Clip(c.Room))
	}
}
