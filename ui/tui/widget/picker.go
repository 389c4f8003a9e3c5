package widget

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Pick is a line that can be chosen.
type Pick struct {
	Kind string // what it is, e.g. "server"
	Text trust.Rendered
	Keys string // the operator's keys, if it has some
	Find string // what is searched, in lower case
	Run  func() tea.Cmd
}

// Picker is a field and the list of what answers to it. Letters go to the
// field; arrows move in the list.
type Picker struct {
	Field   Field
	all     []Pick
	Found   []int
	At, top int
	shown   int
}

// Refill lists other lines; what is typed stays.
func (p *Picker) Refill(all []Pick) {
	typed := p.Field.Text()
	*p = NewPicker(all)
	p.Field.Set(typed)
	p.Search()
}

// NewPicker lists all lines; nothing is typed yet.
func NewPicker(all []Pick) Picker {
	p := Picker{all: all, shown: 10}
	p.Search()
	return p
}

// Search lists anew what answers to the field.
func (p *Picker) Search() {
	p.Found = rank(p.Field.Text(), len(p.all), func(i int) string { return p.all[i].Find })
	p.At, p.top = 0, 0
}

// Chosen returns the line under the cursor, nil if there is none.
func (p *Picker) Chosen() *Pick {
	if p.At >= len(p.Found) {
		return nil
	}
	return &p.all[p.Found[p.At]]
}

// Key moves or types, and tells whether the text changed.
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

// Insert takes pasted text.
func (p *Picker) Insert(s string) {
	p.Field.Insert(s)
	p.Search()
}

// DrawField writes the line that is typed, and which lines of the list the h rows below it
// show, if these are not all.
func (p *Picker) DrawField(c *cells.Canvas, sign string, h int) {
	c.Put(themes.Key, " "+sign+" ")
	p.Field.DrawLine(c, 0, true)
	p.lay(h)
	if n := len(p.Found); n > p.shown {
		c.Right(themes.Dim, fmt.Sprintf("%d-%d of %d ", p.top+1, min(p.top+p.shown, n), n))
	}
	c.End()
}

// lay takes how many rows the list has room for, and keeps the chosen one in sight.
func (p *Picker) lay(h int) {
	p.shown = max(1, h)
	p.top = max(min(p.top, p.At), p.At-p.shown+1)
}

// DrawList writes h rows of what was found; row writes one behind its first cell.
func (p *Picker) DrawList(g *cells.Glyphs, c *cells.Canvas, h int, row func(c *cells.Canvas, x *Pick)) {
	p.lay(h)
	for i := p.top; i < len(p.Found) && i < p.top+h; i++ {
		c.Mark(i == p.At, g.Cursor)
		row(c, &p.all[p.Found[i]])
		c.End()
	}
}

// Findable is text as a search reads it.
func Findable(parts ...string) string { return strings.ToLower(strings.Join(parts, " ")) }
