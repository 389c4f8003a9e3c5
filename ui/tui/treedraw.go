package tui

import (
	"strconv"
	"strings"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
)

// draw returns exactly h rows of w cells.
func (t *tree) draw(a *app, w, h int) []string {
	t.height = h
	at := max(t.find(t.at), 0)
	if at < t.top {
		t.top = at
	}
	for end := at + 1; t.top+h < min(end+t.remarks(at), len(t.rows)); {
		t.top++
	}
	if end := t.end(at); t.whole && end > t.top+h {
		t.top = min(at, end-h)
	}
	t.whole = false
	t.top = max(0, min(t.top, len(t.rows)-h))
	key := treeKey{a.snap.Version, uint64(a.Clock().Unix()), w, h, t.top, t.at, a.focus == treePane, a.Style}
	if key == t.drawn {
		return t.lines
	}
	t.drawn = key
	c := &t.draws
	c.Begin(&a.Theme, w)
	for i := t.top; i < len(t.rows) && i < t.top+h; i++ {
		t.drawRow(a, c, &t.rows[i])
	}
	if len(a.snap.Servers) == 0 {
		c.End()
		none := "No servers yet."
		if len(a.snap.Subs) > 0 { // of servers that are not configured any more
			none = "No server is configured."
		}
		drawLessons(c, none, a.noServers())
	}
	t.lines = c.Rows(h, t.lines)
	return t.lines
}

// end returns the row behind the last one that is below row i.
func (t *tree) end(i int) int {
	end := i + 1
	for end < len(t.rows) && (t.rows[end].remark || t.rows[end].node.Level() > t.rows[i].node.Level()) {
		end++
	}
	return end
}

// remarks counts the remarks below row i.
func (t *tree) remarks(i int) int {
	n := 0
	for j := i + 1; j < len(t.rows) && t.rows[j].remark; j++ {
		n++
	}
	return n
}

func (t *tree) drawRow(a *app, c *cells.Canvas, r *treeRow) {
	if r.node == t.at && !r.remark {
		if a.focus == treePane {
			c.Only(themes.Cursor)
		} else {
			c.Only(themes.CursorOff)
		}
		c.Put(themes.Plain, a.Glyphs.Cursor)
	} else {
		c.Put(themes.Plain, " ")
	}
	switch {
	case r.item != nil:
		t.drawItem(c, r)
	case r.remark:
		t.drawRemark(a, c, r)
	case r.sub != nil:
		t.drawSub(a, c, r.sub)
	case r.node.Level() == 2:
		t.drawType(a, c, r)
	case r.server != nil:
		t.drawServer(a, c, r)
	default:
		c.Put(themes.Strong, "all servers")
		c.Right(themes.Dim, cells.Count(t.total.all, "sub"))
	}
	c.End()
}

func (t *tree) folding(a *app, r *treeRow) string {
	switch {
	case r.kids == 0:
		return a.Glyphs.Leaf
	case r.open:
		return a.Glyphs.Open
	}
	return a.Glyphs.Closed
}

func (t *tree) drawServer(a *app, c *cells.Canvas, r *treeRow) {
	s := r.server
	glyph, role, bad := a.Glyphs.Busy, themes.Busy, 0
	switch s.Reach {
	case host.ReachReady:
		glyph, role = a.Glyphs.Live, themes.Good
		if bad = a.failing(s.Name); bad > 0 {
			glyph, role = a.Glyphs.Quiet, themes.Warn
		}
		if s.TypesErr != "" {
			glyph, role = a.Glyphs.Quiet, themes.Warn
		}
	case host.ReachBackoff, host.ReachSignIn, evidence.ReachMissing:
		glyph, role = a.Glyphs.Quiet, themes.Warn
	case host.ReachRefused, host.ReachFault:
		glyph, role = a.Glyphs.Bad, themes.Bad
	}
	fold := a.Glyphs.Open
	if !r.open {
		fold = a.Glyphs.Closed
	}
	c.Put(themes.Dim, fold+" ")
	c.Put(role, glyph+" ")
	c.Safe(themes.Server, cells.Sanitize(s.Name).Clip(max(8, c.Room/2)))
	word := evidence.Reach(*s, a.Clock())
	if bad > 0 {
		word = strconv.Itoa(bad) + " in trouble"
	}
	c.Safe(role, cells.Sanitize(" "+word).Clip(c.Room))
	if r.kids > 0 {
		c.Right(themes.Dim, cells.Count(r.kids, "sub"))
	} else if s.TypesKnown {
		c.Right(themes.Dim, cells.Count(len(s.Types), "type"))
	}
}

