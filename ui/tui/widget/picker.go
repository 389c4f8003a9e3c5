package widget

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Pick is a line of a [Picker].
type Pick struct {
	Kind string // such as "server"
	Text trust.Rendered
	Keys string // the keys that do the same, "" for none
	Find string // the searchable text; see [Findable]
	Run  func() tea.Cmd
}

// Picker is a text field and the list of lines that match it, the best first. Letters go to the
// field; arrows move in the list.
type Picker struct {
	Field Field
	Found []int // the matching lines, as indexes into those of [NewPicker]
	At    int   // the chosen line, as an index into Found
	all   []Pick
	top   int // the first visible line, as an index into Found
	shown int // the number of lines that fit
}

// Refill replaces the lines; the text of the field stays.
func (p *Picker) Refill(all []Pick) {
	typed := p.Field.Text()
	*p = NewPicker(all)
	p.Field.Set(typed)
	p.Search()
}

// NewPicker returns a picker with an empty field, which all lines match.
func NewPicker(all []Pick) Picker {
	p := Picker{all: all, shown: 10}
	p.Search()
	return p
}

// Search updates Found. It must be called after Field was changed directly.
func (p *Picker) Search() {
	p.Found = rank(p.Field.Text(), len(p.all), func(i int) string { return p.all[i].Find })
	p.At, p.top = 0, 0
}

// Chosen returns the chosen line, nil if no line matches.
func (p *Picker) Chosen() *Pick {
	if p.At >= len(p.Found) {
		return nil
	}
	return &p.all[p.Found[p.At]]
}

// Key handles a key and reports whether the text of the field changed.
func (p *Picker) Key(k tea.KeyPressMsg) (typed bool) {
	name := k.String()
	switch name {
	case "down", "ctrl+n", "ctrl+j":
		p.by(1)
	case "up", "ctrl+p":
		p.by(-1)
	case "pgdown", "ctrl+d":
		p.by(max(1, p.shown/2))
	case "pgup":
		p.by(-max(1, p.shown/2))
	default:
		if p.Field.Key(k) {
			p.Search()
			return true
		}
	}
	return false
}

func (p *Picker) by(n int) { p.At = max(0, min(p.At+n, len(p.Found)-1)) }

// Insert inserts pasted text.
func (p *Picker) Insert(s string) {
	p.Field.Insert(s)
	p.Search()
}

// DrawField writes the field after a sign, and the range of lines that the h rows of
// [Picker.DrawList] show, unless that is all lines.
func (p *Picker) DrawField(c *cells.Canvas, sign string, h int) {
	c.Put(themes.Key, " "+sign+" ")
	p.Field.DrawLine(c, 0, true)
	p.keepVisible(h)
	if n := len(p.Found); n > p.shown {
		c.Right(themes.Dim, fmt.Sprintf("%d-%d of %d ", p.top+1, min(p.top+p.shown, n), n))
	}
	c.End()
}

// keepVisible scrolls a list of h rows so that the chosen line is visible.
func (p *Picker) keepVisible(h int) {
	p.shown = max(1, h)
	p.top = max(min(p.top, p.At), p.At-p.shown+1)
}

// DrawList writes the matching lines in at most h rows; row writes one of them after the cursor
// glyph.
func (p *Picker) DrawList(g *cells.Glyphs, c *cells.Canvas, h int, row func(c *cells.Canvas, x *Pick)) {
	p.keepVisible(h)
	for i := p.top; i < len(p.Found) && i < p.top+h; i++ {
		c.Mark(i == p.At, g.Cursor)
		row(c, &p.all[p.Found[i]])
		c.End()
	}
}

// Findable joins parts to the text of [Pick.Find].
func Findable(parts ...string) string { return strings.ToLower(strings.Join(parts, " ")) }
