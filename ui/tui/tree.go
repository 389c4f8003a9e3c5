package tui

import (
	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
)

// node names a place in the tree and the part of the stream that belongs to it.
// The zero node is everything.
type node struct {
	server string
	typ    trust.Text
	sub    event.SubID
}

// level is how deep a node lies: 0 everything, 1 server, 2 type, 3 subscription.
func (n node) level() int {
	switch {
	case n.sub != "":
		return 3
	case !n.typ.IsZero():
		return 2
	case n.server != "":
		return 1
	}
	return 0
}

// parent returns the node above.
func (n node) parent() node {
	switch n.level() {
	case 3:
		return node{server: n.server, typ: n.typ}
	case 2:
		return node{server: n.server}
	}
	return node{}
}

// holds tells whether a record belongs to the node.
func (n node) holds(r *event.Record) bool {
	switch n.level() {
	case 3:
		return r.Sub == n.sub
	case 2:
		return r.Server == n.server && r.Type == n.typ
	case 1:
		return r.Server == n.server
	}
	return true
}

// treeRow is one row. A remark belongs to the node above and cannot be chosen.
type treeRow struct {
	node   node
	remark bool
	server *host.ServerView
	typ    *event.Type
	sub    *host.SubscriptionView
	kids   int // what is below, shown or not
	open   bool
}

// tree is the pane of servers, event types and subscriptions. It refers to one
// snapshot; the place that is chosen is a node, not a row.
type tree struct {
	rows   []treeRow
	at     node
	top    int
	closed map[node]bool // folded by the operator
	height int

	total subTotals
	draws canvas
	lines []string
	drawn treeKey
}

// treeKey is what the drawn rows were made from.
type treeKey struct {
	version, second uint64
	w, h, top       int
	at              node
	focus           bool
	look            int
}

// subTotals counts subscriptions by what an operator must know.
type subTotals struct{ all, live, poll, hook, paused, trouble, waiting int }

func newTree() tree {
	return tree{closed: map[node]bool{}}
}

// reveal opens what is above a node.
func (t *tree) reveal(n node) {
	for p := n.parent(); p.level() > 0; p = p.parent() {
		delete(t.closed, p)
	}
}

// load takes a snapshot. The chosen node stays, or its nearest parent does.
func (t *tree) load(snap *host.Snapshot) {
	t.rows = append(t.rows[:0], treeRow{kids: len(snap.Servers), open: true})
	t.total = subTotals{}
	for i := range snap.Subs {
		t.total.add(&snap.Subs[i])
	}
	for i := range snap.Servers {
		t.loadServer(&snap.Servers[i], snap.Subs)
	}
	for t.at.level() > 0 && t.find(t.at) < 0 {
		t.at = t.at.parent()
	}
	t.drawn = treeKey{}
}

func (s *subTotals) add(v *host.SubscriptionView) {
	s.all++
	switch stateOf(*v) {
	case event.StatePaused:
		s.paused++
	case event.StateStarting, event.StateVerifying:
		s.waiting++
	case event.StateStale, event.StateBackoff, event.StateSuspended, event.StateDenied, event.StateEnded:
		s.trouble++
	default:
		switch v.Mode {
		case event.ModePoll:
			s.poll++
		case event.ModeWebhook:
			s.hook++
		default:
			s.live++
		}
	}
}

func (t *tree) loadServer(s *host.ServerView, subs []host.SubscriptionView) {
	n := node{server: s.Name}
	at := len(t.rows)
	t.rows = append(t.rows, treeRow{node: n, server: s, open: !t.closed[n]})
	types := make([]trust.Text, 0, len(s.Types)+4)
	known := map[trust.Text]*event.Type{}
	for i := range s.Types {
		known[s.Types[i].Name] = &s.Types[i]
		types = append(types, s.Types[i].Name)
	}
	for i := range subs {
		if name := subs[i].Key.Type; subs[i].Key.Server == s.Name {
			t.rows[at].kids++
			if _, ok := known[name]; !ok {
				known[name] = nil
				types = append(types, name)
			}
		}
	}
	if !t.rows[at].open {
		return
	}
	if s.Err != "" && s.Reach != host.ReachReady || s.TypesErr != "" {
		t.rows = append(t.rows, treeRow{node: n, server: s, remark: true})
	}
	for _, name := range types {
		t.loadType(node{server: s.Name, typ: name}, known[name], subs)
	}
}

