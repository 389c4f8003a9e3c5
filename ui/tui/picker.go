package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// pick is a line that can be chosen.
type pick struct {
	kind string // what it is, e.g. "server"
	text trust.Rendered
	keys string // the operator's keys, if it has some
	find string // what is searched, in lower case
	run  func(*app) tea.Cmd
}

// picker is a field and the list of what answers to it. Letters go to the
// field; arrows move in the list.
type picker struct {
	field   editor
	all     []pick
	found   []int
	at, top int
	shown   int
}

func newPicker(all []pick) picker {
	p := picker{all: all, shown: 10}
	p.field.one = true
	p.field.set("")
	p.search()
	return p
}

// search lists anew what answers to the field.
func (p *picker) search() {
	p.found = rank(p.field.text(), len(p.all), func(i int) string { return p.all[i].find })
	p.at, p.top = 0, 0
}

// chosen returns the line under the cursor, nil if there is none.
func (p *picker) chosen() *pick {
	if p.at >= len(p.found) {
		return nil
	}
	return &p.all[p.found[p.at]]
}

// key moves or types, and tells whether the text changed.
func (p *picker) key(name, text string) (typed bool) {
	switch name {
	case "down", "ctrl+n", "ctrl+j":
		p.by(1)
	case "up", "ctrl+k":
		p.by(-1)
	case "pgdown", "ctrl+d":
		p.by(max(1, p.shown/2))
	case "pgup":
		p.by(-max(1, p.shown/2))
	default:
		if p.field.key(name, text) {
			p.search()
			return true
		}
	}
	return false
}

func (p *picker) by(n int) { p.at = max(0, min(p.at+n, len(p.found)-1)) }

// insert takes pasted text.
func (p *picker) insert(s string) {
	p.field.insert(s)
	p.search()
}

// drawField writes the line that is typed.
func (p *picker) drawField(c *cells.Canvas, sign string) {
	c.Put(themes.Key, " "+sign+" ")
	p.field.drawLine(c, 0, true)
	c.End()
}

// drawList writes h rows of what was found; row writes one behind its first cell.
func (p *picker) drawList(a *app, c *cells.Canvas, h int, row func(c *cells.Canvas, x *pick)) {
	p.shown = max(1, h)
	p.top = max(min(p.top, p.at), p.at-p.shown+1)
	for i := p.top; i < len(p.found) && i < p.top+h; i++ {
		mark := " "
		if i == p.at {
			c.Only(themes.Cursor)
			mark = a.Glyphs.Cursor
		}
		c.Put(themes.Plain, mark)
		row(c, &p.all[p.found[i]])
		c.End()
	}
}

// findable is text as a search reads it.
func findable(parts ...string) string { return strings.ToLower(strings.Join(parts, " ")) }
