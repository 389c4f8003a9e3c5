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
	now := a.clock()
	if !a.rates.at.IsZero() && (!a.focused || now.Sub(a.rates.at) < time.Second) {
		return
	}
	a.rates = rates{a.api.Stats(), now, a.memory()}
	if d, ok := a.dialog.(*statsDialog); ok {
		d.load(a)
	}
}

// headSpark is how many seconds the header draws.
const headSpark = 12

// headRate tells the rate of everything, with its course where there is room.
func (a *app) headRate() string {
	seconds := a.rates.Total.Seconds[:]
	if highest(newestOf(seconds, headSpark)) == 0 {
		return ""
	}
	words := "  " + rateWords(perSecond(seconds))
	if a.w >= treeWidth {
		words += " " + a.glyphs.spark(newestOf(seconds, headSpark))
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
	counts := newestOf(rate.Seconds[:], min(most, room-1))
	if highest(counts) == 0 {
		return ""
	}
	return a.glyphs.spark(counts) + " "
}

// statsDialog shows the counters of the run and the rates of what runs.
type statsDialog struct {
	types   bool // per type, else per subscription
	minutes bool // the last hour, else the last minute
	rows    []statsRow
	at, top int
	shown   int
}

type statsRow struct {
	node   node
	server trust.Rendered
	typ    trust.Rendered
	state  string
	rate   host.Rate
}

func (a *app) openStats() {
	a.rates.at = time.Time{}
	d := &statsDialog{}
	a.dialog = d
	a.measureRates()
}

// load makes the rows, the busiest first.
func (d *statsDialog) load(a *app) {
	var at node
	if d.at < len(d.rows) {
		at = d.rows[d.at].node
	}
	d.rows = d.rows[:0]
	if d.types {
		for key, rate := range a.rates.ByType {
			d.rows = append(d.rows, statsRow{node{server: key.Server, typ: key.Type}, ours(key.Server), trust.Line(key.Type), "", rate})
		}
	} else {
		for i := range a.snap.Subs {
			v := &a.snap.Subs[i]
			d.rows = append(d.rows, statsRow{node{server: v.Key.Server, typ: v.Key.Type, sub: v.ID}, ours(v.Key.Server), trust.Line(v.Key.Type),
				modeWord(v.Mode) + " " + string(stateOf(*v)), a.rates.BySub[v.ID]})
		}
	}
	sort.SliceStable(d.rows, func(i, j int) bool {
		x, y := total(d.buckets(&d.rows[i])), total(d.buckets(&d.rows[j]))
		if x != y {
			return x > y
		}
		return d.rows[i].node.server+d.rows[i].node.typ.Raw() < d.rows[j].node.server+d.rows[j].node.typ.Raw()
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

func (d *statsDialog) title() string { return "Stats" }
func (d *statsDialog) size(a *app) (int, int) {
	return 112, len(d.counters(a, 0)) + 1 + max(6, len(d.rows))
}

func (d *statsDialog) draw(a *app, c *canvas, h int) {
	lines := d.counters(a, c.room-statsLabel)
	if len(lines) > h-4 {
		lines = lines[:max(0, h-4)]
	}
	for _, l := range lines {
		c.put(themes.Dim, " "+pad(l[0], statsLabel-2))
		c.safe(themes.Plain, ours(wholeParts(l[1], a.statsDot(), c.room)).Clip(c.room))
		c.end()
	}
	d.head(c)
	used := len(lines) + 1
	d.shown = max(1, h-used)
	d.top = max(min(d.top, d.at), d.at-d.shown+1)
	if len(d.rows) == 0 {
		c.put(themes.Dim, "   nothing yet")
		c.end()
	}
	for i := d.top; i < len(d.rows) && i < d.top+d.shown; i++ {
		d.row(a, c, i)
	}
}

// statsDot parts the pieces of a line of counters.
func (a *app) statsDot() string { return "  " + a.glyphs.dot + "  " }

// statsLabel is how many cells the heading of a counter takes.
const statsLabel = 11

// counters are the lines above the table: a heading, then words. Of a curve that is
// wider than room beside its words only the newest part is there.
func (d *statsDialog) counters(a *app, room int) [][2]string {
	s := &a.rates
	in := func(parts ...string) string { return strings.Join(parts, a.statsDot()) }
	curve := func(counts []uint32, words string) string {
		fits := max(0, min(len(counts), room-len(words)-2))
		return a.glyphs.spark(counts[len(counts)-fits:]) + "  " + words
	}
	second, minute := newestOf(s.Total.Seconds[:], 60), s.Total.Minutes[:] // with the minute that runs: it tells of up to 59 s
	return [][2]string{
		{"run", "since " + timeText(s.Started, a.stream.clock.zone(), time.DateTime) + ", " + span(s.At.Sub(s.Started))},
		{"events", in(number(s.Events)+" stored", size(s.Bytes), number(s.Replayed)+" replayed", count(s.Duplicates, "duplicate")+" dropped", number(s.Flagged)+" flagged")},
		{"trouble", in(count(s.Gaps, "gap"), count(s.Rejected, "payload")+" refused", count(s.Refusals, "delivery")+" refused")},
		{"lag", in(quantiles("occurred to received", s.Lag), quantiles("received to stored", s.Ingest))},
		{"store", in(fmt.Sprintf("%d of %d waiting", s.Store.Queued, s.Store.QueuedMax), count(s.Store.Commits, "commit"),
			"commit p50 "+short(s.Store.CommitP50)+" p95 "+short(s.Store.CommitP95), count(a.snap.Last, "record"))},
		{"1 minute", curve(second, rateWords(perSecond(s.Total.Seconds[:]))+", most "+number(uint64(highest(second)))+"/s")},
		{"1 hour", curve(minute, count(total(minute), "event")+", most "+number(uint64(highest(minute)))+" a minute")},
		{"", ""},
	}
}

func (d *statsDialog) head(c *canvas) {
	what, span := "subscription", "last minute"
	if d.types {
		what = "type"
	}
	if d.minutes {
		span = "last hour"
	}
	c.put(themes.Title, " Rates of each "+what+", "+span)
	c.end()
}

func (d *statsDialog) row(a *app, c *canvas, i int) {
	r := &d.rows[i]
	if i == d.at {
		c.only(themes.Cursor)
		c.put(themes.Plain, a.glyphs.cursor)
	} else {
		c.put(themes.Plain, " ")
	}
	counts := d.buckets(r)
	words := padLeft(rateWords(perSecond(r.rate.Seconds[:])), 7) + " " + padLeft(number(total(counts)), 9)
	bars := newestOf(counts, max(0, min(59, c.room-68)))
	names := max(0, c.room-len(bars)-len(words)-5)
	state := 0
	if !d.types && names > 44 {
		state = 16
	}
	server := min(14, names/3)
	c.column(themes.Server, r.server, server)
	c.put(themes.Plain, " ")
	c.column(themes.Type, r.typ, names-server-state)
	c.put(themes.Plain, " ")
	c.column(themes.Dim, ours(r.state), state)
	c.right(themes.Plain, a.glyphs.spark(bars)+" "+words+" ")
	c.end()
}

func (d *statsDialog) key(a *app, name, _ string) tea.Cmd {
	switch name {
	case "esc", "q", "S":
		a.dialog = nil
	case "tab":
		d.types, d.at, d.rows = !d.types, 0, nil
		d.load(a)
	case "m":
		d.minutes = !d.minutes
		d.load(a)
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
			a.dialog = nil
			a.tree.at = d.rows[d.at].node
			a.rescope()
			a.enter(streamPane)
		}
	}
	return nil
}

func (d *statsDialog) click(a *app, _, y int) tea.Cmd {
	if i := d.top + y - len(d.counters(a, 0)) - 1; i >= d.top && i < len(d.rows) && i < d.top+d.shown {
		d.at = i
	}
	return nil
}

func (d *statsDialog) paste(*app, string) tea.Cmd { return nil }
func (d *statsDialog) hints() []string {
	return []string{"tab", "subscriptions, types", "m", "minute, hour", "enter", "show these events", "esc", "back"}
}

func quantiles(what string, q host.Quantiles) string {
	if q.N == 0 {
		return what + ": not measured"
	}
	return what + ": p50 " + short(q.P50) + ", p95 " + short(q.P95)
}

// short spells a duration with two or three digits.
func short(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d us", d.Microseconds())
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return span(d)
}

// size spells a number of bytes.
func size(n uint64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

func padLeft(s string, n int) string {
	return strings.Repeat(" ", max(0, n-len(s))) + s
}
