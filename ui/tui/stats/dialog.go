package stats

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

// dialog shows the counters of the run and the rates of what runs.
type dialog struct {
	rates   *Rates
	types   bool // per type, else per subscription
	minutes bool // the last hour, else the last minute
	rows    []line
	chooser widget.Chooser
}

// line is what one subscription or one type sends.
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
		for i := range d.rates.env.Snap.Subs {
			v := &d.rates.env.Snap.Subs[i]
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
	return 112, len(d.counters(0)) + 1 + max(6, len(d.rows))
}

func (d *dialog) Draw(c *cells.Canvas, h int) {
	lines := d.counters(c.Room - labelWidth)
	if len(lines) > h-4 {
		lines = lines[:max(0, h-4)]
	}
	for _, l := range lines {
		c.Put(themes.Dim, " "+cells.Pad(l[0], labelWidth-2))
		c.Safe(themes.Plain, cells.Sanitize(cells.WholeParts(l[1], d.dot(), c.Room)).Clip(c.Room))
		c.End()
	}
	d.head(c)
	used := len(lines) + 1
	first, end := d.chooser.Lay(len(d.rows), max(1, h-used))
	if len(d.rows) == 0 {
		c.Put(themes.Dim, "   nothing yet")
		c.End()
	}
	for i := first; i < end; i++ {
		d.row(c, i)
	}
}

// dot parts the pieces of a line of counters.
func (d *dialog) dot() string { return "  " + d.rates.env.Glyphs.Dot + "  " }

// labelWidth is how many cells the heading of a counter takes.
const labelWidth = 11

// counters are the lines above the table: a heading, then words. Of a curve that is
// wider than room beside its words only the newest part is there.
func (d *dialog) counters(room int) [][2]string {
	s := d.rates
	in := func(parts ...string) string { return strings.Join(parts, d.dot()) }
	curve := func(counts []uint32, words string) string {
		fits := max(0, min(len(counts), room-len(words)-2))
		return d.rates.env.Glyphs.Spark(counts[len(counts)-fits:]) + "  " + words
	}
	second, minute := cells.Recent(s.Total.Seconds[:], 60), s.Total.Minutes[:] // with the minute that runs: it tells of up to 59 s
	return [][2]string{
		{"run", "since " + cells.TimeText(s.Started, d.rates.env.Times.Zone(), time.DateTime) + ", " + cells.Span(s.At.Sub(s.Started))},
		{"events", in(cells.Number(s.Events)+" received", cells.Bytes(s.Bytes), cells.Number(s.Replayed)+" replayed", cells.Count(s.Duplicates, "duplicate")+" dropped", cells.Number(s.Flagged)+" flagged")},
		{"trouble", in(cells.Count(s.Gaps, "gap"), cells.Count(s.Rejected, "payload")+" refused", cells.Count(s.Refusals, "delivery")+" refused")},
		{"lag", in(quantiles("occurred to received", s.Lag), quantiles("received to stored", s.Ingest))},
		{"store", in(fmt.Sprintf("%d of %d waiting", s.Store.Queued, s.Store.QueuedMax), cells.Count(s.Store.Commits, "commit"),
			"commit p50 "+cells.Precise(s.Store.CommitP50)+" p95 "+cells.Precise(s.Store.CommitP95), cells.Count(d.rates.env.Snap.Last, "record"))},
		{"1 minute", curve(second, cells.Rate(cells.PerSecond(s.Total.Seconds[:]))+", most "+cells.Number(uint64(cells.Highest(second)))+"/s")},
		{"1 hour", curve(minute, cells.Count(cells.Sum(minute), "event")+", most "+cells.Number(uint64(cells.Highest(minute)))+" a minute")},
		{"", ""},
	}
}

func (d *dialog) head(c *cells.Canvas) {
	what, span := "subscription", "last minute"
	if d.types {
		what = "type"
	}
	if d.minutes {
		span = "last hour"
	}
	c.Put(themes.Title, " Rates of each "+what+", "+span)
	c.End()
}

func (d *dialog) row(c *cells.Canvas, i int) {
	r := &d.rows[i]
	c.Mark(i == d.chooser.At, d.rates.env.Glyphs.Cursor)
	counts := d.buckets(r)
	words := cells.PadLeft(cells.Rate(cells.PerSecond(r.rate.Seconds[:])), 7) + " " + cells.PadLeft(cells.Number(cells.Sum(counts)), 9)
	bars := cells.Recent(counts, max(0, min(59, c.Room-68)))
	names := max(0, c.Room-len(bars)-len(words)-5)
	state := 0
	if !d.types && names > 44 {
		state = 16
	}
	server := min(14, names/3)
	c.Column(themes.Server, r.server, server)
	c.Put(themes.Plain, " ")
	c.Column(themes.Type, r.typ, names-server-state)
	c.Put(themes.Plain, " ")
	c.Column(themes.Dim, cells.Sanitize(r.state), state)
	c.Right(themes.Plain, d.rates.env.Glyphs.Spark(bars)+" "+words+" ")
	c.End()
}

func (d *dialog) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "esc", "q", "S":
		d.rates.env.Screen.Show(nil)
	case "tab":
		d.types, d.chooser.At, d.rows = !d.types, 0, nil
		d.load()
	case "m":
		d.minutes = !d.minutes
		d.load()
	case "enter":
		if d.chooser.At < len(d.rows) {
			d.rates.env.Screen.Show(nil)
			d.rates.env.Screen.ShowEvents(d.rows[d.chooser.At].node)
		}
	default:
		d.chooser.Key(name, len(d.rows))
	}
	return nil
}

func (d *dialog) Click(_, y int) tea.Cmd {
	d.chooser.Click(y-len(d.counters(0))-1, len(d.rows))
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