func (t *tree) loadType(n node, typ *event.Type, subs []host.SubscriptionView) {
	at := len(t.rows)
	t.rows = append(t.rows, treeRow{node: n, typ: typ, open: !t.closed[n]})
	for i := range subs {
		v := &subs[i]
		if v.Key.Server != n.server || v.Key.Type != n.typ {
			continue
		}
		t.rows[at].kids++
		if !t.rows[at].open {
			continue
		}
		sn := node{server: n.server, typ: n.typ, sub: v.ID}
		t.rows = append(t.rows, treeRow{node: sn, sub: v})
		if !noArgs(v.Key.Args) || !v.Status.Error.IsZero() {
			t.rows = append(t.rows, treeRow{node: sn, sub: v, remark: true})
		}
	}
}

func (t *tree) find(n node) int {
	for i := range t.rows {
		if t.rows[i].node == n && !t.rows[i].remark {
			return i
		}
	}
	return -1
}

// chosen returns the row of the chosen node.
func (t *tree) chosen() *treeRow {
	if i := t.find(t.at); i >= 0 {
		return &t.rows[i]
	}
	return &treeRow{}
}

// by moves the choice by n rows.
func (t *tree) by(n int) {
	i, step := max(t.find(t.at), 0), 1
	if n < 0 {
		n, step = -n, -1
	}
	for ; n > 0; n-- {
		j := i + step
		for j >= 0 && j < len(t.rows) && t.rows[j].remark {
			j += step
		}
		if j < 0 || j >= len(t.rows) {
			break
		}
		i = j
	}
	if i < len(t.rows) {
		t.at = t.rows[i].node
	}
}

func (t *tree) first() { t.by(-len(t.rows)) }
func (t *tree) last()  { t.by(len(t.rows)) }

// fold closes the chosen node, or goes to the one above.
func (t *tree) fold() {
	r := t.chosen()
	if l := t.at.level(); (l == 1 || l == 2) && r.open && r.kids > 0 {
		t.closed[t.at] = true
		return
	}
	t.at = t.at.parent()
}

// unfold opens the chosen node, or goes to the first one below.
func (t *tree) unfold() {
	r := t.chosen()
	if t.closed[t.at] {
		delete(t.closed, t.at)
		return
	}
	if r.kids > 0 {
		t.by(1)
	}
}

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
		drawLessons(c, "No servers yet.", a.noServers())
	}
	t.lines = c.rows(h, t.lines)
	return t.lines
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
	glyph, role := a.glyphs.busy, themes.Busy
	switch s.Reach {
	case host.ReachReady:
		glyph, role = a.glyphs.live, themes.Good
		if s.TypesErr != "" {
			glyph, role = a.glyphs.quiet, themes.Warn
		}
	case host.ReachBackoff, host.ReachSignIn:
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
	c.put(role, " "+reach(*s, a.clock()))
	if r.kids > 0 {
		c.right(themes.Dim, count(r.kids, "sub"))
	} else if s.TypesKnown {
		c.right(themes.Dim, count(len(s.Types), "type"))
	}
}

func (t *tree) drawType(a *app, c *canvas, r *treeRow) {
	if a.marked[r.node] {
		c.put(themes.Key, a.glyphs.chosen+" "+t.folding(a, r)+" ")
	} else {
		c.put(themes.Dim, "  "+t.folding(a, r)+" ")
	}
	var modes string
	if r.typ != nil {
		for i, m := range r.typ.Modes {
			if i > 0 {
				modes += " "
			}
			modes += modeWord(m)
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
		c.safe(themes.Dim, ours(", "+e).Clip(room))
	}
	c.right(themes.Plain, a.subSpark(v.ID, c.room-len(stored)-2)+stored)
}

// drawRemark tells what does not fit beside a node: an error, else arguments.
func (t *tree) drawRemark(a *app, c *canvas, r *treeRow) {
	switch {
	case r.sub != nil && !r.sub.Status.Error.IsZero():
		c.put(themes.Warn, "      ")
		c.safe(themes.Warn, trust.Line(r.sub.Status.Error).Clip(c.room))
	case r.sub != nil:
		c.put(themes.Dim, "      ")
		c.safe(themes.Dim, ours(string(r.sub.Key.Args)).Clip(c.room))
	case r.server.Reach == host.ReachSignIn:
		c.put(themes.Warn, "    ")
		c.safe(themes.Warn, ours(r.server.SignIn+": "+a.keyOf("sign-in")).Clip(c.room))
	case r.server.Err != "" && r.server.Reach != host.ReachReady:
		c.put(themes.Warn, "    ")
		c.safe(themes.Warn, ours(r.server.Err).Clip(c.room))
	default:
		c.put(themes.Warn, "    ")
		c.safe(themes.Warn, ours(r.server.TypesErr).Clip(c.room))
	}
}
