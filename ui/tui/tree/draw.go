package tree

import (
	"cmp"
	"slices"
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
	if t.Height != h {
		t.Height = h
		t.Load(t.snap) // folding depends on the height
	}
	at := max(t.Find(t.At), 0)
	if at < t.Top {
		t.Top = at
	}
	for end := at + 1; t.Top+h < min(end+t.remarks(at), len(t.Rows)); {
		t.Top++
	}
	if end := t.end(at); t.ShowWhole && end > t.Top+h {
		t.Top = min(at, end-h)
	}
	t.ShowWhole = false
	t.Top = max(0, min(t.Top, len(t.Rows)-h))
	key := treeKey{t.snap.Version, uint64(env.Clock().Unix()), w, h, t.Top, t.At, t.focused(), env.Style}
	if key == t.drawn {
		return t.lines
	}
	t.drawn = key
	c := &t.draws
	c.Begin(&env.Theme, w)
	t.setScale(t.Rows[t.Top:min(len(t.Rows), t.Top+h)])
	for i := t.Top; i < len(t.Rows) && i < t.Top+h; i++ {
		t.drawRow(c, &t.Rows[i])
	}
	if len(t.snap.Servers) == 0 {
		c.End()
		none := "No servers yet."
		if len(t.snap.Subs) > 0 { // of servers that are no longer configured
			none = "No server is configured."
		}
		widget.DrawLessons(c, none, t.Lessons())
	}
	t.lines = c.Rows(h, t.lines)
	return t.lines
}

// end returns the index after the last row that belongs to row i.
func (t *Tree) end(i int) int {
	end := i + 1
	for end < len(t.Rows) && (t.Rows[end].remark || t.Rows[end].Node.Level() > t.Rows[i].Node.Level()) {
		end++
	}
	return end
}

