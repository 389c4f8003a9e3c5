package tui

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/charmbracelet/x/ansi"

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
	tail := a.following() + a.headRate()
	room := c.room
	c.room -= ansi.StringWidth(tail) + 2
	kept := c.room
	a.drawPath(c)
	a.drawFilter(c)
	c.room += room - kept
	role := themes.Good
	if !a.stream.follow || a.stream.paused {
		role = themes.Warn
	}
	c.right(role, tail+" ")
	c.end()
	return one(c)
}

// drawFilter tells what is searched, and the filter: by its name if it is saved,
// and that it is off.
func (a *app) drawFilter(c *canvas) {
	if a.search.text != "" {
		c.put(themes.Dim, "  search ")
		c.safe(themes.SpanOn, ours(a.search.text))
	}
	q := &a.stream.query
	if q.text == "" {
		return
	}
	word, role := "  filter ", themes.Key
	if q.off {
		word, role = "  filter off ", themes.Off
	}
	c.put(themes.Dim, word)
	if name := a.filterName(); name != "" {
		c.safe(role, ours(name+": "))
	}
	c.safe(role, ours(q.text))
	if far := a.stream.searched(); far != "" {
		c.put(themes.Dim, "  "+far)
	}
}

func (a *app) drawPath(c *canvas) {
	n := a.stream.query.node
	if n.level() == 0 {
		c.safe(themes.Plain, ours("all servers").Clip(c.room))
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
			c.safe(themes.Dim, ours(string(v.ShownArgs())).Clip(c.room))
		}
	}
}

func (a *app) following() string {
	switch {
	case a.stream.paused:
		return fmt.Sprintf("FROZEN (%s waiting)", number(uint64(a.stream.waiting)))
	case a.stream.follow:
		return "FOLLOW"
	}
	if words := a.stream.belowWords(); words != "" {
		return "READING (" + words + ")"
	}
	return "READING"
}

// drawScope sums up the tree where it has no pane.
func (a *app) drawScope(w int) []string {
	var c canvas
	c.begin(&a.theme, w)
	c.put(themes.Key, " 1 ")
	if len(a.snap.Servers) == 0 {
		c.put(themes.Dim, "no servers")
	}
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		role := themes.Busy
		word := reach(*s, a.clock())
		switch s.Reach {
		case host.ReachReady:
			role = themes.Good
			if n := a.failing(s.Name); n > 0 {
				role = themes.Warn
				word = strconv.Itoa(n) + " in trouble"
			}
		case host.ReachBackoff, host.ReachRefused, host.ReachSignIn, host.ReachFault:
			role = themes.Warn
		}
		c.safe(themes.Server, ours(s.Name).Clip(min(c.room, 20)))
		c.put(role, " "+word+"  ")
	}
	c.end()
	return c.rows(1, nil)
}

// drawStatus tells the state of everything on one line.
func (a *app) drawStatus() string {
	key := statusKey{a.w, a.looks, a.clock().Unix(), a.snap.Version, a.snap.Last, errText(errors.Join(a.snap.Store.Err, a.snap.Store.Damage)), a.rates.at, a.note, a.trouble.seen, a.trouble.open}
	if key == a.statusOf {
		return a.status
	}
	a.statusOf = key
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
	case a.exporting != nil:
		c.put(themes.Busy, " writing "+number(uint64(a.exporting.n.Load()))+" ")
		c.safe(themes.Busy, join(ours("to "), ours(a.exporting.path), ours("; "+a.keyOf("export.stop")+" stops it")).Clip(c.room))
	default:
		a.drawTotals(c)
	}
	c.end()
	a.status = one(c)
	return a.status
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// statusKey is what the status line was made from.
type statusKey struct {
	w, look       int
	second        int64
	version, last uint64
	failed        string
	measured      time.Time
	note          note
	errors        uint64
	pending       bool
}

// teach fills an empty stream with what to do next.
func (a *app) teach(c *canvas) {
	lines := []string{"Nothing has arrived yet. Events show here as soon as they come."}
	switch {
	case a.stream.searched() != "":
		lines = []string{"Nothing matches yet: " + a.stream.searched() + " of the history."}
	case a.stream.query.filters():
		lines = []string{"Nothing matches the filter.", "", a.keyOf("back") + " takes it away, " + a.keyOf("filter") + " changes it, " + a.keyOf("filter.toggle") + " turns it off."}
	case len(a.snap.Servers) == 0:
		c.end()
		drawLessons(c, "No servers yet, so nothing can arrive.", a.noServers())
		return
	case a.stream.query.node.level() == 2 && a.tree.chosen().kids == 0:
		lines = []string{"Not subscribed to this event type.", "", "Press " + a.keyOf("subscribe") + " to subscribe."}
	case a.tree.total.trouble > 0:
		lines = []string{"Nothing has arrived yet, and " + count(a.tree.total.trouble, "subscription") + " cannot get anything now.", "", a.keyOf("subscriptions") + " lists them, " + a.keyOf("quiet") + " there tells why and what the host does next."}
	case len(a.unreached()) > 0:
		lines = a.unreached()
	case len(a.snap.Subs) == 0:
		c.end()
		drawLessons(c, "No subscriptions yet.", a.noSubscriptions())
		return
	}
	c.end()
	for _, l := range lines {
		for _, part := range trust.Block(trust.Untrusted(l), max(c.width-4, 1)) {
			c.put(themes.Dim, "  ")
			c.safe(themes.Dim, part)
			c.end()
		}
	}
}
