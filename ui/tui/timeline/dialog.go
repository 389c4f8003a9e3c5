package timeline

import (
	"fmt"
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// dialog shows the counters of the run, and the rates of subscriptions or types.
type dialog struct {
	rates   *Rates
	types   bool // per type, else per subscription
	minutes bool // the last hour, else the last minute
	rows    []line
	chooser widget.Chooser
}

// line is the row of a subscription or a type.
type line struct {
	node   query.Node
	server trust.Rendered
	typ    trust.Rendered
	state  string
	rate   host.Rate
}

// load makes the rows, the busiest first.
func (d *dialog) load() {
	var at query.Node
	if d.chooser.At < len(d.rows) {
		at = d.rows[d.chooser.At].node
	}
	d.rows = d.rows[:0]
	if d.types {
		for key, rate := range d.rates.ByType {
			d.rows = append(d.rows, line{query.Node{Server: key.Server, Type: key.Type}, cells.Sanitize(key.Server), trust.Line(key.Type), "", rate})
		}
	} else {
		for i := range d.rates.snap.Subs {
			v := &d.rates.snap.Subs[i]
			d.rows = append(d.rows, line{query.Node{Server: v.Key.Server, Type: v.Key.Type, Sub: v.ID}, cells.Sanitize(v.Key.Server), trust.Line(v.Key.Type),
				evidence.ModeWord(v.Mode) + " " + string(evidence.StateOf(*v)), d.rates.BySub[v.ID]})
		}
	}
	sort.SliceStable(d.rows, func(i, j int) bool {
		x, y := cells.Sum(d.buckets(&d.rows[i])), cells.Sum(d.buckets(&d.rows[j]))
		if x != y {
			return x > y
		}
		return d.rows[i].node.Server+d.rows[i].node.Type.Raw() < d.rows[j].node.Server+d.rows[j].node.Type.Raw()
	})
	for i := range d.rows {
		if d.rows[i].node == at {
			d.chooser.At = i
		}
	}
	d.chooser.At = max(0, min(d.chooser.At, len(d.rows)-1))
}

func (d *dialog) buckets(r *line) []uint32 {
	if d.minutes {
		return r.rate.Minutes[:]
	}
	return r.rate.Seconds[:]
}

func (d *dialog) Title() string { return "Stats" }
func (d *dialog) Size(int, int) (int, int) {
	return 112, len(d.counters(0)) + headerRows + max(6, len(d.rows))
}

func (d *dialog) Draw(c *cells.Canvas, h int) {
	lines := d.counters(c.Room - labelWidth)
	if most := max(0, h-headerRows-3); len(lines) > most {
		lines = lines[:most]
	}
	for _, l := range lines {
		c.Put(themes.Dim, " "+cells.Pad(l[0], labelWidth-2))
		c.Safe(themes.Plain, cells.Sanitize(cells.WholeParts(l[1], d.dot(), c.Room)).Clip(c.Room))
		c.End()
	}
	d.head(c)
	used := len(lines) + headerRows
	first, end := d.chooser.Visible(len(d.rows), max(1, h-used))
	if len(d.rows) == 0 {
		c.Put(themes.Dim, "   nothing yet")
		c.End()
	}
	for i := first; i < end; i++ {
		d.row(c, i)
	}
}

// dot returns the separator in a line of counters.
func (d *dialog) dot() string { return "  " + d.rates.env.Glyphs.Dot + "  " }

// labelWidth is the width of the label of a line of counters, in cells.
const labelWidth = 11

// counters returns the lines above the table, each a label and its text. Sparklines are cut at the
// left so that they fit into room cells with their text.
func (d *dialog) counters(room int) [][2]string {
	s := d.rates
	in := func(parts ...string) string { return strings.Join(parts, d.dot()) }
	curve := func(counts []uint32, words string) string {
		fits := max(0, min(len(counts), room-len(words)-2))
		return d.rates.env.Glyphs.Spark(counts[len(counts)-fits:]) + "  " + words
	}
	second, minute := cells.Recent(s.Total.Seconds[:], 60), s.Total.Minutes[:] // including the current minute
	return [][2]string{
		{"run", "since " + cells.TimeText(s.Started, d.rates.env.Times.Zone(), time.DateTime) + ", " + cells.Span(s.At.Sub(s.Started))},
		{"events", in(cells.Number(s.Events)+" received", cells.Bytes(s.Bytes), cells.Number(s.Replayed)+" replayed", cells.Count(s.Duplicates, "duplicate")+" dropped", cells.Number(s.Flagged)+" flagged")},
		{"trouble", in(cells.Count(s.Gaps, "gap"), cells.Count(s.Rejected, "payload")+" refused", cells.Count(s.Refusals, "delivery")+" refused")},
		{"lag", in(quantiles("occurred to received", s.Lag), quantiles("received to stored", s.Ingest))},
		{"store", in(fmt.Sprintf("%d of %d waiting", s.Store.Queued, s.Store.QueuedMax), cells.Count(s.Store.Commits, "commit"),
			"commit p50 "+cells.Precise(s.Store.CommitP50)+" p95 "+cells.Precise(s.Store.CommitP95), cells.Count(d.rates.snap.Last, "record"))},
		{"1 minute", curve(second, "now "+cells.Rate(cells.PerSecond(s.Total.Seconds[:]))+", most "+cells.Number(uint64(cells.Highest(second)))+"/s")},
		{"1 hour", curve(minute, cells.Count(cells.Sum(minute), "event")+", most "+cells.Number(uint64(cells.Highest(minute)))+" a minute")},
		{"", ""},
	}
}

// headerRows is the number of rows that [dialog.head] writes.
const headerRows = 2

// head writes the title of the rates and the titles of columns.
func (d *dialog) head(c *cells.Canvas) {
	what, span := "subscription", "last minute"
	if d.types {
		what = "type"
	}
	if d.minutes {
		span = "last hour"
	}
	c.Put(themes.Title, " Rates per "+what+", "+span)
	c.End()
	w := d.layout(c.Room)
	state, course := "STATE", "COURSE"
	if w.state == 0 {
		state = ""
	}
	if w.course < len(course) {
		course = ""
	}
	c.Put(themes.Plain, " ")
	w.names(c, themes.Dim, themes.Dim, cells.Sanitize("SERVER"), cells.Sanitize("TYPE"), state)
	c.Right(themes.Dim, cells.Pad(course, w.course)+d.numbers("MEAN", "EVENTS"))
	c.End()
}

// widths has the widths of the columns of a row, in cells; 0: the column is omitted.
type widths struct{ server, typ, state, course int }

// layout returns the widths for a row of room cells.
func (d *dialog) layout(room int) (w widths) {
	numbers := 1 + len(d.numbers("", ""))
	w.course = max(0, min(59, room-50-numbers))
	names := max(0, room-w.course-numbers-4)
	if !d.types && names > 44 {
		w.state = 16
	}
	w.server = min(14, (names+1)/3)
	w.typ = names - w.server - w.state
	return w
}

// names writes the first columns.
func (w *widths) names(c *cells.Canvas, ofServer, ofType themes.Role, server, typ trust.Rendered, state string) {
	c.Column(ofServer, server, w.server)
	c.Put(themes.Plain, " ")
	c.Column(ofType, typ, w.typ)
	c.Put(themes.Plain, " ")
	c.Column(themes.Dim, cells.Sanitize(state), w.state)
}

// numbers formats the last two columns: events per unit of time, and in total.
func (d *dialog) numbers(mean, sum string) string {
	width := len("12,000/s")
	if d.minutes {
		width = len("720,000/min")
	}
	return cells.PadLeft(mean, width) + " " + cells.PadLeft(sum, 9) + " "
}

// mean formats the mean rate of counts.
func (d *dialog) mean(counts []uint32) string {
	unit := "s"
	if d.minutes {
		unit = "min"
	}
	return cells.RatePer(float64(cells.Sum(counts))/float64(len(counts)), unit)
}

func (d *dialog) row(c *cells.Canvas, i int) {
	r := &d.rows[i]
	w := d.layout(c.Room)
	c.Mark(i == d.chooser.At, d.rates.env.Glyphs.Cursor)
	counts := d.buckets(r)
	w.names(c, themes.Server, themes.Type, r.server, r.typ, r.state)
	c.Right(themes.Plain, d.rates.env.Glyphs.Spark(cells.Recent(counts, w.course))+" "+d.numbers(d.mean(counts), cells.Number(cells.Sum(counts))))
	c.End()
}

func (d *dialog) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "esc", "q", "S":
		d.rates.screen.Show(nil)
	case "tab":
		d.types, d.chooser.At, d.rows = !d.types, 0, nil
		d.load()
	case "m":
		d.minutes = !d.minutes
		d.load()
	case "enter":
		if d.chooser.At < len(d.rows) {
			d.rates.screen.Show(nil)
			d.rates.screen.ShowEvents(d.rows[d.chooser.At].node)
		}
	default:
		d.chooser.Key(name, len(d.rows))
	}
	return nil
}

func (d *dialog) Click(_, y int) tea.Cmd {
	d.chooser.Click(y-len(d.counters(0))-headerRows, len(d.rows))
	return nil
}

func (d *dialog) Hints() []string {
	return []string{"tab", "subscriptions, types", "m", "minute, hour", "enter", "show these events", "esc", "back"}
}

func quantiles(what string, q host.Quantiles) string {
	if q.N == 0 {
		return what + ": not measured"
	}
	return what + ": p50 " + cells.Precise(q.P50) + ", p95 " + cells.Precise(q.P95)
}
