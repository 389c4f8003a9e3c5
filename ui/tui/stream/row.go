package stream

import (
	"strings"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/severity"
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
	folded int  // how many changes of state it is of; 0 for other records
	marker bool // no event: a gap, a change of state, a refusal
	signs  flags.Signs
	word   trust.Rendered // the sender's for how bad it is; of a marker what it is
	level  severity.Level
	stamp  stamp
	sub    string
	mode   string
	size   string
	paths  []trust.Rendered // values of the columns of the plan that show a place
	labels *rowLabels       // nil: none

	line string // laid out, not chosen
	key  layoutKey
}

// layoutKey is what a row was laid out for.
type layoutKey struct {
	width  int
	plan   int // generation of the plan
	look   int
	pan    int            // cells of the text that are left of the pane
	clock  cells.TimeView // how times are shown
	now    int64          // second, where times are relative to it
	same   int            // leading characters of the time that the row before has, too
	before time.Time      // when the row before was received, where times are relative to that
	mark   string         // glyph in the first cell
	marked bool           // the cursor stands where the sign of the mark would
	found  string         // what is searched and highlighted
	edge   batchEdge      // with the rows beside it
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
		out.role, out.Text, out.word = themes.Gap, cells.Sanitize(evidence.GapWords(*r.Gap, p.clock)), cells.Sanitize("gap")
	case r.Kind == event.KindState && r.State != nil:
		out.role, out.Text, out.word = evidence.StateRole(r.State.State), evidence.StateWords(r), cells.Sanitize("state")
	case r.Kind == event.KindRejected:
		out.role, out.word = themes.Bad, cells.Sanitize("refused")
		out.Text = cells.Join(cells.Sanitize("payload refused: "), trust.Line(r.Reason))
	default:
		out.Text = trust.Line(summaryOf(&r, pick))
		word := severityOf(&r, pick)
		out.word, out.level = trust.Line(word), severity.LevelOf(word.Raw())
		if out.role = themes.Plain; out.level >= severity.Warning {
			out.role = themes.Strong
		}
		if word := out.word.Plain(); word != "" && word == out.Text.Plain() {
			out.Text = trust.Line(compactOf(&r)) // the same twice would tell nothing
		}
	}
	out.sub, out.mode, out.labels = string(r.Sub), evidence.ModeWord(r.Mode), LabelsOf(r.Labels, r.Type)
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

// Headline is the sender's word for how bad an event is, and what it is about, as its row says
// it.
func (s *Stream) Headline(r *event.Record) (word, summary trust.Rendered) {
	made, ok := s.Formed[r.Seq]
	if !ok {
		s.plan.clock = s.env.Times
		made = Row(*r, s.pick(r), &s.plan)
	}
	return made.word, made.Text
}

// draw writes the row. Everything but the first cell, which shows the cursor.
func (r *row) draw(c *cells.Canvas, g *cells.Glyphs, cols layoutKey, p *Plan) {
	path, last := 0, true
	var signs flags.Signs
	for i, col := range p.cols {
		if r.marker && col.Kind != ColTime && col.Kind != ColSeverity && col.Kind != ColServer && col.Kind != ColType {
			continue // its text has all the room
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
			r.drawColumn(c, g, col.Kind, value, cols, p.width[i])
		}
	}
	if last {
		signs = r.drawText(c, g, cols, p, 0)
	}
	signs.Draw(c)
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

func (r *row) drawColumn(c *cells.Canvas, g *cells.Glyphs, kind Kind, value trust.Rendered, cols layoutKey, width int) {
	switch kind {
	case ColTime:
		r.drawTime(c, cols, width)
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

// stamp is the time of a row as it was spelled last.
type stamp struct {
	text  string
	clock cells.TimeView
	width int
}

// clockText is the time of the row, where that depends on nothing else.
func (r *row) clockText(clock cells.TimeView, width int) string {
	if s := &r.stamp; s.text == "" || s.clock != clock || s.width != width {
		*s = stamp{clock.Text(r.at, time.Time{}, time.Time{}, width), clock, width}
	}
	return r.stamp.text
}

// sameTime counts the leading characters of the time of a row that the row before has.
func (p *Plan) sameTime(r, before *row) int {
	if p.clock == cells.TimeRelative || p.clock == cells.TimeDelta {
		return 0
	}
	for i, c := range p.cols {
		if c.Kind == ColTime && p.width[i] > 0 {
			a, b, n := r.clockText(p.clock, p.width[i]), before.clockText(p.clock, p.width[i]), 0
			for n < len(a) && n < len(b) && a[n] == b[n] {
				n++
			}
			return n
		}
	}
	return 0
}

// drawTime writes the time; what the row before says, too, is dimmer.
func (r *row) drawTime(c *cells.Canvas, cols layoutKey, width int) {
	if cols.clock == cells.TimeRelative || cols.clock == cells.TimeDelta {
		c.Put(themes.Dim, cols.clock.Text(r.at, time.Unix(cols.now, 0), cols.before, width)+" ")
		return
	}
	text := r.clockText(cols.clock, width)
	same := min(cols.same, len(text))
	c.Put(themes.Faint, text[:same])
	c.Put(themes.Dim, text[same:])
	c.Put(themes.Plain, " ")
}

// drawSeverity writes the bar that stands beside the text of a server, in the colour of
// what its word means, and the word. Of a marker the word is ours and has no bar.
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
	if r.level != severity.Unknown && word.Width >= width { // a known word is known by its beginning
		word = cells.Sanitize(shortened(word.Plain(), width-1))
	}
	c.Put(role, g.Gutter)
	c.Column(evidence.WordRole(r.word.Plain()), word, width-1)
}

// shortened is the beginning of a known word, which is ASCII.
func shortened(word string, room int) string {
	if strings.EqualFold(word, "error") {
		room = min(room, len("err"))
	}
	return word[:min(len(word), max(room, 0))]
}

// drawText writes the summary into the room that signs and later columns leave, and
// returns the signs that it left room for.
func (r *row) drawText(c *cells.Canvas, g *cells.Glyphs, cols layoutKey, p *Plan, after int) flags.Signs {
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
		c.Column(themes.Dim, r.labels.suffix(p), room-text.Width)
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