// remarks returns the number of remarks below row i.
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
		if t.focused() {
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
	case r.Node.Level() == 2 && r.Sub != nil:
		t.drawOnlySub(c, r)
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
		if bad = evidence.Failing(t.snap.Subs, s.Name); bad > 0 {
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
	if t.marked[r.Node] {
		c.Put(themes.Key, env.Glyphs.Picked+" "+t.folding(r)+" ")
	} else {
		c.Put(themes.Dim, "  "+t.folding(r)+" ")
	}
	room := c.Room - trust.Line(r.Node.Type).Width - 1
	modes := t.offers(r, room)
	if len(modes) > room {
		modes = "" // the name matters more
	}
	c.Safe(themes.Plain, trust.Line(r.Node.Type).Clip(c.Room))
	c.Right(themes.Dim, modes)
}

// offers returns the modes of a type without a subscription and whether it has no replay, as far as
// that fits into room cells.
func (t *Tree) offers(r *Row, room int) string {
	if r.Type == nil {
		return ""
	}
	replay := ""
	if r.Type.Cursorless {
		replay = evidence.NoReplay
	}
	if r.Kids > 0 {
		return replay
	}
	words, letters := modeList(r.Type.Modes, evidence.ModeWord), modeList(r.Type.Modes, modeLetters)
	for _, text := range []string{strings.TrimSpace(replay + " " + words), strings.TrimSpace(replay + " " + letters)} {
		if len(text) <= room {
			return text
		}
	}
	return letters
}

// DrawSub writes a subscription into the current row.
func (t *Tree) DrawSub(c *cells.Canvas, v *host.SubscriptionView) {
	env := t.env
	now := env.Clock()
	glyph, role := evidence.Sign(env.Glyphs, evidence.StateWord(v, now))
	word, e := evidence.Row(v, now)
	c.Put(role, "   "+glyph+" ")
	c.Put(themes.Plain, evidence.ModeWord(v.Mode)+" ")
	c.Put(role, word)
	course, stored, kept := t.counts(c, v)
	t.drawEvidence(c, e, kept)
	t.putCounts(c, course, stored, kept)
}

// drawOnlySub writes an event type with its only subscription, whose state is shown unless it is
// good.
func (t *Tree) drawOnlySub(c *cells.Canvas, r *Row) {
	env, v := t.env, r.Sub
	now := env.Clock()
	mark := " "
	if t.marked[r.Node] {
		mark = env.Glyphs.Picked
	}
	c.Put(themes.Key, " "+mark)
	glyph, role := evidence.Sign(env.Glyphs, evidence.StateWord(v, now))
	c.Put(role, glyph+" ")
	name := trust.Line(r.Node.Type)
	word, proof := evidence.Row(v, now)
	course, stored, kept := t.counts(c, v)
	trouble := role != themes.Good && (v.NoServer || !v.Waits()) // the row of the server says that it is waited for
	need := name.Width
	if trouble {
		need += len(word) + 1
	}
	if need+kept >= c.Room && stored != "" { // a name that would be cut also gets the room before the count
		course, stored = nil, " "+strings.TrimLeft(stored, " ")
		kept = len(stored)
	}
	if trouble {
		c.Safe(themes.Plain, name.Clip(max(nameMin, c.Room-kept-len(word)-2)))
		c.Safe(role, cells.Sanitize(" "+word).Clip(c.Room-kept))
		t.drawEvidence(c, proof, kept)
	} else {
		c.Safe(themes.Plain, name.Clip(c.Room-kept-1))
		if (v.NoReplay || r.Type != nil && r.Type.Cursorless) && c.Room-kept > len(evidence.NoReplay)+1 {
			c.Put(themes.Dim, " "+evidence.NoReplay)
		}
	}
	t.putCounts(c, course, stored, kept)
}

// drawEvidence writes those parts of the evidence that fit as a whole.
func (t *Tree) drawEvidence(c *cells.Canvas, proof string, kept int) {
	room := c.Room - kept - 1
	if proof == "" {
		return
	}
	if len(proof)+2 > room {
		proof = strings.NewReplacer("last answer ", "last ", " ago", "").Replace(proof)
	}
	if parts := cells.Sanitize(cells.WholeParts(", "+proof, ", ", room)); parts.Width <= room {
		c.Safe(themes.Dim, parts)
	}
}

// nameMin is the smallest width of a type's name beside a state, in cells.
const nameMin = 10

// counts returns what is at the right of a subscription's row, and its width in cells: the events of
// the last seconds, if there were some and they fit, and the number of stored events.
func (t *Tree) counts(c *cells.Canvas, v *host.SubscriptionView) (course []uint32, stored string, kept int) {
	course = t.RecentCounts(v.ID, sparkWidth)
	if v.Stored > 0 {
		stored = cells.PadLeft(cells.Number(v.Stored), countWidth)
	}
	kept = len(stored)
	if course == nil || c.Room <= sparkWidth+kept {
		return nil, stored, kept
	}
	return course, stored, kept + sparkWidth
}

// putCounts writes what [Tree.counts] returned.
func (t *Tree) putCounts(c *cells.Canvas, course []uint32, stored string, kept int) {
	c.Style(themes.Plain)
	c.Fill(c.Room - kept)
	if course != nil {
		c.Put(themes.Chart, t.env.Glyphs.SparkTo(course, t.scale))
	}
	c.Put(themes.Plain, stored)
}

// Widths of the right columns of the tree, in cells.
const (
	sparkWidth = 6
	countWidth = 6
)

// setScale sets the common scale of the sparklines of some rows.
func (t *Tree) setScale(rows []Row) {
	t.scale = 1
	for i := range rows {
		if v := rows[i].Sub; v != nil && !rows[i].remark {
			t.scale = max(t.scale, cells.Highest(t.RecentCounts(v.ID, sparkWidth)))
		}
	}
}

// drawRemark writes the line below a node: an error, else arguments.
func (t *Tree) drawRemark(c *cells.Canvas, r *Row) {
	env := t.env
	switch {
	case r.proof:
		word, proof := evidence.Row(r.Sub, env.Clock())
		c.Put(themes.Dim, "     "+evidence.ModeWord(r.Sub.Mode)+" "+word)
		t.drawEvidence(c, proof, 0)
	case r.times > 0:
		c.Put(themes.Warn, "    ")
		count := " x" + strconv.Itoa(r.times)
		c.Safe(themes.Warn, r.shared.Clip(c.Room-len(count)))
		c.Put(themes.Strong, count)
	case r.Sub != nil && !r.quiet && !r.Sub.Status.Error.IsZero():
		c.Put(themes.Warn, "      ")
		c.Safe(themes.Warn, errorLine(r.Sub).Clip(c.Room))
	case r.Sub != nil:
		c.Put(themes.Dim, "      ")
		c.Safe(themes.Dim, cells.Sanitize(string(r.Sub.ShownArgs())).Clip(c.Room))
	case r.Server.Reach == host.ReachSignIn:
		c.Put(themes.Warn, "    ")
		c.Safe(themes.Warn, cells.Sanitize(t.screen.KeyOf("sign-in")+" signs in: "+r.Server.SignIn).Clip(c.Room))
	case r.Server.Err != "" && r.Server.Reach != host.ReachReady:
		c.Put(themes.Warn, "    ")
		waits := waiting(r.Kids)
		c.Safe(themes.Warn, cells.Sanitize(cmp.Or(evidence.ServerCause(r.Server), r.Server.Err)).Clip(c.Room-len(waits)))
		c.Put(themes.Dim, waits)
	default:
		c.Put(themes.Warn, "    ")
		c.Safe(themes.Warn, cells.Sanitize(r.Server.TypesErr).Clip(c.Room))
	}
}

// errorLine returns the short cause of an error, else the error itself.
func errorLine(v *host.SubscriptionView) trust.Rendered {
	if why := evidence.Cause(v); why != "" {
		return cells.Sanitize(why)
	}
	return trust.Line(v.Status.Error)
}

// modeList returns the words of modes in a fixed order.
func modeList(modes []event.Mode, word func(event.Mode) string) string {
	var out []string
	for _, m := range []event.Mode{event.ModePoll, event.ModePush, event.ModeWebhook} {
		if slices.Contains(modes, m) {
			out = append(out, word(m))
		}
	}
	return strings.Join(out, " ")
}

// modeLetters returns two letters for a mode.
func modeLetters(m event.Mode) string {
	switch m {
	case event.ModePoll:
		return "po"
	case event.ModePush:
		return "pu"
	}
	return "wh"
}
