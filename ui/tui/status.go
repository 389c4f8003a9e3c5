package tui

import (
	"fmt"
	"strconv"
	"strings"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/themes"
)

// The lines above and below the panes.

func one(c *canvas) string {
	if len(c.ends) == 0 {
		c.end()
	}
	return string(c.buf[:c.ends[0]])
}

// drawCrumb tells the scope, and whether the stream follows.
func (a *app) drawCrumb() string {
	c := &a.crumbs
	c.begin(&a.theme, a.w)
	c.put(themes.Brand, " eventdeck")
	if a.demo {
		c.put(themes.Dim, " demo")
	}
	c.put(themes.Dim, "  ")
	tail := a.following()
	if r := a.rate.perSecond(a.clock()); r > 0 {
		tail += "  " + strconv.FormatFloat(r, 'f', 1, 64) + "/s"
	}
	room := c.room
	c.room -= len(tail) + 2
	kept := c.room
	a.drawPath(c)
	if t := a.stream.query.text; t != "" && a.prompt == nil {
		c.put(themes.Dim, "  filter ")
		c.safe(themes.Key, ours(t))
	}
	c.room += room - kept
	role := themes.Good
	if !a.stream.follow || a.stream.paused {
		role = themes.Warn
	}
	c.right(role, tail+" ")
	c.end()
	return one(c)
}

func (a *app) drawPath(c *canvas) {
	n := a.stream.query.node
	if n.level() == 0 {
		c.put(themes.Plain, "all servers")
		return
	}
	c.safe(themes.Server, ours(n.server).Clip(c.room))
	if !n.typ.IsZero() {
		c.put(themes.Dim, " "+a.glyphs.path+" ")
		c.safe(themes.Type, trust.Line(n.typ).Clip(c.room))
	}
	if v := a.sub(n.sub); v != nil {
		c.put(themes.Dim, " "+a.glyphs.path+" ")
		c.put(themes.Plain, string(v.Mode)+" ")
		if !noArgs(v.Key.Args) {
			c.safe(themes.Dim, ours(string(v.Key.Args)).Clip(c.room))
		}
	}
}

func (a *app) following() string {
	switch {
	case a.stream.paused:
		return fmt.Sprintf("FROZEN (%s waiting)", number(uint64(a.stream.waiting)))
	case a.stream.follow:
		return "FOLLOW"
	case a.stream.cut:
		return "READING (more below)"
	}
	return fmt.Sprintf("READING (%s below)", number(uint64(a.stream.below())))
}

// drawScope sums up the tree where it has no pane.
func (a *app) drawScope(w int) []string {
	var c canvas
	c.begin(&a.theme, w)
	c.put(themes.Key, " 1 ")
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		role := themes.Busy
		switch s.Reach {
		case host.ReachReady:
			role = themes.Good
		case host.ReachBackoff, host.ReachRefused:
			role = themes.Warn
		}
		c.safe(themes.Server, ours(s.Name).Clip(min(c.room, 20)))
		c.put(role, " "+reach(*s, a.clock())+"  ")
	}
	c.end()
	return c.rows(1, nil)
}

// drawStatus tells the state of everything on one line.
func (a *app) drawStatus() string {
	c := &a.statuses
	c.begin(&a.theme, a.w)
	switch {
	case a.note.text != "" && a.note.bad:
		c.only(themes.Alarm)
		c.put(themes.Plain, " failed ")
		c.safe(themes.Plain, ours(a.note.text).Clip(c.room))
	case a.note.text != "":
		c.put(themes.Strong, " ")
		c.safe(themes.Strong, ours(a.note.text).Clip(c.room))
	default:
		a.drawTotals(c)
	}
	c.end()
	return one(c)
}

