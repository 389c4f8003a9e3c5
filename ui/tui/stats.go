package tui

import (
	"fmt"
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
)

// rates are the numbers of the run as the screen shows them: asked for at most
// once a second, and only while somebody looks.
type rates struct {
	host.Stats
	at     time.Time
	memory uint64 // bytes that the process has of the system
}

// measureRates asks for the numbers when a second went by.
func (a *app) measureRates() {
	now := a.Clock()
	if !a.rates.at.IsZero() && (!a.focused || now.Sub(a.rates.at) < time.Second) {
		return
	}
	a.rates = rates{a.api.Stats(), now, a.memory()}
	if d, ok := a.dialog.(*statsDialog); ok {
		d.load()
	}
}

// headSpark is how many seconds the header draws.
const headSpark = 12

// headRate tells the rate of everything, with its course where there is room.
func (a *app) headRate() string {
	seconds := a.rates.Total.Seconds[:]
	if cells.Highest(cells.Recent(seconds, headSpark)) == 0 {
		return ""
	}
	words := "  " + cells.Rate(cells.PerSecond(seconds))
	if a.w >= layout.TreeWidth {
		words += " " + a.Glyphs.Spark(cells.Recent(seconds, headSpark))
	}
	return words
}

// subSpark draws the course of a subscription's rate, if it has one and there is
// room for it.
func (a *app) subSpark(id event.SubID, room int) string {
	const least, most = 6, 12
	rate, ok := a.rates.BySub[id]
	if !ok || room <= least {
		return ""
	}
	counts := cells.Recent(rate.Seconds[:], min(most, room-1))
	if cells.Highest(counts) == 0 {
		return ""
	}
	return a.Glyphs.Spark(counts) + " "
}

// statsDialog shows the counters of the run and the rates of what runs.
type statsDialog struct {
	app     *app
	types   bool // per type, else per subscription
	minutes bool // the last hour, else the last minute
	rows    []statsRow
	at, top int
	shown   int
}

type statsRow struct {
	node   query.Node
	server trust.Rendered
	typ    trust.Rendered
	state  string
	rate   host.Rate
}

func (a *app) openStats() {
	a.rates.at = time.Time{}
	d := &statsDialog{app: a}
	a.Show(d)
	a.measureRates()
}

// load makes the rows, the busiest first.
func (d *statsDialog) load() {
	a := d.app

	var at query.Node
	if d.at < len(d.rows) {
		at = d.rows[d.at].node
	}
	d.rows = d.rows[:0]
	if d.types {
		for key, rate := range a.rates.ByType {
			d.rows = append(d.rows, statsRow{query.Node{Server: key.Server, Type: key.Type}, cells.Sanitize(key.Server), trust.Line(key.Type), "", rate})
		}
	} else {
		for i := range a.snap.Subs {
			v := &a.snap.Subs[i]
			d.rows = append(d.rows, statsRow{query.Node{Server: v.Key.Server, Type: v.Key.Type, Sub: v.ID}, cells.Sanitize(v.Key.Server), trust.Line(v.Key.Type),
				evidence.ModeWord(v.Mode) + " " + string(evidence.StateOf(*v)), a.rates.BySub[v.ID]})
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
			d.at = i
		}
	}
	d.at = max(0, min(d.at, len(d.rows)-1))
}

func (d *statsDialog) buckets(r *statsRow) []uint32 {
	if d.minutes {
		return r.rate.Minutes[:]
	}
	return r.rate.Seconds[:]
}

func (d *statsDialog) Title() string { return "Stats" }
func (d *statsDialog) Size(int, int) (int, int) {
	return 112, len(d.counters(0)) + 1 + max(6, len(d.rows))
}

func (d *statsDialog) Draw(c *cells.Canvas, h int) {
	a := d.app

	lines := d.counters(c.Room - statsLabel)
	if len(lines) > h-4 {
		lines = lines[:max(0, h-4)]
	}
	for _, l := range lines {
		c.Put(themes.Dim, " "+cells.Pad(l[0], statsLabel-2))
		c.Safe(themes.Plain, cells.Sanitize(cells.WholeParts(l[1], a.statsDot(), c.Room)).Clip(c.Room))
		c.End()
	}
	d.head(c)
	used := len(lines) + 1
	d.shown = max(1, h-used)
	d.top = max(min(d.top, d.at), d.at-d.shown+1)
	if len(d.rows) == 0 {
		c.Put(themes.Dim, "   nothing yet")
		c.End()
	}
	for i := d.top; i < len(d.rows) && i < d.top+d.shown; i++ {
		d.row(c, i)
	}
}

