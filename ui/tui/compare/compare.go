// Package compare shows what differs between two records.
package compare

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Open shows what differs between a and b.
func Open(env *cells.Env, screen widget.Screen, a, b *event.Record) {
	d := &dialog{env: env, screen: screen, a: a.Seq, b: b.Seq}
	d.differs, d.alike = incidents.Compare(a, b)
	screen.Show(d)
}

type dialog struct {
	env     *cells.Env
	screen  widget.Screen
	a, b    uint64
	differs []incidents.Difference
	alike   int
	top     int
	shown   int
}

// Title implements [widget.Dialog].
func (d *dialog) Title() string {
	return "Compare record " + cells.Number(d.a) + " with " + cells.Number(d.b)
}

// Size implements [widget.Dialog].
func (d *dialog) Size(w, h int) (int, int) {
	return max(1, min(w-4, 140)), max(3, min(h-6, 3*len(d.differs)+2))
}

// Draw implements [widget.Dialog]. Each difference takes three rows, so that it reads
// without colours, and long values have the width of the screen.
func (d *dialog) Draw(c *cells.Canvas, h int) {
	d.shown = max(1, (h-1)/3)
	d.top = max(0, min(d.top, len(d.differs)-d.shown))
	c.Put(themes.Strong, " "+cells.Count(len(d.differs), "difference"))
	c.Put(themes.Dim, ", "+cells.Count(d.alike, "value")+" alike")
	if len(d.differs) > d.shown {
		c.Right(themes.Dim, strconv.Itoa(d.top+1)+" to "+strconv.Itoa(min(d.top+d.shown, len(d.differs)))+" ")
	}
	c.End()
	for i := d.top; i < min(d.top+d.shown, len(d.differs)); i++ {
		x := &d.differs[i]
		role := themes.Key
		if x.Around {
			role = themes.Dim
		}
		c.Put(themes.Plain, " ")
		c.Safe(role, trust.Line(x.Path).Clip(c.Room))
		c.End()
		side(c, themes.Bad, "  - ", x.A, x.HasA)
		side(c, themes.Good, "  + ", x.B, x.HasB)
	}
}

// side writes one of two values.
func side(c *cells.Canvas, role themes.Role, sign string, t trust.Text, has bool) {
	c.Put(role, sign)
	if has {
		c.Safe(themes.Plain, trust.Line(t).Clip(c.Room))
	} else {
		c.Put(themes.Dim, "(absent)")
	}
	c.End()
}

// Key implements [widget.Dialog].
func (d *dialog) Key(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc", "q", "enter":
		d.screen.Show(nil)
	case "j", "down":
		d.top++
	case "k", "up":
		d.top--
	case "pgdown", "ctrl+d":
		d.top += d.shown
	case "pgup", "ctrl+u":
		d.top -= d.shown
	case "g", "home":
		d.top = 0
	case "G", "end":
		d.top = len(d.differs)
	}
	d.top = max(0, min(d.top, len(d.differs)-d.shown))
	return nil
}

// Paste implements [widget.Dialog].
func (d *dialog) Paste(string) tea.Cmd { return nil }

// Hints implements [widget.Dialog].
func (d *dialog) Hints() []string { return []string{"j k", "move", "esc", "back"} }