// failing counts the subscriptions at a server that are in trouble: between the
// calls of a server without a session only they show that it is gone.
func (a *app) failing(server string) (n int) {
	for i := range a.snap.Subs {
		if v := &a.snap.Subs[i]; v.Key.Server == server && evidence.Urgency(v) < 2 {
			n++
		}
	}
	return n
}

func (t *tree) drawType(a *app, c *cells.Canvas, r *treeRow) {
	if a.marked[r.node] {
		c.Put(themes.Key, a.Glyphs.Chosen+" "+t.folding(a, r)+" ")
	} else {
		c.Put(themes.Dim, "  "+t.folding(a, r)+" ")
	}
	var modes string
	if r.typ != nil {
		modes = modeList(r.typ.Modes, evidence.ModeWord)
		name := trust.Line(r.node.Type).Width + 1
		if c.Room-len(modes) < name {
			modes = modeList(r.typ.Modes, modeLetters)
		}
		if r.typ.Cursorless && c.Room-len(modes)-len(evidence.NoReplay)-1 >= name {
			modes = evidence.NoReplay + " " + modes
		}
	}
	room := c.Room - len(modes) - 1
	if room < 12 {
		room, modes = c.Room, ""
	}
	c.Safe(themes.Type, trust.Line(r.node.Type).Clip(room))
	c.Right(themes.Dim, modes)
}

func (t *tree) drawSub(a *app, c *cells.Canvas, v *host.SubscriptionView) {
	state := evidence.StateOf(*v)
	glyph, role := evidence.Sign(a.Glyphs, state)
	c.Put(role, "    "+glyph+" ")
	c.Put(themes.Plain, evidence.ModeWord(v.Mode)+" ")
	c.Put(role, string(state))
	stored := ""
	if v.Stored > 0 {
		stored = cells.Number(v.Stored)
	}
	if e := evidence.Of(*v, a.Clock()); e != "" {
		room := c.Room - len(stored) - 1
		if first, rest, more := strings.Cut(e, ", "); more && state == event.StatePolling && len(first)+len(rest)+4 > room {
			e = rest // when it polls next tells more than when it did
		}
		c.Safe(themes.Dim, cells.Sanitize(cells.WholeParts(", "+e, ", ", room)).Clip(room))
	}
	c.Right(themes.Plain, a.subSpark(v.ID, c.Room-len(stored)-2)+stored)
}

// drawRemark tells what does not fit beside a node: an error, else arguments.
func (t *tree) drawRemark(a *app, c *cells.Canvas, r *treeRow) {
	switch {
	case r.sub != nil && !r.sub.Status.Error.IsZero():
		c.Put(themes.Warn, "      ")
		c.Safe(themes.Warn, trust.Line(r.sub.Status.Error).Clip(c.Room))
	case r.sub != nil:
		c.Put(themes.Dim, "      ")
		c.Safe(themes.Dim, cells.Sanitize(string(r.sub.ShownArgs())).Clip(c.Room))
	case r.server.Reach == host.ReachSignIn:
		c.Put(themes.Warn, "    ")
		c.Safe(themes.Warn, cells.Sanitize(a.KeyOf("sign-in")+" signs in: "+r.server.SignIn).Clip(c.Room))
	case r.server.Err != "" && r.server.Reach != host.ReachReady:
		c.Put(themes.Warn, "    ")
		c.Safe(themes.Warn, cells.Sanitize(r.server.Err).Clip(c.Room))
	default:
		c.Put(themes.Warn, "    ")
		c.Safe(themes.Warn, cells.Sanitize(r.server.TypesErr).Clip(c.Room))
	}
}

// modeList names modes in the order of the server.
func modeList(modes []event.Mode, word func(event.Mode) string) string {
	out := ""
	for i, m := range modes {
		if i > 0 {
			out += " "
		}
		out += word(m)
	}
	return out
}

// modeLetters is a mode where there is no room for its word.
func modeLetters(m event.Mode) string {
	switch m {
	case event.ModePoll:
		return "po"
	case event.ModePush:
		return "pu"
	}
	return "wh"
}
