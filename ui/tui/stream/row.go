package stream

import (
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/flags"
)

// row is one record as the stream shows it: formed once, laid out once for each
// width and look.
type row struct {
	kind   event.Kind
	at     time.Time
	Server trust.Rendered
	Type   trust.Rendered
	Text   trust.Rendered
	role   themes.Role
	marker bool // no event: a gap, a change of state, a refusal
	signs  flags.Signs
	field  trust.Rendered
	grave  themes.Role
	sub    string
	mode   string
	size   string
	paths  []trust.Rendered // values of the columns of the plan that show a place
	labels *rowLabels       // nil: none

	line string // laid out, not chosen
	key  columns
}

// columns is what a row was laid out for.
type columns struct {
	width  int
	plan   int // generation of the plan
	look   int
	pan    int            // cells of the text that are left of the pane
	clock  cells.TimeView // how times are shown
	now    int64          // second, where times are relative to it
	before time.Time      // when the row before was received, where times are relative to that
	mark   string         // glyph in the first cell
	found  string         // what is searched and highlighted
	joint  joint          // with the rows beside it
}

// Row makes the row of a record.
func Row(r event.Record, pick TypePick, p *Plan) *row {
	out := &row{
		kind: r.Kind, at: r.ReceivedAt,
		Server: cells.Sanitize(r.Server), Type: trust.Line(r.Type),
		marker: r.Kind != event.KindEvent, role: themes.Plain,
	}
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		out.role, out.Text = themes.Gap, cells.Sanitize(evidence.GapWords(*r.Gap, p.clock))
	case r.Kind == event.KindState && r.State != nil:
		out.role, out.Text = evidence.StateRole(r.State.State), evidence.StateWords(r)
	case r.Kind == event.KindRejected:
		out.role = themes.Bad
		out.Text = cells.Join(cells.Sanitize("payload refused: "), trust.Line(r.Reason))
	default:
		out.Text = trust.Line(summaryOf(&r, pick))
		out.field = fieldOf(&r, pick)
		out.grave = evidence.Gravity(out.field.Plain())
		if word := out.field.Plain(); word != "" && word == out.Text.Plain() {
			out.Text = trust.Line(compactOf(&r)) // the same twice would tell nothing
		}
	}
	out.sub, out.mode, out.labels = string(r.Sub), evidence.ModeWord(r.Mode), LabelsOf(r.Labels)
	if n := len(r.Raw); n > 0 {
		out.size = cells.ShortBytes(n)
	}
	for _, c := range p.cols {
		if c.Kind == ColPath {
			t, _ := ValueAt(r.Data, c.Path)
			out.paths = append(out.paths, trust.Line(t))
		}
	}
	if !out.marker || r.Kind == event.KindRejected {
		out.signs = flags.SignsOf(r)
	}
	return out
}

// lay writes the row. Everything but the first cell, which shows the cursor.
func (r *row) lay(c *cells.Canvas, g *cells.Glyphs, cols columns, p *Plan) {
	path, last := 0, true
	var signs flags.Signs
	for i, col := range p.cols {
		if r.marker && col.Kind != ColTime && col.Kind != ColServer && col.Kind != ColType {
			continue // its text has all the room
		}
		value := trust.Rendered{}
		if col.Kind == ColPath && path < len(r.paths) {
			value = r.paths[path]
			path++
		}
		if col.Kind == ColSummary {
			last = false
			signs = r.layText(c, g, cols, p.after(i))
			continue
		}
		if p.width[i] > 0 {
			r.layColumn(c, col.Kind, value, cols, p.width[i])
		}
	}
	if last {
		signs = r.layText(c, g, cols, 0)
	}
	signs.Lay(c)
}

// after is the room that the columns behind one take.
func (p *Plan) after(i int) int {
	n := 0
	for _, w := range p.width[i+1:] {
		if w > 0 {
			n += w + 1
		}
	}
	return n
}

func (r *row) layColumn(c *cells.Canvas, kind Kind, value trust.Rendered, cols columns, width int) {
	switch kind {
	case ColTime:
		c.Put(themes.Dim, cols.clock.Text(r.at, time.Unix(cols.now, 0), cols.before, width)+" ")
		return
	case ColServer:
		c.Column(r.dimmed(themes.Server), r.Server, width)
	case ColType:
		c.Column(r.dimmed(themes.Type), r.Type, width)
	case ColField:
		c.Column(r.grave, r.field, width)
	case ColSub:
		c.Column(themes.Dim, cells.Sanitize(r.sub), width)
	case ColMode:
		c.Column(themes.Dim, cells.Sanitize(r.mode), width)
	case ColSize:
		c.Field(themes.Dim, cells.Sanitize(r.size), width, true)
		return
	case ColPriority:
		value = r.labels.value(kind)
		c.Column(evidence.Gravity(value.Plain()), value, width)
	case ColName, ColTags, ColBatch:
		role := themes.Plain
		if kind != ColName {
			role = themes.Dim
		}
		c.Column(role, r.labels.value(kind), width)
	default:
		c.Column(themes.Plain, value, width)
	}
	c.Put(themes.Plain, " ")
}

func (r *row) dimmed(role themes.Role) themes.Role {
	if r.marker {
		return themes.Dim
	}
	return role
}

// layText writes the summary into the room that signs and later columns leave, and
// returns the signs that it left room for.
func (r *row) layText(c *cells.Canvas, g *cells.Glyphs, cols columns, after int) flags.Signs {
	layJoint(c, g, cols.joint)
	signs := r.signs.Fit(c.Room - after)
	room := max(0, c.Room-signs.Width()-after)
	text := cells.Pan(r.Text, cols.pan)
	if !r.marker {
		if after == 0 {
			c.Safe(themes.Plain, text.Clip(room))
			return signs
		}
		c.Column(themes.Plain, text, room-1)
		c.Put(themes.Plain, " ")
		return signs
	}
	keep := c.Room - room
	c.Room = room
	c.Put(r.role, g.Gap+g.Gap+" ")
	c.Safe(r.role, text.Clip(c.Room))
	if c.Room > 1 && signs.Width() == 0 {
		c.Put(r.role, " ")
		c.Rule(r.role, g.Gap)
	}
	c.Style(themes.Plain)
	c.Fill(c.Room)
	c.Room = keep
	return signs
}
