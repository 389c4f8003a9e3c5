package persist

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// picker is the dialog to choose a theme. The screen has the theme under the cursor.
type picker struct {
	themes  *Selector
	before  themes.Theme
	list    []themes.Theme
	chooser widget.Chooser
}

// Open shows the dialog to choose a theme.
func (s *Selector) Open() {
	p := &picker{themes: s, before: s.env.Theme}
	s.env.Show(p)
	p.load()
}

// load lists the themes, with the cursor on the one in use.
func (p *picker) load() {
	a := p.themes.env
	p.list = p.themes.Themes()
	for i := range p.list {
		if p.list[i].Name == a.Theme.Name {
			p.chooser.At = i
		}
	}
	p.chooser.At = min(p.chooser.At, len(p.list)-1)
}

func (p *picker) Title() string { return "Theme" }

// samples is the number of lines with examples of the theme, below the list.
const samples = 5

func (p *picker) Size(int, int) (int, int) { return 62, len(p.list) + samples + 1 }

func (p *picker) Draw(c *cells.Canvas, h int) {
	a := p.themes.env
	rows := h
	if h > samples+3 {
		rows = h - samples - 1
	}
	first, end := p.chooser.Visible(len(p.list), rows)
	for i := first; i < end; i++ {
		t := &p.list[i]
		c.Mark(i == p.chooser.At, a.Glyphs.Cursor)
		c.Safe(themes.Plain, cells.Sanitize(cells.Pad(t.Name, 16)).Clip(c.Room))
		c.Safe(themes.Dim, cells.Sanitize(t.About).Clip(max(0, c.Room-10)))
		if t.Suits != themes.AnyBackground {
			c.Right(themes.Dim, "on "+t.Suits.String()+" ")
		}
		c.End()
	}
	if rows < h {
		c.End()
		p.sample(c)
	}
}

// sample draws examples of the roles.
func (p *picker) sample(c *cells.Canvas) {
	a := p.themes.env
	c.Put(themes.Plain, " ")
	for _, s := range []event.State{event.StateLive, event.StateStarting, event.StateStale, event.StateSuspended} {
		glyph, role := evidence.Sign(a.Glyphs, s)
		c.Put(role, glyph+" "+string(s)+"  ")
	}
	c.Put(themes.Dim, "ages 3 s")
	c.End()
	c.Put(themes.Gap, " "+a.Glyphs.Gap+a.Glyphs.Gap+" gap: events are missing ")
	c.Rule(themes.Gap, a.Glyphs.Gap)
	c.End()
	c.Put(themes.Gutter, " "+a.Glyphs.Gutter)
	c.Put(themes.Server, "pager ")
	c.Put(themes.Type, "incident.created ")
	c.Safe(themes.Plain, trust.Line(trust.Untrusted("pool \x1b[31mred")))
	c.Put(themes.Bad, " !ctl")
	c.End()
	c.Put(themes.Plain, " ")
	c.Put(themes.Key, "s")
	c.Put(themes.Dim, " subscribe ")
	c.Put(themes.Field, " a field ")
	c.Put(themes.FieldOn, " with the keys ")
	c.Put(themes.Off, " not now")
	c.End()
	c.Only(themes.Alarm)
	c.Put(themes.Plain, " failed: a line that wants attention")
	c.End()
}

func (p *picker) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := p.themes.env
	switch name {
	case "esc", "q", "T":
		a.Show(nil)
		p.themes.apply(p.before)
		return nil
	case "enter":
		a.Show(nil)
		p.themes.name = p.list[p.chooser.At].Name
		return a.Keep(p.themes.name, "theme "+p.themes.name)
	case "r":
		return p.themes.Reload(true)
	}
	if !p.chooser.Key(name, len(p.list)) {
		return nil
	}
	p.themes.apply(p.list[p.chooser.At])
	return nil
}

func (p *picker) Hints() []string {
	return []string{"j k", "look", "enter", "keep", "r", "read yours again", "esc", "as it was"}
}
