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
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// The lines above and below the panes.

// drawCrumb tells the scope, and whether the stream follows.
func (a *app) drawCrumb() string {
	c := &a.crumbs
	c.Begin(&a.Theme, a.panes.W)
	c.Put(themes.Brand, " eventdeck")
	if a.o.Demo {
		c.Put(themes.Dim, " demo")
	}
	c.Put(themes.Dim, "  ")
	tail := a.following() + a.rates.Head(a.panes.W >= layout.TreeWidth)
	room := c.Room
	c.Room -= ansi.StringWidth(tail) + 2
	kept := c.Room
	a.drawPath(c)
	a.drawCompared(c)
	a.drawFilter(c)
	c.Room += room - kept
	role := themes.Good
	if !a.stream.Follow || a.stream.Paused {
		role = themes.Warn
	}
	c.Right(role, tail+" ")
	c.End()
	return c.Top()
}

// drawCompared tells what another record is to be compared with, until that is done.
func (a *app) drawCompared(c *cells.Canvas) {
	if a.comparing != 0 {
		c.Put(themes.Busy, "  comparing #"+cells.Number(a.comparing)+", "+a.KeyOf("compare")+" on another")
	}
}

// drawFilter tells what is searched, and the filter: by its name if it is saved,
// and that it is off.
func (a *app) drawFilter(c *cells.Canvas) {
	if a.search.Text != "" {
		c.Put(themes.Dim, "  search ")
		c.Safe(themes.SpanOn, cells.Sanitize(a.search.Text))
	}
	q := &a.stream.Query
	if q.Text == "" {
		return
	}
	word, role := "  filter ", themes.Key
	if q.Off {
		word, role = "  filter off ", themes.Off
	}
	c.Put(themes.Dim, word)
	if name := a.filters.Name(); name != "" {
		c.Safe(role, cells.Sanitize(name+": "))
	}
	c.Safe(role, cells.Sanitize(q.Text))
	if far := a.stream.Searched(); far != "" {
		c.Put(themes.Dim, "  "+far)
	}
}

func (a *app) drawPath(c *cells.Canvas) {
	n := a.stream.Query.Node
	if n.Level() == 0 {
		c.Safe(themes.Plain, cells.Sanitize("all servers").Clip(c.Room))
		return
	}
	c.Safe(themes.Server, cells.Sanitize(n.Server).Clip(c.Room))
	if !n.Type.IsZero() {
		c.Put(themes.Dim, " "+a.Glyphs.Path+" ")
		c.Safe(themes.Type, trust.Line(n.Type).Clip(c.Room))
	}
	if v := a.sub(n.Sub); v != nil {
		c.Put(themes.Dim, " "+a.Glyphs.Path+" ")
		c.Put(themes.Plain, string(v.Mode)+" ")
		if !evidence.NoArgs(v.Key.Args) {
			c.Safe(themes.Dim, cells.Sanitize(string(v.ShownArgs())).Clip(c.Room))
		}
	}
}

func (a *app) following() string {
	switch {
	case a.stream.Paused:
		return fmt.Sprintf("FROZEN (%s waiting)", cells.Number(uint64(a.stream.Waiting)))
	case a.stream.Follow:
		return "FOLLOW"
	}
	if words := a.stream.BelowWords(); words != "" {
		return "READING (" + words + ")"
	}
	return "READING"
}

// drawScope sums up the tree where it has no pane.
func (a *app) drawScope(w int) string {
	var c cells.Canvas
	c.Begin(&a.Theme, w)
	c.Put(themes.Key, " 1 ")
	if len(a.snap.Servers) == 0 {
		c.Put(themes.Dim, "no servers")
	}
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		role := themes.Busy
		word := evidence.Reach(*s, a.Clock())
		switch s.Reach {
		case host.ReachReady:
			role = themes.Good
			if n := evidence.Failing(a.snap.Subs, s.Name); n > 0 {
				role = themes.Warn
				word = strconv.Itoa(n) + " in trouble"
			}
		case host.ReachBackoff, host.ReachRefused, host.ReachSignIn, host.ReachFault:
			role = themes.Warn
		}
		c.Safe(themes.Server, cells.Sanitize(s.Name).Clip(min(c.Room, 20)))
		c.Put(role, " "+word+"  ")
	}
	c.End()
	return c.Top()
}

