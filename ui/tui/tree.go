package tui

import (
	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// treeRow is one row. A remark belongs to the node above and cannot be chosen.
type treeRow struct {
	node   query.Node
	remark bool
	server *host.ServerView
	typ    *event.Type
	sub    *host.SubscriptionView
	item   *treeItem
	kids   int // what is below, shown or not
	open   bool
}

// tree is the pane of servers, event types and subscriptions. It refers to one
// snapshot; the place that is chosen is a node, not a row.
type tree struct {
	rows   []treeRow
	items  []treeItem // the second section
	itemOf itemsKey
	at     query.Node
	top    int
	closed map[query.Node]bool // folded by the operator, or unfolded where it is false
	height int
	whole  bool // what is below the chosen node is to be shown too

	total subTotals
	draws cells.Canvas
	lines []string
	drawn treeKey
}

// treeKey is what the drawn rows were made from.
type treeKey struct {
	version, second uint64
	w, h, top       int
	at              query.Node
	focus           bool
	look            int
}

// subTotals counts subscriptions by what an operator must know.
type subTotals struct{ all, live, poll, hook, paused, trouble, waiting int }

func newTree() tree {
	return tree{closed: map[query.Node]bool{}}
}

// reveal opens what is above a node.
func (t *tree) reveal(n query.Node) {
	for p := n.Parent(); p.Level() > 0; p = p.Parent() {
		t.closed[p] = false
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
	t.loadMissing(snap.Subs)
	t.loadItems()
	for t.at != (query.Node{}) && t.find(t.at) < 0 {
		t.at = t.at.Parent()
	}
	t.drawn = treeKey{}
}

// loadMissing lists servers that only subscriptions name: nothing runs these, and
// nowhere else would they be seen.
func (t *tree) loadMissing(subs []host.SubscriptionView) {
	for i := range subs {
		name := subs[i].Key.Server
		if subs[i].NoServer && t.find(query.Node{Server: name}) < 0 {
			t.loadServer(&host.ServerView{Name: name, Reach: evidence.ReachMissing}, subs)
		}
	}
}

func (s *subTotals) add(v *host.SubscriptionView) {
	s.all++
	switch evidence.StateOf(*v) {
	case event.StatePaused:
		s.paused++
	case event.StateStarting, event.StateVerifying:
		s.waiting++
	case event.StateStale, event.StateBackoff, event.StateSuspended, event.StateRefused, event.StateNotRunning, event.StateDenied, event.StateEnded:
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

// typesShown is how many event types a server may have to stand unfolded without a
// subscription: of more, the servers below would never be seen.
const typesShown = 100

func (t *tree) loadServer(s *host.ServerView, subs []host.SubscriptionView) {
	n := query.Node{Server: s.Name}
	at := len(t.rows)
	t.rows = append(t.rows, treeRow{node: n, server: s})
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
	closed, chosen := t.closed[n]
	t.rows[at].open = !closed && (chosen || t.rows[at].kids > 0 || len(types) <= typesShown)
	if !t.rows[at].open {
		return
	}
	if s.Err != "" && s.Reach != host.ReachReady || s.TypesErr != "" {
		t.rows = append(t.rows, treeRow{node: n, server: s, remark: true})
	}
	for _, name := range types {
		t.loadType(query.Node{Server: s.Name, Type: name}, known[name], subs)
	}
}

func (t *tree) loadType(n query.Node, typ *event.Type, subs []host.SubscriptionView) {
	at := len(t.rows)
	t.rows = append(t.rows, treeRow{node: n, typ: typ, open: !t.closed[n]})
	for i := range subs {
		v := &subs[i]
		if v.Key.Server != n.Server || v.Key.Type != n.Type {
			continue
		}
		t.rows[at].kids++
		if !t.rows[at].open {
			continue
		}
		sn := query.Node{Server: n.Server, Type: n.Type, Sub: v.ID}
		t.rows = append(t.rows, treeRow{node: sn, sub: v})
		if !evidence.NoArgs(v.Key.Args) || !v.Status.Error.IsZero() {
			t.rows = append(t.rows, treeRow{node: sn, sub: v, remark: true})
		}
	}
}

func (t *tree) find(n query.Node) int {
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
	if l := t.at.Level(); r.open && (l == 1 && (r.kids > 0 || len(r.server.Types) > 0) || l == 2 && r.kids > 0) {
		t.closed[t.at] = true
		return
	}
	t.at = t.at.Parent()
}

// unfold opens the chosen node, or goes to the first one below.
func (t *tree) unfold() {
	r := t.chosen()
	if l := t.at.Level(); !r.open && (l == 1 || l == 2 && r.kids > 0) {
		t.closed[t.at] = false
		return
	}
	if r.kids > 0 || r.server != nil && len(r.server.Types) > 0 {
		t.by(1)
	}
}
