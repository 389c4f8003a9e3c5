package timeline

import (
	"math"
	"slices"
	"time"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// frameRows is the number of rows below the bars: the worst severities, the axis, its times, a blank
// row, and the text for the cursor.
const frameRows = 5

// Draw implements [widget.Dialog].
func (d *timeline) Draw(c *cells.Canvas, h int) {
	switch {
	case d.err != nil:
		c.Safe(themes.Bad, cells.Sanitize(" cannot count: "+d.err.Error()).Clip(c.Room))
		c.End()
		return
	case len(d.counts) == 0:
		c.Put(themes.Dim, " counting "+d.env.Glyphs.More)
		c.End()
		return
	}
	if d.filtered() && d.grades != nil {
		d.grades.counts(d.counts)
	}
	rows := max(1, h-frameRows)
	most := max(1, slices.Max(d.counts))
	scale := scaleOf(d.counts)
	for y := rows - 1; y >= 0; y-- {
		label := ""
		switch {
		case y == rows-1:
			label = cells.Number(most)
		case y == rows-2 && scale.log:
			label = "log"
		}
		c.Put(themes.Dim, cells.PadLeft(label, gutter-1))
		c.Put(themes.Rule, d.env.Glyphs.Divider)
		d.bars(c, y, rows, scale)
	}
	d.worst(c)
	d.axis(c)
	d.ticks(c)
	c.End()
	d.drawCursorText(c)
}

// scale is the scale of bars.
type scale struct {
	most float64
	log  bool
}

// logScaleFrom is the ratio of the highest to the median bucket from which the scale is logarithmic,
// so that low buckets remain visible.
const logScaleFrom = 20

// scaleOf returns the scale for counts.
func scaleOf(counts []uint64) scale {
	var some []uint64
	for _, n := range counts {
		if n > 0 {
			some = append(some, n)
		}
	}
	if len(some) == 0 {
		return scale{most: 1}
	}
	slices.Sort(some)
	most, usual := some[len(some)-1], some[len(some)/2]
	return scale{float64(most), len(some) > 1 && most > logScaleFrom*usual}
}

// units returns the height of the bar of n records, at most full; at least 1 if n is not 0.
func (s scale) units(n uint64, full int) int {
	if n == 0 {
		return 0
	}
	share := float64(n) / s.most
	if s.log {
		share = math.Log1p(float64(n)) / math.Log1p(s.most)
	}
	return max(1, int(share*float64(full)+0.5))
}

// bars draws row y of the bars; row 0 is the lowest. Errors are at the bottom of a bar, then come
// warnings and all others. The bucket under the cursor is reversed from top to bottom.
func (d *timeline) bars(c *cells.Canvas, y, rows int, s scale) {
	glyphs := d.env.Glyphs.Bars
	levels := len(glyphs)
	for i, n := range d.counts {
		bad := d.grades.of(i, n)
		full := s.units(n, rows*levels)
		glyph := " "
		switch part := full - y*levels; {
		case part >= levels:
			glyph = glyphs[levels-1]
		case part > 0:
			glyph = glyphs[part-1]
		}
		role := themes.Chart
		switch low := y * levels; { // the part of the bar that this row draws
		case i == d.at:
			role = themes.Cursor
		case bad.errors > 0 && low < share(bad.errors, n, full):
			role = themes.Bad
		case bad.warnings > 0 && low < share(bad.errors+bad.warnings, n, full):
			role = themes.Warn
		}
		c.Put(role, glyph)
	}
	c.End()
}

// share returns the height that part of all records takes in a bar, at least 1.
func share(part, all uint64, full int) int {
	return max(1, int(float64(part)/float64(all)*float64(full)+0.5))
}

// worst writes the letter of the worst severity below each column.
func (d *timeline) worst(c *cells.Canvas) {
	c.Put(themes.Dim, cells.PadLeft("worst", gutter-1)+" ")
	for i, n := range d.counts {
		if letter, _, role := d.grades.of(i, n).worst(); letter != "" {
			c.Put(role, letter)
		} else {
			c.Put(themes.Plain, " ")
		}
	}
	c.End()
}

// tickEvery is the smallest distance of times on the axis, in cells.
const tickEvery = 22

// tickColumns returns the columns that have a time below them.
func (d *timeline) tickColumns() (out []int) {
	n := max(1, len(d.counts)/tickEvery)
	for i := range n {
		out = append(out, i*len(d.counts)/n)
	}
	return out
}

func (d *timeline) axis(c *cells.Canvas) {
	g := d.env.Glyphs
	c.Fill(gutter - 1)
	at := d.tickColumns()
	c.Put(themes.Rule, g.Box[cells.Joint(true, false, false, true)])
	for i := range d.counts {
		c.Put(themes.Rule, g.Box[cells.Joint(false, slices.Contains(at, i), true, true)])
	}
	c.End()
}

// ticks writes the times of the axis, each below its column, and the time of its end.
func (d *timeline) ticks(c *cells.Canvas) {
	zone, within := d.env.Times.Zone(), d.to.Sub(d.from)
	c.Fill(gutter)
	end := moment(d.to.In(zone), within)
	for _, i := range d.tickColumns() {
		if room := i - (c.Width - c.Room - gutter); room > 0 {
			c.Style(themes.Plain)
			c.Fill(room)
		}
		if text := moment(d.begins(i).In(zone), within); c.Room >= len(text)+len(end)+2 || i == 0 {
			c.Put(themes.Dim, text)
		}
	}
	if c.Room > len(end)+1 {
		c.Right(themes.Dim, end+" ")
	}
	c.End()
}

// drawCursorText describes the bucket under the cursor.
func (d *timeline) drawCursorText(c *cells.Canvas) {
	begin, next := d.begins(d.at), d.begins(d.at+1)
	layout := cells.StampFull
	if c.Room < 50 {
		layout = cells.StampTime
	}
	n := d.counts[d.at]
	c.Put(themes.Strong, " "+cells.TimeText(begin, d.env.Times.Zone(), layout))
	c.Put(themes.Plain, ", "+cells.Precise(next.Sub(begin))+": "+cells.Count(int(n), "record"))
	bad := d.grades.of(d.at, n)
	if bad.critical > 0 {
		c.Put(themes.Bad, ", "+cells.Number(bad.critical)+" critical")
	}
	if n := bad.errors - bad.critical; n > 0 {
		c.Put(themes.Bad, ", "+cells.Count(int(n), "error"))
	}
	if bad.warnings > 0 {
		c.Put(themes.Warn, ", "+cells.Count(int(bad.warnings), "warning"))
	}
	if g := d.grades; g != nil && !g.done {
		what := "reading severities, "
		if d.filtered() {
			what = "counting, "
		}
		c.Right(themes.Busy, what+cells.Number(g.examined.Load())+" of "+cells.Count(int(g.whole.Load()), "record")+" ")
	}
	c.End()
}

// moment formats a time as precisely as needed within a span of time.
func moment(t time.Time, within time.Duration) string {
	switch {
	case within < time.Minute:
		return cells.TimeText(t, t.Location(), cells.StampTime)
	case within < 24*time.Hour:
		return cells.TimeText(t, t.Location(), cells.TimeShort)
	}
	return cells.TimeText(t, t.Location(), "2006-01-02 15:04")
}
