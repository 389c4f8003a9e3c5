package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
)

// timeline draws how much was stored when, over the whole history, and leads to a
// moment of it.
type timeline struct {
	app         *app
	first, last time.Time // of all that is stored
	from, to    time.Time // what is drawn; to is not included
	counts      []uint64
	at          int // bucket under the cursor
	token       int // of the newest request
	busy        bool
	err         error
}

// timelineMsg is the answer to a request for counts.
type timelineMsg struct {
	token  int
	counts []uint64
	err    error
}

// leastBucket is the shortest bucket that zooming reaches.
const leastBucket = time.Millisecond

func (a *app) openTimeline() tea.Cmd {
	d := &timeline{app: a}
	log := a.api.Log()
	first := func(t *time.Time) func(event.Record) bool {
		return func(r event.Record) bool { *t = r.ReceivedAt; return false }
	}
	if err := log.After(0, first(&d.first)); err != nil {
		a.Fail("cannot read the log", err)
		return nil
	}
	if err := log.Before(0, first(&d.last)); err != nil {
		a.Fail("cannot read the log", err)
		return nil
	}
	if d.first.IsZero() {
		a.Tell("nothing is stored yet")
		return nil
	}
	a.Show(d)
	d.whole()
	d.at = -1 // the newest one, as soon as it is known how many there are
	return d.load()
}

// whole shows all that is stored.
func (d *timeline) whole() {
	d.from, d.to = d.first, d.last.Add(time.Millisecond)
	if d.to.Sub(d.from) < time.Second { // also where a clock was set back
		d.to = d.from.Add(time.Second)
	}
}

// load has the records counted, a bucket for each column.
func (d *timeline) load() tea.Cmd {
	a := d.app

	_, _, w, _ := a.boxAt()
	n := max(1, w-2)
	d.token++
	d.busy = true
	log, from, to, token := a.api.Log(), d.from, d.to, d.token
	return a.Do(func(ctx context.Context) tea.Msg {
		counts, err := log.Histogram(ctx, from, to, n)
		return timelineMsg{token, counts, err}
	})
}

// counted takes the answer to the newest request.
func (d *timeline) counted(msg timelineMsg) {
	if msg.token != d.token {
		return
	}
	d.busy, d.counts, d.err = false, msg.counts, msg.err
	if d.at < 0 {
		d.at = len(d.counts) - 1
	}
	d.at = max(0, min(d.at, len(d.counts)-1))
}

// begins is the moment at which a bucket begins.
func (d *timeline) begins(bucket int) time.Time {
	if len(d.counts) == 0 {
		return d.from
	}
	return d.from.Add(time.Duration(float64(d.to.Sub(d.from)) * float64(bucket) / float64(len(d.counts))))
}

func (d *timeline) Title() string { return "Timeline of what is stored" }
func (d *timeline) Size(sw, sh int) (int, int) {
	return sw - 8, min(18, sh-6)
}

func (d *timeline) Draw(c *cells.Canvas, h int) {
	a := d.app

	switch {
	case d.err != nil:
		c.Safe(themes.Bad, cells.Sanitize(" cannot count: "+d.err.Error()).Clip(c.Room))
		c.End()
		return
	case len(d.counts) == 0:
		c.Put(themes.Dim, " counting "+a.Glyphs.More)
		c.End()
		return
	}
	rows := max(1, h-3)
	for y := rows - 1; y >= 0; y-- {
		d.bars(c, y, rows)
	}
	from, to, zone := d.begins(0), d.to, a.Times.Zone()
	c.Put(themes.Dim, " "+moment(from.In(zone), d.to.Sub(d.from)))
	c.Right(themes.Dim, moment(to.In(zone), d.to.Sub(d.from))+" ")
	c.End()
	c.End()
	here, next := d.begins(d.at), d.begins(d.at+1)
	layout := cells.StampFull
	if c.Room < 50 {
		layout = cells.StampTime
	}
	c.Put(themes.Strong, " "+cells.TimeText(here, zone, layout))
	c.Put(themes.Plain, ", "+cells.Precise(next.Sub(here))+": "+cells.Count(int(d.counts[d.at]), "record"))
	c.End()
}

