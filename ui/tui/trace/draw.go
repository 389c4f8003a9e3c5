package trace

import (
	"slices"
	"strconv"
	"time"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/incidents"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// lanesMax bounds the lanes that are drawn.
const lanesMax = 8

func (d *view) Draw(c *cells.Canvas, h int) {
	c.Pins = d.env.Pins
	defer func() { c.Pins = nil }()
	d.head(c)
	used := 1
	lanes := incidents.Lanes(d.entries)
	if n := min(len(lanes), lanesMax, max(0, (h-6)/2)); n > 0 && c.Room >= 50 {
		d.lanes(c, lanes, n)
		used += n + 2
	}
	d.list(c, max(1, h-used))
}

// head writes the number of records found and the progress of the search.
func (d *view) head(c *cells.Canvas) {
	switch {
	case d.err != nil:
		c.Safe(themes.Bad, cells.Sanitize(" cannot read the log: "+d.err.Error()).Clip(c.Room))
	case d.done && d.hits == 0:
		c.Put(themes.Dim, " nothing in the whole history")
	default:
		c.Put(themes.Strong, " "+cells.Count(d.hits, "record"))
		if len(d.entries) > 1 {
			span := d.entries[len(d.entries)-1].At.Sub(d.entries[0].At)
			c.Put(themes.Dim, " in "+cells.Span(span)+", oldest first")
		}
		if left := d.hits - len(d.entries); left > 0 {
			c.Put(themes.Warn, ", the newest "+cells.Number(uint64(len(d.entries)))+" are listed")
		}
		c.Put(themes.Dim, ", as of "+cells.TimeText(d.began, d.env.Times.Zone(), time.TimeOnly))
		if !d.done {
			c.Right(themes.Warn, "searching, "+cells.Number(d.read)+" records looked at ")
		}
	}
	c.End()
}

// lanes draws n lanes and the axis below them.
func (d *view) lanes(c *cells.Canvas, lanes []incidents.Lane, n int) {
	name := min(34, max(16, c.Room/4))
	width := c.Room - name - 8
	from, to := d.entries[0].At, d.entries[len(d.entries)-1].At
	at := -1
	if i := d.chosenIndex(); i >= 0 {
		at = bucket(d.entries[d.rows[i].First].At, from, to, width)
	}
	for i := range n {
		d.lane(c, &lanes[i], name, width, at)
	}
	c.Fill(name + 2)
	zone := d.env.Times.Zone()
	c.Put(themes.Dim, cells.TimeText(from, zone, axis(to.Sub(from))))
	text := cells.TimeText(to, zone, axis(to.Sub(from)))
	if more := len(lanes) - n; more > 0 {
		text = "+" + cells.Count(more, "lane") + "   " + text
	}
	c.Right(themes.Dim, text+"      ")
	c.End()
	c.Rule(themes.Rule, d.env.Glyphs.Rule)
	c.End()
}

// axis returns the layout of times on an axis for a span.
func axis(span time.Duration) string {
	if span < 20*time.Hour {
		return time.TimeOnly
	}
	return "Jan 2 15:04"
}

// lane draws the entries of a lane over time. The height of a bar is their number, its role that of
// the most severe one.
func (d *view) lane(c *cells.Canvas, l *incidents.Lane, name, width, at int) {
	c.Put(themes.Plain, " ")
	c.Column(themes.Dim, cells.Join(cells.Sanitize(l.Server+" "), trust.Line(l.Type)), name)
	c.Put(themes.Plain, " ")
	counts, roles := make([]int, width), make([]themes.Role, width)
	from, to := d.entries[0].At, d.entries[len(d.entries)-1].At
	for _, i := range l.Entries {
		e := &d.entries[i]
		b := bucket(e.At, from, to, width)
		counts[b]++
		if r := roleOf(e); counts[b] == 1 || rank(r) > rank(roles[b]) {
			roles[b] = r
		}
	}
	bars := d.env.Glyphs.Bars
	for i, n := range counts {
		glyph, role := " ", themes.Dim
		if n > 0 {
			level := 1
			for m := n; m > 1 && level < len(bars)-1; m /= 2 {
				level += 2
			}
			glyph, role = bars[min(level, len(bars)-1)], roles[i]
		}
		if i == at {
			role = themes.Cursor
		}
		c.Put(role, glyph)
	}
	c.Field(themes.Dim, cells.Sanitize(cells.Number(uint64(len(l.Entries)))), 6, true)
	c.End()
}

// bucket returns the cell of an axis for a time.
func bucket(at, from, to time.Time, width int) int {
	span := to.Sub(from)
	if span <= 0 || width < 1 {
		return 0
	}
	return max(0, min(int(float64(at.Sub(from))/float64(span)*float64(width-1)), width-1))
}

// roleOf returns the role of an entry's severity.
func roleOf(e *incidents.Entry) themes.Role {
	switch {
	case e.Kind == event.KindGap:
		return themes.Gap
	case e.Kind != event.KindEvent:
		return themes.Bad
	}
	return evidence.LevelRole(e.Level)
}

func rank(r themes.Role) int {
	switch r {
	case themes.Bad:
		return 3
	case themes.Gap:
		return 2
	case themes.Warn:
		return 1
	}
	return 0
}

// list draws h rows of the list.
func (d *view) list(c *cells.Canvas, h int) {
	d.shown = h
	at := max(0, d.chosenIndex())
	d.top = max(0, min(max(min(d.top, at), at-h+1), len(d.rows)-h))
	for i := d.top; i < min(d.top+h, len(d.rows)); i++ {
		d.row(c, i, i == at)
	}
}

func (d *view) row(c *cells.Canvas, i int, chosen bool) {
	run := d.rows[i]
	e := &d.entries[run.First]
	before := time.Time{}
	if i > 0 {
		before = d.entries[d.rows[i-1].First].At
	}
	c.Mark(chosen, d.env.Glyphs.Cursor)
	said := " "
	if !e.Said {
		said = "r"
	}
	c.Column(themes.Dim, cells.Sanitize(d.env.When(e.At, before, time.TimeOnly)+said), 10)
	c.Put(themes.Plain, " ")
	if c.Room > 60 {
		c.Column(roleOf(e), trust.Line(e.Severity), 8)
		c.Put(themes.Plain, " ")
		c.Column(themes.Dim, cells.Join(cells.Sanitize(e.Server+" "), trust.Line(e.Type)), min(30, c.Room/3))
		c.Put(themes.Plain, " ")
	}
	times := ""
	if n := run.Count(); n > 1 {
		times = " x" + strconv.Itoa(n) + ", " + cells.Span(run.Span(d.entries))
	}
	text := d.summary(e)
	signs := signsOf(d.entries[run.First : run.Last+1])
	c.Safe(themes.Plain, text.Clip(max(1, c.Room-len(times)-signs.Width())))
	c.Put(themes.Strong, times)
	signs.Draw(c)
	c.End()
}

// signsOf returns the signs of the flags of all entries.
func signsOf(entries []incidents.Entry) evidence.Signs {
	var all []string
	for i := range entries {
		for _, f := range entries[i].Flags {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	return evidence.SignsOf(event.Record{Flags: all})
}

// summary says what an entry is about.
func (d *view) summary(e *incidents.Entry) trust.Rendered {
	switch {
	case e.Kind == event.KindGap && e.Gap != nil:
		return cells.Sanitize(evidence.GapWords(*e.Gap, d.env.Times))
	case e.Kind == event.KindRejected:
		return cells.Join(cells.Sanitize("payload refused: "), trust.Line(e.Summary))
	}
	return trust.Line(e.Summary)
}
