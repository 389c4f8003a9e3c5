package tui

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
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
	key := treeKey{a.snap.Version, uint64(a.clock().Unix()), w, h, t.top, t.at, a.focus == treePane, a.looks}
	if key == t.drawn {
		return t.lines
	}
	t.drawn = key
	c := &t.draws
	c.begin(&a.theme, w)
	for i := t.top; i < len(t.rows) && i < t.top+h; i++ {
		t.drawRow(a, c, &t.rows[i])
	}
	if len(a.snap.Servers) == 0 {
		c.end()
		none := "No servers yet."
		if len(a.snap.Subs) > 0 { // of servers that are not configured any more
			none = "No server is configured."
		}
		drawLessons(c, none, a.noServers())
	}
	t.lines = c.rows(h, t.lines)
	return t.lines
}

// end returns the row behind the last one that is below row i.
func (t *tree) end(i int) int {
	end := i + 1
	for end < len(t.rows) && (t.rows[end].remark || t.rows[end].node.level() > t.rows[i].node.level()) {
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

func (t *tree) drawRow(a *app, c *canvas, r *treeRow) {
	if r.node == t.at && !r.remark {
		if a.focus == treePane {
			c.only(themes.Cursor)
		} else {
			c.only(themes.CursorOff)
		}
		c.put(themes.Plain, a.glyphs.cursor)
	} else {
		c.put(themes.Plain, " ")
	}
	switch {
	case r.item != nil:
		t.drawItem(c, r)
	case r.remark:
		t.drawRemark(a, c, r)
	case r.sub != nil:
		t.drawSub(a, c, r.sub)
	case r.node.level() == 2:
		t.drawType(a, c, r)
	case r.server != nil:
		t.drawServer(a, c, r)
	default:
		c.put(themes.Strong, "all servers")
		c.right(themes.Dim, count(t.total.all, "sub"))
	}
	c.end()
}

func (t *tree) folding(a *app, r *treeRow) string {
	switch {
	case r.kids == 0:
		return a.glyphs.leaf
	case r.open:
		return a.glyphs.open
	}
	return a.glyphs.closed
}

func (t *tree) drawServer(a *app, c *canvas, r *treeRow) {
	s := r.server
	glyph, role, bad := a.glyphs.busy, themes.Busy, 0
	switch s.Reach {
	case host.ReachReady:
		glyph, role = a.glyphs.live, themes.Good
		if bad = a.failing(s.Name); bad > 0 {
			glyph, role = a.glyphs.quiet, themes.Warn
		}
		if s.TypesErr != "" {
			glyph, role = a.glyphs.quiet, themes.Warn
		}
	case host.ReachBackoff, host.ReachSignIn, reachMissing:
		glyph, role = a.glyphs.quiet, themes.Warn
	case host.ReachRefused, host.ReachFault:
		glyph, role = a.glyphs.bad, themes.Bad
	}
	fold := a.glyphs.open
	if !r.open {
		fold = a.glyphs.closed
	}
	c.put(themes.Dim, fold+" ")
	c.put(role, glyph+" ")
	c.safe(themes.Server, ours(s.Name).Clip(max(8, c.room/2)))
	word := reach(*s, a.clock())
	if bad > 0 {
		word = strconv.Itoa(bad) + " in trouble"
	}
	c.safe(role, ours(" "+word).Clip(c.room))
	if r.kids > 0 {
		c.right(themes.Dim, count(r.kids, "sub"))
	} else if s.TypesKnown {
		c.right(themes.Dim, count(len(s.Types), "type"))
	}
}

// failing counts the subscriptions at a server that are in trouble: between the
// calls of a server without a session only they show that it is gone.
func (a *app) failing(server string) (n int) {
	for i := range a.snap.Subs {
		if v := &a.snap.Subs[i]; v.Key.Server == server && urgency(v) < 2 {
			n++
		}
	}
	return n
}

func (t *tree) drawType(a *app, c *canvas, r *treeRow) {
	if a.marked[r.node] {
		c.put(themes.Key, a.glyphs.chosen+" "+t.folding(a, r)+" ")
	} else {
		c.put(themes.Dim, "  "+t.folding(a, r)+" ")
	}
	var modes string
	if r.typ != nil {
		modes = modeList(r.typ.Modes, modeWord)
		name := trust.Line(r.node.typ).Width + 1
		if c.room-len(modes) < name {
			modes = modeList(r.typ.Modes, modeLetters)
		}
		if r.typ.Cursorless && c.room-len(modes)-len(noReplay)-1 >= name {
			modes = noReplay + " " + modes
		}
	}
	room := c.room - len(modes) - 1
	if room < 12 {
		room, modes = c.room, ""
	}
	c.safe(themes.Type, trust.Line(r.node.typ).Clip(room))
	c.right(themes.Dim, modes)
}

func (t *tree) drawSub(a *app, c *canvas, v *host.SubscriptionView) {
	state := stateOf(*v)
	glyph, role := a.glyphs.sign(state)
	c.put(role, "    "+glyph+" ")
	c.put(themes.Plain, modeWord(v.Mode)+" ")
	c.put(role, string(state))
	stored := ""
	if v.Stored > 0 {
		stored = number(v.Stored)
	}
	if e := evidence(*v, a.clock()); e != "" {
		room := c.room - len(stored) - 1
		if first, rest, more := strings.Cut(e, ", "); more && state == event.StatePolling && len(first)+len(rest)+4 > room {
			e = rest // when it polls next tells more than when it did
		}
		c.safe(themes.Dim, ours(wholeParts(", "+e, ", ", room)).Clip(room))
	}
	c.right(themes.Plain, a.subSpark(v.ID, c.room-len(stored)-2)+stored)
}

// wholeParts leaves out the last parts of a list that do not fit, but not the
// first one.
func wholeParts(text, sep string, room int) string {
	for ansi.StringWidth(text) > room {
		i := strings.LastIndex(text, sep)
		if i <= 0 {
			break
		}
		text = text[:i]
	}
	return text
}

// drawRemark tells what does not fit beside a node: an error, else arguments.
func (t *tree) drawRemark(a *app, c *canvas, r *treeRow) {
	switch {
	case r.sub != nil && !r.sub.Status.Error.IsZero():
		c.put(themes.Warn, "      ")
		c.safe(themes.Warn, trust.Line(r.sub.Status.Error).Clip(c.room))
	case r.sub != nil:
		c.put(themes.Dim, "      ")
		c.safe(themes.Dim, ours(string(r.sub.ShownArgs())).Clip(c.room))
	case r.server.Reach == host.ReachSignIn:
		c.put(themes.Warn, "    ")
		c.safe(themes.Warn, ours(a.keyOf("sign-in")+" signs in: "+r.server.SignIn).Clip(c.room))
	case r.server.Err != "" && r.server.Reach != host.ReachReady:
		c.put(themes.Warn, "    ")
		c.safe(themes.Warn, ours(r.server.Err).Clip(c.room))
	default:
		c.put(themes.Warn, "    ")
		c.safe(themes.Warn, ours(r.server.TypesErr).Clip(c.room))
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
