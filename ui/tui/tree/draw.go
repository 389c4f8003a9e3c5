package tree

import (
	"strconv"
	"strings"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/widget"
)

// Draw returns exactly h rows of w cells.
func (t *Tree) Draw(w, h int) []string {
	env := t.env
	t.Height = h
	at := max(t.Find(t.At), 0)
	if at < t.Top {
		t.Top = at
	}
	for end := at + 1; t.Top+h < min(end+t.remarks(at), len(t.Rows)); {
		t.Top++
	}
	if end := t.end(at); t.Whole && end > t.Top+h {
		t.Top = min(at, end-h)
	}
	t.Whole = false
	t.Top = max(0, min(t.Top, len(t.Rows)-h))
	key := treeKey{env.Snap.Version, uint64(env.Clock().Unix()), w, h, t.Top, t.At, env.Focused(), env.Style}
	if key == t.drawn {
		return t.lines
	}
	t.drawn = key
	c := &t.draws
	c.Begin(&env.Theme, w)
	for i := t.Top; i < len(t.Rows) && i < t.Top+h; i++ {
		t.drawRow(c, &t.Rows[i])
	}
	if len(env.Snap.Servers) == 0 {
		c.End()
		none := "No servers yet."
		if len(env.Snap.Subs) > 0 { // of servers that are not configured any more
			none = "No server is configured."
		}
		widget.DrawLessons(c, none, env.Lessons())
	}
	t.lines = c.Rows(h, t.lines)
	return t.lines
}

// end returns the row behind the last one that is below row i.
func (t *Tree) end(i int) int {
	end := i + 1
	for end < len(t.Rows) && (t.Rows[end].remark || t.Rows[end].Node.Level() > t.Rows[i].Node.Level()) {
		end++
	}
	return end
}

// remarks counts the remarks below row i.
func (t *Tree) remarks(i int) int {
	n := 0
	for j := i + 1; j < len(t.Rows) && t.Rows[j].remark; j++ {
		n++
	}
	return n
}

func (t *Tree) drawRow(c *cells.Canvas, r *Row) {
	env := t.env
	if r.Node == t.At && !r.remark {
		if env.Focused() {
			c.Only(themes.Cursor)
		} else {
			c.Only(themes.CursorOff)
		}
		c.Put(themes.Plain, env.Glyphs.Cursor)
	} else {
		c.Put(themes.Plain, " ")
	}
	switch {
	case r.Item != nil:
		t.drawItem(c, r)
	case r.remark:
		t.drawRemark(c, r)
	case r.Sub != nil:
		t.DrawSub(c, r.Sub)
	case r.Node.Level() == 2:
		t.drawType(c, r)
	case r.Server != nil:
		t.drawServer(c, r)
	default:
		c.Put(themes.Strong, "all servers")
		c.Right(themes.Dim, cells.Count(t.Total.All, "sub"))
	}
	c.End()
}

func (t *Tree) folding(r *Row) string {
	env := t.env
	switch {
	case r.Kids == 0:
		return env.Glyphs.Leaf
	case r.open:
		return env.Glyphs.Open
	}
	return env.Glyphs.Closed
}

func (t *Tree) drawServer(c *cells.Canvas, r *Row) {
	env := t.env
	s := r.Server
	glyph, role, bad := env.Glyphs.Busy, themes.Busy, 0
	switch s.Reach {
	case host.ReachReady:
		glyph, role = env.Glyphs.Live, themes.Good
		if bad = evidence.Failing(env.Snap.Subs, s.Name); bad > 0 {
			glyph, role = env.Glyphs.Quiet, themes.Warn
		}
		if s.TypesErr != "" {
			glyph, role = env.Glyphs.Quiet, themes.Warn
		}
	case host.ReachBackoff, host.ReachSignIn, evidence.ReachMissing:
		glyph, role = env.Glyphs.Quiet, themes.Warn
	case host.ReachRefused, host.ReachFault:
		glyph, role = env.Glyphs.Bad, themes.Bad
	}
	fold := env.Glyphs.Open
	if !r.open {
		fold = env.Glyphs.Closed
	}
	c.Put(themes.Dim, fold+" ")
	c.Put(role, glyph+" ")
	c.Safe(themes.Server, cells.Sanitize(s.Name).Clip(max(8, c.Room/2)))
	word := evidence.Reach(*s, env.Clock())
	if bad > 0 {
		word = strconv.Itoa(bad) + " in trouble"
	}
	c.Safe(role, cells.Sanitize(" "+word).Clip(c.Room))
	if r.Kids > 0 {
		c.Right(themes.Dim, cells.Count(r.Kids, "sub"))
	} else if s.TypesKnown {
		c.Right(themes.Dim, cells.Count(len(s.Types), "type"))
	}
}