// drawStatus tells the state of everything on one line.
func (a *app) drawStatus() string {
	writing, written := a.exports.Running()
	key := statusKey{a.panes.W, a.Style, a.Clock().Unix(), a.snap.Version, a.snap.Last, errText(errors.Join(a.snap.Store.Err, a.snap.Store.Damage)), a.rates.At, a.note, a.trouble.seen, a.trouble.open, writing, written}
	if key == a.statusOf {
		return a.status
	}
	a.statusOf = key
	c := &a.statuses
	c.Begin(&a.Theme, a.panes.W)
	switch {
	case a.note.text != "" && a.note.bad:
		c.Only(themes.Alarm)
		a.drawChip(c)
		c.Put(themes.Plain, " failed ")
		c.Safe(themes.Plain, cells.Sanitize(a.note.text).Clip(c.Room))
	case a.note.text != "":
		a.drawNote(c, a.note.text)
	case a.canUndo():
		a.drawNote(c, a.undoWords())
	case a.exports.Writing():
		path, n := a.exports.Running()
		c.Put(themes.Busy, " writing "+cells.Number(uint64(n))+" ")
		c.Safe(themes.Busy, cells.Join(cells.Sanitize("to "), cells.Sanitize(path), cells.Sanitize("; "+a.KeyOf("export.stop")+" stops it")).Clip(c.Room))
	default:
		a.drawTotals(c)
	}
	c.End()
	a.status = c.Top()
	return a.status
}

// drawNote tells what was done. Trouble stays in view beside it.
func (a *app) drawNote(c *cells.Canvas, text string) {
	a.drawChip(c)
	c.Put(themes.Strong, " ")
	c.Safe(themes.Strong, cells.Sanitize(text).Clip(c.Room))
}

// drawChip tells in few words of trouble that a line about something else must not hide.
func (a *app) drawChip(c *cells.Canvas) {
	word, _ := evidence.StoreTrouble(a.snap.Store)
	if word == "" && a.tree.Total.Trouble > 0 {
		word = strconv.Itoa(a.tree.Total.Trouble) + " in trouble"
	}
	if word != "" {
		c.Put(themes.Bad, " "+word)
		c.Put(themes.Rule, " "+a.Glyphs.Divider)
	}
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
	writing       string
	written       int64
}

// teach fills an empty stream of h rows with what to do next.
func (a *app) teach(c *cells.Canvas, h int) {
	lines := []string{"Nothing has arrived yet. Events show here as soon as they come."}
	away := a.unreached(c.Width-4, h)
	switch {
	case a.stream.Searched() != "":
		lines = []string{"Nothing matches yet: " + a.stream.Searched() + " of the history."}
	case a.stream.Query.Filters():
		lines = append([]string{"Nothing matches the filter.", ""}, a.filters.Hint()...)
		lines = append(lines, a.KeyOf("back")+" takes it away, "+a.KeyOf("filter")+" changes it, "+a.KeyOf("filter.toggle")+" turns it off.")
	case len(a.snap.Servers) == 0:
		c.End()
		widget.DrawLessons(c, "No servers yet, so nothing can arrive.", a.noServers())
		return
	case a.stream.Query.Node.Level() == 2 && a.tree.Chosen().Kids == 0:
		lines = []string{"Not subscribed to this event type.", "", "Press " + a.KeyOf("subscribe") + " to subscribe."}
	case a.tree.Total.Trouble > 0:
		lines = []string{"Nothing has arrived yet, and " + cells.Count(a.tree.Total.Trouble, "subscription") + " cannot get anything now.", "", a.KeyOf("subscriptions") + " lists them, " + a.KeyOf("quiet") + " there tells why and what the host does next."}
	case len(away) > 0:
		lines = away
	case len(a.snap.Subs) == 0:
		c.End()
		widget.DrawLessons(c, "No subscriptions yet.", a.noSubscriptions())
		return
	}
	c.End()
	for _, l := range lines {
		if c.Height() >= h {
			return
		}
		for _, part := range trust.Block(trust.Unescaped(l), max(c.Width-4, 1)) {
			c.Put(themes.Dim, "  ")
			c.Safe(themes.Dim, part)
			c.End()
		}
	}
}