func (a *app) drawTotals(c *canvas) {
	if a.snap.Store.Err != nil {
		c.only(themes.Alarm)
		c.put(themes.Plain, " not stored: ")
		c.safe(themes.Plain, ours(a.snap.Store.Err.Error()).Clip(c.room))
		return
	}
	t := &a.tree.total
	c.put(themes.Plain, " "+count(t.all, "sub"))
	for _, p := range [...]struct {
		n    int
		word string
		role themes.Role
	}{{t.trouble, "in trouble", themes.Bad}, {t.live, "push", themes.Good}, {t.poll, "poll", themes.Good}, {t.hook, "webhook", themes.Good}, {t.waiting, "starting", themes.Busy}, {t.paused, "paused", themes.Dim}} {
		if p.n > 0 {
			c.put(p.role, "  "+strconv.Itoa(p.n)+" "+p.word)
		}
	}
	c.put(themes.Dim, "  "+a.glyphs.divider+"  "+number(a.snap.Last)+" stored")
	switch {
	case a.snap.Store.KeyLost:
		c.put(themes.Warn, "  "+a.glyphs.divider+"  the key of stored secrets is lost")
	case a.snap.Store.Sealed == "file":
		c.put(themes.Warn, "  "+a.glyphs.divider+"  secrets: key in a file")
	}
	if r := a.snap.Resume; r.Replayed+r.Duplicates+r.Gaps > 0 {
		c.put(themes.Dim, fmt.Sprintf("  %s  caught up: %s replayed, %s dropped, %s", a.glyphs.divider,
			number(r.Replayed), count(int(r.Duplicates), "duplicate"), count(int(r.Gaps), "gap")))
	}
}

// drawHints shows the filter while it is typed, else the keys that work.
func (a *app) drawHints() string {
	c := &a.hintses
	c.begin(&a.theme, a.w)
	switch {
	case a.prompt != nil:
		c.put(themes.Key, " / ")
		a.prompt.field.drawLine(c, 0, true)
		if a.prompt.err != nil {
			c.safe(themes.Bad, ours("  "+a.prompt.err.Error()).Clip(c.room))
		} else {
			c.right(themes.Dim, "words, !not, a | b, server: sev: .path>5  enter keep  esc undo")
		}
	case a.find != nil:
		c.put(themes.Key, " / ")
		a.find.field.drawLine(c, 0, true)
		c.right(themes.Dim, "words of a row  enter keep  esc undo")
	case a.chord != "":
		for i := range a.actions {
			if x := &a.actions[i]; x.works(a) {
				a.hintChord(c, x)
			}
		}
	case a.dialog != nil:
		h := a.dialog.hints()
		for i := 0; i+1 < len(h); i += 2 {
			hint(c, h[i], h[i+1])
		}
	default:
		// Help and quit always have room.
		const last = len(" ? help  q quit ")
		c.room -= last
		for i := range a.actions {
			if x := &a.actions[i]; x.hint != "" && x.id != "help" && x.id != "quit" && x.works(a) {
				hint(c, x.key(), x.hint)
			}
		}
		c.room += last
		for _, id := range []string{"help", "quit"} {
			if x := a.action(id); x != nil {
				hint(c, x.key(), x.hint)
			}
		}
	}
	c.end()
	return one(c)
}

// hintChord names the second key of an action whose first one was pressed.
func (a *app) hintChord(c *canvas, x *action) {
	for _, k := range x.keys {
		if second, ok := strings.CutPrefix(k, a.chord+" "); ok {
			hint(c, second, x.title)
			return
		}
	}
}

// hint names a key and what it does. An action without a key is not hinted.
func hint(c *canvas, key, word string) {
	if key == "" || c.room < len(key)+len(word)+2 {
		return
	}
	c.put(themes.Key, " ")
	c.put(themes.Key, key)
	c.put(themes.Dim, " ")
	c.put(themes.Dim, word)
	c.put(themes.Dim, " ")
}

// teach fills an empty stream with what to do next.
func (a *app) teach(c *canvas, _ int) {
	lines := []string{"Nothing has arrived yet. Events show here as soon as they come."}
	switch {
	case a.stream.query.text != "":
		lines = []string{"Nothing matches the filter.", "", "esc takes it away, / changes it."}
	case len(a.snap.Subs) == 0 && len(a.snap.Servers) == 0:
		lines = []string{"No servers.", "", "Name one: eventdeck https://host/mcp", "or look around: eventdeck demo"}
	case len(a.snap.Subs) == 0:
		lines = []string{"No subscriptions yet.", "", "Choose an event type in the tree (1, then j and k)", "and press s to subscribe."}
	case a.stream.query.node.level() == 2 && a.tree.chosen().kids == 0:
		lines = []string{"Not subscribed to this event type.", "", "Press s to subscribe."}
	}
	c.end()
	for _, l := range lines {
		c.put(themes.Dim, "  "+l)
		c.end()
	}
}