func (t *Tree) drawType(c *cells.Canvas, r *Row) {
	env := t.env
	if env.Marked(r.Node) {
		c.Put(themes.Key, env.Glyphs.Chosen+" "+t.folding(r)+" ")
	} else {
		c.Put(themes.Dim, "  "+t.folding(r)+" ")
	}
	var modes string
	if r.Type != nil {
		modes = modeList(r.Type.Modes, evidence.ModeWord)
		name := trust.Line(r.Node.Type).Width + 1
		if c.Room-len(modes) < name {
			modes = modeList(r.Type.Modes, modeLetters)
		}
		if r.Type.Cursorless && c.Room-len(modes)-len(evidence.NoReplay)-1 >= name {
			modes = evidence.NoReplay + " " + modes
		}
	}
	room := c.Room - len(modes) - 1
	if room < 12 {
		room, modes = c.Room, ""
	}
	c.Safe(themes.Type, trust.Line(r.Node.Type).Clip(room))
	c.Right(themes.Dim, modes)
}

// DrawSub writes a subscription into the row that has begun.
func (t *Tree) DrawSub(c *cells.Canvas, v *host.SubscriptionView) {
	env := t.env
	state := evidence.StateOf(*v)
	glyph, role := evidence.Sign(env.Glyphs, state)
	c.Put(role, "    "+glyph+" ")
	c.Put(themes.Plain, evidence.ModeWord(v.Mode)+" ")
	c.Put(role, string(state))
	stored := ""
	if v.Stored > 0 {
		stored = cells.Number(v.Stored)
	}
	if e := evidence.Of(*v, env.Clock()); e != "" {
		room := c.Room - len(stored) - 1
		if first, rest, more := strings.Cut(e, ", "); more && state == event.StatePolling && len(first)+len(rest)+4 > room {
			e = rest // when it polls next tells more than when it did
		}
		c.Safe(themes.Dim, cells.Sanitize(cells.WholeParts(", "+e, ", ", room)).Clip(room))
	}
	c.Right(themes.Plain, env.Course(v.ID, c.Room-len(stored)-2)+stored)
}

// drawRemark tells what does not fit beside a node: an error, else arguments.
func (t *Tree) drawRemark(c *cells.Canvas, r *Row) {
	env := t.env
	switch {
	case r.Sub != nil && !r.Sub.Status.Error.IsZero():
		c.Put(themes.Warn, "      ")
		c.Safe(themes.Warn, trust.Line(r.Sub.Status.Error).Clip(c.Room))
	case r.Sub != nil:
		c.Put(themes.Dim, "      ")
		c.Safe(themes.Dim, cells.Sanitize(string(r.Sub.ShownArgs())).Clip(c.Room))
	case r.Server.Reach == host.ReachSignIn:
		c.Put(themes.Warn, "    ")
		c.Safe(themes.Warn, cells.Sanitize(env.KeyOf("sign-in")+" signs in: "+r.Server.SignIn).Clip(c.Room))
	case r.Server.Err != "" && r.Server.Reach != host.ReachReady:
		c.Put(themes.Warn, "    ")
		c.Safe(themes.Warn, cells.Sanitize(r.Server.Err).Clip(c.Room))
	default:
		c.Put(themes.Warn, "    ")
		c.Safe(themes.Warn, cells.Sanitize(r.Server.TypesErr).Clip(c.Room))
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