// statsDot parts the pieces of a line of counters.
func (a *app) statsDot() string { return "  " + a.Glyphs.Dot + "  " }

// statsLabel is how many cells the heading of a counter takes.
const statsLabel = 11

// counters are the lines above the table: a heading, then words. Of a curve that is
// wider than room beside its words only the newest part is there.
func (d *statsDialog) counters(room int) [][2]string {
	a := d.app

	s := &a.rates
	in := func(parts ...string) string { return strings.Join(parts, a.statsDot()) }
	curve := func(counts []uint32, words string) string {
		fits := max(0, min(len(counts), room-len(words)-2))
		return a.Glyphs.Spark(counts[len(counts)-fits:]) + "  " + words
	}
	second, minute := cells.Recent(s.Total.Seconds[:], 60), s.Total.Minutes[:] // with the minute that runs: it tells of up to 59 s
	return [][2]string{
		{"run", "since " + cells.TimeText(s.Started, a.Times.Zone(), time.DateTime) + ", " + cells.Span(s.At.Sub(s.Started))},
		{"events", in(cells.Number(s.Events)+" stored", cells.Bytes(s.Bytes), cells.Number(s.Replayed)+" replayed", cells.Count(s.Duplicates, "duplicate")+" dropped", cells.Number(s.Flagged)+" flagged")},
		{"trouble", in(cells.Count(s.Gaps, "gap"), cells.Count(s.Rejected, "payload")+" refused", cells.Count(s.Refusals, "delivery")+" refused")},
		{"lag", in(quantiles("occurred to received", s.Lag), quantiles("received to stored", s.Ingest))},
		{"store", in(fmt.Sprintf("%d of %d waiting", s.Store.Queued, s.Store.QueuedMax), cells.Count(s.Store.Commits, "commit"),
			"commit p50 "+cells.Precise(s.Store.CommitP50)+" p95 "+cells.Precise(s.Store.CommitP95), cells.Count(a.snap.Last, "record"))},
		{"1 minute", curve(second, cells.Rate(cells.PerSecond(s.Total.Seconds[:]))+", most "+cells.Number(uint64(cells.Highest(second)))+"/s")},
		{"1 hour", curve(minute, cells.Count(cells.Sum(minute), "event")+", most "+cells.Number(uint64(cells.Highest(minute)))+" a minute")},
		{"", ""},
	}
}

func (d *statsDialog) head(c *cells.Canvas) {
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

func (d *statsDialog) row(c *cells.Canvas, i int) {
	a := d.app

	r := &d.rows[i]
	if i == d.at {
		c.Only(themes.Cursor)
		c.Put(themes.Plain, a.Glyphs.Cursor)
	} else {
		c.Put(themes.Plain, " ")
	}
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
	c.Right(themes.Plain, a.Glyphs.Spark(bars)+" "+words+" ")
	c.End()
}

func (d *statsDialog) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	switch name {
	case "esc", "q", "S":
		a.Show(nil)
	case "tab":
		d.types, d.at, d.rows = !d.types, 0, nil
		d.load()
	case "m":
		d.minutes = !d.minutes
		d.load()
	case "j", "down":
		d.at = max(0, min(d.at+1, len(d.rows)-1))
	case "k", "up":
		d.at = max(0, d.at-1)
	case "g", "home":
		d.at = 0
	case "G", "end":
		d.at = max(0, len(d.rows)-1)
	case "enter":
		if d.at < len(d.rows) {
			a.Show(nil)
			a.tree.At = d.rows[d.at].node
			a.rescope()
			a.enter(layout.Stream)
		}
	}
	return nil
}

func (d *statsDialog) Click(_, y int) tea.Cmd {
	if i := d.top + y - len(d.counters(0)) - 1; i >= d.top && i < len(d.rows) && i < d.top+d.shown {
		d.at = i
	}
	return nil
}

func (d *statsDialog) Paste(string) tea.Cmd { return nil }
func (d *statsDialog) Hints() []string {
	return []string{"tab", "subscriptions, types", "m", "minute, hour", "enter", "show these events", "esc", "back"}
}

func quantiles(what string, q host.Quantiles) string {
	if q.N == 0 {
		return what + ": not measured"
	}
	return what + ": p50 " + cells.Precise(q.P50) + ", p95 " + cells.Precise(q.P95)
}
