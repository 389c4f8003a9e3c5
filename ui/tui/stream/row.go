package stream

import (
	"strings"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/reading"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// row is a record as the stream shows it. It is formed once, and drawn once for each layoutKey.
type row struct {
	kind   event.Kind
	at     time.Time
	Server trust.Rendered
	Type   trust.Rendered
	Text   trust.Rendered
	role   themes.Role
	folded int  // the number of changes of state; 0 for other records
	marker bool // not an event: a gap, a change of state, a refused payload
	signs  evidence.Signs
	word   trust.Rendered // the sender's word for the severity; the kind of a marker
	level  reading.Level
	stamp  stamp
	sub    string
	mode   string
	size   string
	paths  []trust.Rendered // the values of the [ColPath] columns of the plan
	labels *rowLabels       // nil: none

	line string // the drawn row when it is not chosen
	key  layoutKey
}

// layoutKey has what a drawn row depends on, except its record.
type layoutKey struct {
	width  int
	plan   int // generation of the plan
	look   int
	pan    int // how far summaries are scrolled to the right, in cells
	clock  cells.TimeView
	now    int64     // the current second, for relative times
	same   int       // the number of leading characters of the time that equal those of the previous row
	before time.Time // when the previous row was received, for times since then
	mark   string    // glyph in the first cell
	marked bool      // the row has a mark whose glyph the cursor hides
	found  string    // the searched text
	edge   batchEdge
}

// Row forms the row of a record.
func Row(r event.Record, pick *reading.Map, p *Plan) *row {
	out := &row{
		kind: r.Kind, at: r.ReceivedAt,
		Server: cells.Sanitize(r.Server), Type: trust.Line(r.Family()),
		marker: r.Kind != event.KindEvent, role: themes.Plain,
	}
	switch {
	case r.Kind == event.KindGap && r.Gap != nil:
		out.role, out.Text, out.word = themes.Gap, cells.Sanitize(evidence.GapWords(*r.Gap, p.clock)), cells.Sanitize("gap")
	case r.Kind == event.KindState && r.State != nil:
		out.role, out.Text, out.word = evidence.StateRole(r.State.State), evidence.StateWords(r), cells.Sanitize("state")
	case r.Kind == event.KindRejected:
		out.role, out.word = themes.Bad, cells.Sanitize("refused")
		out.Text = cells.Join(cells.Sanitize("payload refused: "), trust.Line(r.Reason))
	default:
		said := reading.Read(&r, pick)
		out.Text, out.word, out.level = trust.Line(said.Headline.Value), trust.Line(said.Severity.Value), said.Level
		switch {
		case said.Status == reading.Resolved:
			out.word = cells.Sanitize(said.Status.String()) // not the severity that it had
		case out.word.Width == 0:
			out.word = cells.Sanitize(said.Level.String())
		}
		if out.Text.Width == 0 {
			out.Text = trust.Line(host.Headline(r))
		}
		if out.role = themes.Plain; out.level >= reading.Warning {
			out.role = themes.Strong
		}
	}
	out.sub, out.mode, out.labels = string(r.Sub), evidence.ModeWord(r.Mode), LabelsOf(&r)
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
		out.signs = evidence.SignsOf(r)
	}
	return out
}

// Headline returns the word for the severity of an event, its summary and its level, as in its row.
func (s *Stream) Headline(r *event.Record) (word, summary trust.Rendered, level reading.Level) {
	made, ok := s.Formed[r.Seq]
	if !ok {
		s.plan.clock = s.env.Times
		made = Row(*r, s.pick(r), &s.plan)
	}
	return made.word, made.Text, made.level
}

// draw writes the row after its first cell, which shows the cursor.
func (r *row) draw(c *cells.Canvas, g *cells.Glyphs, cols layoutKey, p *Plan) {
	path, last := 0, true
	var signs evidence.Signs
	for i, col := range p.cols {
		if r.marker && col.Kind != ColTime && col.Kind != ColSeverity && col.Kind != ColServer && col.Kind != ColType {
			continue // its text takes the place of these columns
		}
		value := trust.Rendered{}
		if col.Kind == ColPath && path < len(r.paths) {
			value = r.paths[path]
			path++
		}
		if col.Kind == ColSummary {
			last = false
			signs = r.drawText(c, g, cols, p, p.after(i))
			continue
		}
		if p.width[i] > 0 {
			r.drawColumn(c, g, col.Kind, value, cols, p, p.width[i])
		}
	}
	if last {
		signs = r.drawText(c, g, cols, p, 0)
	}
	signs.Draw(c)
}

// after returns the width of the columns after column i.
func (p *Plan) after(i int) int {
	n := 0
	for _, w := range p.width[i+1:] {
		if w > 0 {
			n += w + 1
		}
	}
	return n
}

