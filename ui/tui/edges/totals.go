package edges

import (
	"fmt"
	"strconv"
	"time"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// resumeShown is how long after the start the status line shows what was replayed; the tab Resumed
// shows it always.
const resumeShown = time.Minute

// part is a part of the status line that is shown whole or not at all.
type part struct {
	role themes.Role
	text string
}

// drawTotals draws trouble of the store or the log, else totals.
func (s *Status) drawTotals(c *cells.Canvas) {
	now := s.env.Clock()
	word, text := evidence.StoreTrouble(s.env.Snap.Store)
	switch {
	case word != "":
		c.Only(themes.Alarm)
		c.Put(themes.Plain, " "+word+": ")
		c.Safe(themes.Plain, cells.Sanitize(text).Clip(c.Room))
		return
	case s.Trouble.Shown(now):
		c.Only(themes.Alarm)
		l := &s.Trouble.line
		c.Put(themes.Plain, " error "+cells.Ago(now, l.At)+", "+s.env.KeyOf("log")+" opens it: ")
		c.Safe(themes.Plain, cells.Join(cells.Sanitize(l.Server), cells.Sanitize(" "), cells.Sanitize(l.Text)).Clip(c.Room))
		return
	}
	s.drawChips(c)
	c.Put(themes.Plain, " ")
	s.drawSubTotals(c)
	for _, p := range s.facts(now) {
		text := " " + s.env.Glyphs.Divider + " " + p.text
		if ansi.StringWidth(text)+1 <= c.Room {
			c.Put(themes.Rule, text[:len(text)-len(p.text)])
			c.Put(p.role, p.text)
		}
	}
}

// drawSubTotals draws the number of subscriptions in trouble, then by mode and state.
func (s *Status) drawSubTotals(c *cells.Canvas) {
	t := s.env.Total
	if trouble := t.InTrouble(); trouble != "" {
		c.Put(themes.Alarm, " "+s.env.Glyphs.Bad+" "+trouble+" ")
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

// slowLag is the lag from which on the status line shows it.
const slowLag = 5 * time.Second

// facts returns the parts after the subscriptions, the most important first, as a narrow line has
// room for few. Except for the number of stored records they are about what is not as it should be.
func (s *Status) facts(now time.Time) []part {
	n := s.env.Rates
	var out []part
	add := func(when bool, role themes.Role, text string) {
		if when {
			out = append(out, part{role, text})
		}
	}
	r := s.env.Snap.Resume
	caught := r.Replayed+r.Duplicates > 0 && now.Sub(n.Started) < resumeShown
	add(s.env.Snap.Store.Locked != nil, themes.Warn, "secrets are locked")
	add(n.Gaps > 0 && !caught, themes.Gap, cells.Count(n.Gaps, "gap")+" this run")
	add(n.Rejected > 0, themes.Warn, cells.Count(n.Rejected, "payload")+" refused this run")
	add(n.Refusals > 0, themes.Warn, cells.Count(n.Refusals, "delivery")+" refused this run")
	add(n.Lag.N > 0 && n.Lag.P95 >= slowLag, themes.Warn, "lag p95 "+cells.ShortSpan(n.Lag.P95))
	add(caught, themes.Busy, fmt.Sprintf("caught up: %s replayed, %s dropped, %s",
		cells.Number(r.Replayed), cells.Count(r.Duplicates, "duplicate"), cells.Count(r.Gaps, "gap")))
	add(n.Store.Queued > 0, themes.Busy, cells.Number(uint64(n.Store.Queued))+" to save")
	add(true, themes.Dim, cells.Number(s.env.Snap.Last)+" stored")
	add(s.env.Snap.Store.Holder != 0, themes.Dim, fmt.Sprintf("attached to process %d", s.env.Snap.Store.Holder))
	return out
}