// bars draws one row of the bars; row 0 is the lowest. The bucket under the
// cursor is reversed from top to bottom.
func (d *timeline) bars(c *cells.Canvas, y, rows int) {
	a := d.app

	most := uint64(1)
	for _, n := range d.counts {
		most = max(most, n)
	}
	levels := len(a.Glyphs.Bars)
	width := c.Room - 2
	c.Put(themes.Plain, " ")
	for x := range width {
		i := x * len(d.counts) / width
		glyph := " "
		if n := d.counts[i]; n > 0 {
			// Something is never drawn as nothing.
			full := max(1, int(float64(n)/float64(most)*float64(rows*levels)+0.5))
			switch part := full - y*levels; {
			case part >= levels:
				glyph = a.Glyphs.Bars[levels-1]
			case part > 0:
				glyph = a.Glyphs.Bars[part-1]
			}
		}
		role := themes.Good
		if i == d.at {
			role = themes.Cursor
		}
		c.Put(role, glyph)
	}
	c.End()
}

// moment spells a time as exactly as a span of time needs.
func moment(t time.Time, within time.Duration) string {
	switch {
	case within < time.Minute:
		return cells.TimeText(t, t.Location(), cells.StampTime)
	case within < 24*time.Hour:
		return cells.TimeText(t, t.Location(), cells.TimeShort)
	}
	return cells.TimeText(t, t.Location(), "2006-01-02 15:04")
}

func (d *timeline) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	n := len(d.counts)
	switch name {
	case "esc", "q":
		a.Show(nil)
	case "h", "left":
		d.at--
	case "l", "right":
		d.at++
	case "b", "pgup", "up", "shift+left":
		d.at -= max(1, n/10)
	case "w", "pgdown", "down", "shift+right":
		d.at += max(1, n/10)
	case "g", "home":
		d.at = 0
	case "G", "end":
		d.at = n - 1
	case "+", "=":
		return d.zoom(4)
	case "-":
		return d.zoom(0.25)
	case "0":
		d.whole()
		return d.load()
	case "enter":
		return d.jump()
	}
	d.at = max(0, min(d.at, n-1))
	return nil
}

// zoom draws a shorter or a longer part of the history around the cursor.
func (d *timeline) zoom(by float64) tea.Cmd {
	if len(d.counts) == 0 {
		return nil
	}
	middle := d.begins(d.at)
	span := time.Duration(float64(d.to.Sub(d.from)) / by)
	if span < leastBucket*time.Duration(len(d.counts)) {
		return nil
	}
	all := d.last.Add(time.Millisecond).Sub(d.first)
	if span >= all {
		d.whole()
	} else {
		d.from = middle.Add(-span / 2)
		if end := d.last.Add(time.Millisecond); d.from.Add(span).After(end) {
			d.from = end.Add(-span)
		}
		if d.from.Before(d.first) {
			d.from = d.first
		}
		d.to = d.from.Add(span)
	}
	d.at = int(float64(len(d.counts)) * float64(middle.Sub(d.from)) / float64(d.to.Sub(d.from)))
	return d.load()
}

// jump shows the first record from the cursor on in the stream.
func (d *timeline) jump() tea.Cmd {
	a := d.app

	if len(d.counts) == 0 {
		return nil
	}
	seq, err := a.api.Log().SeqAt(d.begins(d.at))
	if err != nil {
		a.Fail("cannot read the log", err)
		return nil
	}
	a.Show(nil)
	a.Jump(min(seq, a.api.Log().Last()))
	a.enter(layout.Stream)
	return nil
}

func (d *timeline) Click(x, _ int) tea.Cmd {
	a := d.app

	_, _, w, _ := a.boxAt()
	if n := len(d.counts); n > 0 && w > 2 && x > 0 {
		i := min((x-1)*n/(w-2), n-1)
		if i == d.at {
			return d.jump()
		}
		d.at = i
	}
	return nil
}

func (d *timeline) Paste(string) tea.Cmd { return nil }
func (d *timeline) Hints() []string {
	return []string{"h l", "move", "+ -", "zoom", "0", "all", "enter", "go there", "esc", "back"}
}