func (r *row) drawColumn(c *cells.Canvas, g *cells.Glyphs, kind Kind, value trust.Rendered, cols layoutKey, p *Plan, width int) {
	switch kind {
	case ColTime:
		r.drawTime(c, cols, p, width)
		return
	case ColSeverity:
		r.drawSeverity(c, g, width)
	case ColServer:
		c.Column(themes.Server, r.Server, width)
	case ColType:
		c.Column(themes.Type, r.Type, width)
	case ColSub:
		c.Column(themes.Dim, cells.Sanitize(r.sub), width)
	case ColMode:
		c.Column(themes.Dim, cells.Sanitize(r.mode), width)
	case ColSize:
		c.Field(themes.Dim, cells.Sanitize(r.size), width, true)
		return
	case ColPriority:
		value = r.labels.value(kind)
		c.Column(evidence.WordLevelRole(value.Plain()), value, width)
	case ColSubscribed, ColTags, ColBatch:
		c.Column(themes.Dim, r.labels.value(kind), width)
	default:
		c.Column(themes.Plain, value, width)
	}
	c.Put(themes.Plain, " ")
}

// stamp is the formatted time of a row.
type stamp struct {
	text  string
	clock cells.TimeView
	width int
	today int
}

// clockText returns the formatted time of the row, for a view that depends on nothing else but the
// day.
func (p *Plan) clockText(r *row, clock cells.TimeView, width int) string {
	if s := &r.stamp; s.text == "" || s.clock != clock || s.width != width || s.today != p.of.today {
		*s = stamp{clock.Text(r.at, p.now, time.Time{}, width), clock, width, p.of.today}
	}
	return r.stamp.text
}

// sameTime returns the number of leading characters of the time of a row that equal those of the
// previous row.
func (p *Plan) sameTime(r, before *row) int {
	if p.clock == cells.TimeRelative || p.clock == cells.TimeDelta {
		return 0
	}
	for i, c := range p.cols {
		if c.Kind == ColTime && p.width[i] > 0 {
			a, b, n := p.clockText(r, p.clock, p.width[i]), p.clockText(before, p.clock, p.width[i]), 0
			for n < len(a) && n < len(b) && a[n] == b[n] {
				n++
			}
			return n
		}
	}
	return 0
}

// drawTime writes the time; characters that equal those of the previous row are fainter.
func (r *row) drawTime(c *cells.Canvas, cols layoutKey, p *Plan, width int) {
	if cols.clock == cells.TimeRelative || cols.clock == cells.TimeDelta {
		c.Put(themes.Dim, cols.clock.Text(r.at, time.Unix(cols.now, 0), cols.before, width)+" ")
		return
	}
	text := p.clockText(r, cols.clock, width)
	same := min(cols.same, len(text))
	c.Put(themes.Faint, text[:same])
	c.Put(themes.Dim, text[same:])
	c.Put(themes.Plain, " ")
}

// drawSeverity writes a bar in the role of the severity, which marks text of a server, and the
// sender's word. The word of a marker is the program's and has no bar.
func (r *row) drawSeverity(c *cells.Canvas, g *cells.Glyphs, width int) {
	if r.marker {
		word := " " + r.word.Plain()
		if len(word) > width {
			word = shortened(word[1:], width)
		}
		c.Column(r.role, cells.Sanitize(word), width)
		return
	}
	if r.word.Width == 0 {
		c.Put(themes.Faint, g.Gutter)
		c.Style(themes.Plain)
		c.Fill(width - 1)
		return
	}
	role, word := evidence.LevelRole(r.level), r.word
	if r.level != reading.None && word.Width >= width { // the beginning of a known word is enough
		word = cells.Sanitize(shortened(word.Plain(), width-1))
	}
	c.Put(role, g.Gutter)
	c.Column(evidence.WordRole(r.level), word, width-1)
}

// shortened returns the beginning of a known word, which is ASCII.
func shortened(word string, room int) string {
	if strings.EqualFold(word, "error") {
		room = min(room, len("err"))
	}
	return word[:min(len(word), max(room, 0))]
}

// drawText writes the summary and leaves room for signs and later columns. It returns the signs that
// fit.
func (r *row) drawText(c *cells.Canvas, g *cells.Glyphs, cols layoutKey, p *Plan, after int) evidence.Signs {
	if cols.marked {
		c.Put(themes.Key, g.Mark+" ")
	}
	drawBatchEdge(c, g, cols.edge)
	signs := r.signs.Fit(c.Room - after)
	room := max(0, c.Room-signs.Width()-after)
	text := cells.Pan(r.Text, cols.pan)
	if !r.marker {
		if after > 0 {
			room--
		}
		text = text.Clip(room)
		c.Safe(r.role, text)
		c.Column(themes.Dim, r.suffix(p), room-text.Width)
		if after > 0 {
			c.Put(themes.Plain, " ")
		}
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
