// Shows the differences between two records.

package trace

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

// OpenComparison shows the differences between a and b.
func OpenComparison(env *cells.Env, screen widget.Screen, a, b *event.Record) {
	d := &comparison{env: env, screen: screen, a: a.Seq, b: b.Seq}
	d.differs, d.alike = incidents.Compare(a, b)
	screen.Show(d)
}

type comparison struct {
	env     *cells.Env
	screen  widget.Screen
	a, b    uint64
	differs []incidents.Difference
	alike   int
	sight   widget.Scroll
}

func (d *comparison) Title() string {
	return "Compare record " + cells.Number(d.a) + " with " + cells.Number(d.b)
}

func (d *comparison) Size(w, h int) (int, int) {
	return max(1, min(w-4, 140)), max(3, min(h-6, 3*len(d.differs)+2))
}

// Draw implements [widget.Dialog]. Each difference takes three rows, so that it can be read without
// colours and long values get the whole width.
func (d *comparison) Draw(c *cells.Canvas, h int) {
	first, end := d.sight.Visible(len(d.differs), max(1, (h-1)/3))
	c.Put(themes.Strong, " "+cells.Count(len(d.differs), "difference"))
	c.Put(themes.Dim, ", "+cells.Count(d.alike, "value")+" alike")
	if end-first < len(d.differs) {
		c.Right(themes.Dim, strconv.Itoa(first+1)+" to "+strconv.Itoa(end)+" ")
	}
	c.End()
	for i := first; i < end; i++ {
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

func (d *comparison) Key(k tea.KeyPressMsg) tea.Cmd { return widget.ReadKey(d.screen, &d.sight, k) }

func (d *comparison) Hints() []string { return []string{"j k", "move", "esc", "back"} }
