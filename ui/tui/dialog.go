package tui

import (
	"unicode"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
)

// dialog is a box over the panes that has all keys.
type dialog interface {
	title() string
	// size returns the cells it would like to have inside its frame.
	size(a *app) (w, h int)
	draw(a *app, c *canvas, h int)
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
		w = max(w, ours(s).Width+2)
	}
	return w, len(d.text) + len(d.choices) + 3
}

func (d *confirm) draw(_ *app, c *canvas, _ int) {
	for _, s := range d.text {
		c.put(themes.Plain, " ")
		c.safe(themes.Plain, ours(s).Clip(c.room))
		c.end()
	}
	c.end()
	for _, ch := range append(d.choices[:len(d.choices):len(d.choices)], choice{key: "esc", title: "go back, nothing happens"}) {
		c.put(themes.Key, " "+pad(ch.key, 5))
		c.put(themes.Plain, ch.title)
		c.end()
	}
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

// help lists what works in the place from which it was opened, and runs it.
type help struct {
	rows    []*action
	at, top int
}

func newHelp(a *app) *help {
	d := &help{}
	for i := range a.actions {
		if x := &a.actions[i]; x.works(a) && x.id != "help" {
			d.rows = append(d.rows, x)
		}
	}
	return d
}

func (d *help) title() string        { return "Keys that work here" }
func (d *help) size(*app) (int, int) { return 62, len(d.rows) }

func (d *help) draw(a *app, c *canvas, h int) {
	if d.at < d.top {
		d.top = d.at
	}
	if d.at >= d.top+h {
		d.top = d.at - h + 1
	}
	for i := d.top; i < len(d.rows) && i < d.top+h; i++ {
		mark := " "
		if i == d.at {
			c.only(themes.Cursor)
			mark = a.glyphs.cursor
		}
		c.put(themes.Plain, mark)
		c.put(themes.Key, pad(d.rows[i].keyWords(), 16))
		c.put(themes.Plain, d.rows[i].title)
		c.end()
	}
}

func (d *help) key(a *app, name, _ string) tea.Cmd {
	switch name {
	case "esc", "q", "?":
		a.dialog = nil
	case "j", "down":
		d.at = min(d.at+1, len(d.rows)-1)
	case "k", "up":
		d.at = max(d.at-1, 0)
	case "g", "home":
		d.at = 0
	case "G", "end":
		d.at = len(d.rows) - 1
	case "enter":
		a.dialog = nil
		if x := d.rows[d.at]; x.works(a) {
			return x.run(a)
		}
	}
	return nil
}

func (d *help) paste(*app, string) tea.Cmd { return nil }
func (d *help) hints() []string            { return []string{"j k", "move", "enter", "do it", "esc", "back"} }

// prompt is the filter line. The stream follows what is typed.
type prompt struct {
	field  editor
	before query
	err    error // what is typed is no filter; the stream stays as it was
}

func (a *app) openFilter() {
	a.prompt = &prompt{before: a.stream.query}
	a.prompt.field.one = true
	a.prompt.field.set(a.stream.query.text)
	a.enter(streamPane)
}

func (p *prompt) key(a *app, name, text string) {
	switch name {
	case "esc":
		a.prompt = nil
		a.requery(p.before)
	case "enter":
		if p.err == nil {
			a.prompt = nil
		}
	default:
		if p.field.key(name, text) {
			p.apply(a)
		}
	}
}

func (p *prompt) insert(a *app, s string) {
	p.field.insert(s)
	p.apply(a)
}

// apply shows what the filter takes, if it is one.
func (p *prompt) apply(a *app) {
	var q query
	if q, p.err = newQuery(p.before.node, p.field.text(), a.clock()); p.err == nil {
		a.requery(q)
	}
}

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
func (e *editor) drawLine(c *canvas, i int, on bool) {
	role := themes.Field
	if on {
		role = themes.FieldOn
	}
	l := e.lines[i]
	if !on || i != e.row {
		c.safe(role, ours(string(l)).Clip(c.room))
		return
	}
	// Keep the cursor in sight.
	start := 0
	for start < e.col && ours(string(l[start:e.col])).Width+1 > c.room {
		start++
	}
	c.safe(role, ours(string(l[start:e.col])))
	under := " "
	if e.col < len(l) {
		under = ours(string(l[e.col : e.col+1])).Plain()
	}
	c.put(themes.Cursor, under)
	if e.col+1 <= len(l) {
		c.safe(role, ours(string(l[e.col+1:])).Clip(c.room))
	}
}

func pad(s string, n int) string {
	for len(s) < n {
		s += " "
	}
	return s + " "
}
