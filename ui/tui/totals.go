package tui

import (
	"fmt"
	"runtime/metrics"
	"strconv"
	"time"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// resumeShown is how long the status line tells what the host caught up on; the
// tab Resumed tells it always.
const resumeShown = 2 * time.Minute

// memoryInUse is what the process has of the system's memory, in bytes.
func memoryInUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}

// part is a piece of the status line. It is shown whole or not at all.
type part struct {
	role themes.Role
	text string
}

// drawTotals tells the state of everything: what may need a look comes first.
func (a *app) drawTotals(c *cells.Canvas) {
	now := a.Clock()
	word, text := evidence.StoreTrouble(a.snap.Store)
	switch {
	case word != "":
		c.Only(themes.Alarm)
		c.Put(themes.Plain, " "+word+": ")
		c.Safe(themes.Plain, cells.Sanitize(text).Clip(c.Room))
		return
	case a.trouble.shown(now):
		c.Only(themes.Alarm)
		l := &a.trouble.line
		c.Put(themes.Plain, " error "+cells.Ago(now, l.At)+", "+a.KeyOf("log")+" opens it: ")
		c.Safe(themes.Plain, cells.Join(cells.Sanitize(l.Server), cells.Sanitize(" "), cells.Sanitize(l.Text)).Clip(c.Room))
		return
	}
	c.Put(themes.Plain, " ")
	a.drawSubTotals(c)
	for _, p := range a.facts(now) {
		text := " " + a.Glyphs.Divider + " " + p.text
		if ansi.StringWidth(text)+1 <= c.Room {
			c.Put(themes.Rule, text[:len(text)-len(p.text)])
			c.Put(p.role, p.text)
		}
	}
}

// drawSubTotals counts subscriptions by what they are; trouble stands before all.
func (a *app) drawSubTotals(c *cells.Canvas) {
	t := &a.tree.Total
	if t.Trouble > 0 {
		c.Put(themes.Alarm, " "+a.Glyphs.Bad+" "+strconv.Itoa(t.Trouble)+" in trouble ")
		c.Put(themes.Plain, " ")
	}
	c.Put(themes.Dim, cells.Count(t.All, "sub"))
	sep := ": "
	for _, p := range [...]struct {
		n    int
		word string
		role themes.Role
	}{{t.Live, "push", themes.Good}, {t.Poll, "poll", themes.Good}, {t.Hook, "webhook", themes.Good}, {t.Waiting, "starting", themes.Busy}, {t.Paused, "paused", themes.Dim}} {
		if p.n > 0 {
			c.Put(themes.Dim, sep)
			c.Put(p.role, strconv.Itoa(p.n)+" "+p.word)
			sep = " "
		}
	}
}

// slowLag is the lag from which the status line tells of it.
const slowLag = 5 * time.Second

// facts are the pieces behind the subscriptions, the most telling first: but for what is
// stored only what differs from how it should be. The numbers of the run have the rest.
func (a *app) facts(now time.Time) []part {
	s := &a.rates
	out := []part{{themes.Dim, cells.Number(a.snap.Last) + " stored"}}
	add := func(when bool, role themes.Role, text string) {
		if when {
			out = append(out, part{role, text})
		}
	}
	r := a.snap.Resume
	caught := r.Replayed+r.Duplicates > 0 && now.Sub(s.Started) < resumeShown
	add(caught, themes.Busy, fmt.Sprintf("caught up: %s replayed, %s dropped, %s",
		cells.Number(r.Replayed), cells.Count(r.Duplicates, "duplicate"), cells.Count(r.Gaps, "gap")))
	add(a.snap.Store.Holder != 0, themes.Dim, fmt.Sprintf("attached to process %d", a.snap.Store.Holder))
	add(a.snap.Store.KeyLost, themes.Warn, "the key of stored secrets is lost")
	add(s.Store.Queued > 0, themes.Busy, cells.Number(uint64(s.Store.Queued))+" to save")
	add(s.Gaps > 0 && !caught, themes.Gap, cells.Count(s.Gaps, "gap"))
	add(s.Rejected+s.Refusals > 0, themes.Warn, cells.Number(s.Rejected+s.Refusals)+" refused")
	add(s.Lag.N > 0 && s.Lag.P95 >= slowLag, themes.Warn, "lag p95 "+cells.ShortSpan(s.Lag.P95))
	return out
}
