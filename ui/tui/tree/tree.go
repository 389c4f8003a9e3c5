// Package tree is the pane of servers, event types and subscriptions, with saved views and marks
// below them.
package tree

import (
	"strconv"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Row is a row of the tree. A remark belongs to the node above and cannot be chosen. A type with one
// subscription is one row for both.
type Row struct {
	Node   query.Node
	remark bool
	shared trust.Rendered // a remark of a server: an error of several subscriptions
	times  int            // the number of subscriptions with that error
	proof  bool           // a remark: the evidence of a subscription without events
	quiet  bool           // a remark of a subscription whose error the server's rows show
	Server *host.ServerView
	Type   *event.Type
	Sub    *host.SubscriptionView
	Item   *Item
	Kids   int // the number of subscriptions below, shown or not
	open   bool
}

// Tree is the pane of servers, event types and subscriptions. It shows one snapshot. The choice is a
// node, not a row.
type Tree struct {
	// RecentCounts returns the events of a subscription in each of the last n seconds, nil if
	// there were none.
	RecentCounts func(id event.SubID, n int) []uint32
	Lessons      func() []widget.Lesson // how to add servers

	env       *cells.Env
	screen    widget.Screen
	panes     *layout.Screen
	snap      *host.Snapshot // the newest one; the screen writes to it
	Rows      []Row
	items     []Item              // below the servers
	marked    map[query.Node]bool // event types
	itemsKey  ItemsKey
	At        query.Node
	Top       int
	order     []standing          // the servers in their present order
	Closed    map[query.Node]bool // nodes that the operator folded (true) or unfolded (false)
	Height    int
	ShowWhole bool // the next Draw scrolls so that rows below the chosen node are visible

	Total Totals
	draws cells.Canvas
	lines []string
	scale uint32 // of the sparklines
	drawn treeKey
}

// treeKey has what the drawn rows depend on.
type treeKey struct {
	version, second uint64
	w, h, top       int
	at              query.Node
	focus           bool
	look            int
}

// Totals counts subscriptions by state.
type Totals struct {
	All, Live, Poll, Hook, Paused, Trouble, Waiting int
	Servers                                         int // servers in trouble without a subscription in trouble
}

// InTrouble describes the number of subscriptions in trouble and of Servers; "" if there are none.
func (t *Totals) InTrouble() string {
	servers := cells.Count(t.Servers, "server")
	switch {
	case t.Trouble > 0 && t.Servers > 0:
		return strconv.Itoa(t.Trouble) + " in trouble, and " + servers
	case t.Trouble > 0:
		return strconv.Itoa(t.Trouble) + " in trouble"
	case t.Servers > 0:
		return servers + " in trouble"
	}
	return ""
}

// New returns an empty tree, without [Tree.RecentCounts] and [Tree.Lessons].
func New(env *cells.Env, screen widget.Screen, panes *layout.Screen, snap *host.Snapshot) Tree {
	return Tree{env: env, screen: screen, panes: panes, snap: snap, Closed: map[query.Node]bool{}}
}

func (t *Tree) focused() bool { return t.panes.Focus == layout.Tree }

// Redraw makes the next Draw draw all rows again.
func (t *Tree) Redraw() { t.drawn = treeKey{} }

// Reveal unfolds the nodes above a node, and the node itself if it is a server.
func (t *Tree) Reveal(n query.Node) {
	for p := n.Parent(); p.Level() > 0; p = p.Parent() {
		t.Closed[p] = false
	}
	if n.Level() == 1 {
		t.Closed[n] = false
	}
}

// Load shows a snapshot. If the chosen node no longer exists, its nearest parent is chosen.
func (t *Tree) Load(snap *host.Snapshot) {
	t.Total = Totals{}
	subs := groupSubs(snap.Subs)
	for i := range snap.Subs {
		t.Total.add(&snap.Subs[i])
	}
	for i := range snap.Servers {
		if s := &snap.Servers[i]; health(s, nil) == 0 && !subs.failing(s.Name) {
			t.Total.Servers++
		}
	}
	t.loadServers(snap, subs)
	t.loadItems()
	for t.At != (query.Node{}) && t.Find(t.At) < 0 {
		t.At = t.At.Parent()
	}
	t.drawn = treeKey{}
}

func (s *Totals) add(v *host.SubscriptionView) {
	s.All++
	if v.InTrouble() {
		s.Trouble++
		return
	}
	switch evidence.StateOf(*v) {
	case event.StatePaused:
		s.Paused++
	case event.StateStarting, event.StateVerifying:
		s.Waiting++
	default:
		switch v.Mode {
		case event.ModePoll:
			s.Poll++
		case event.ModeWebhook:
			s.Hook++
		default:
			s.Live++
		}
	}
}

// Find returns the row of a node, -1 if there is none.
func (t *Tree) Find(n query.Node) int {
	for i := range t.Rows {
		if t.Rows[i].Node == n && !t.Rows[i].remark {
			return i
		}
	}
	return -1
}

// ShownAs returns the node whose row shows a node: the node itself, or the type of an only
// subscription. ok is false if no row shows it.
func (t *Tree) ShownAs(n query.Node) (at query.Node, ok bool) {
	if t.Find(n) >= 0 {
		return n, true
	}
	i := t.Find(n.Parent())
	if n.Level() == 3 && i >= 0 && t.Rows[i].Sub != nil && t.Rows[i].Sub.ID == n.Sub {
		return n.Parent(), true
	}
	return query.Node{}, false
}

// Chosen returns the row of the chosen node.
func (t *Tree) Chosen() *Row {
	if i := t.Find(t.At); i >= 0 {
		return &t.Rows[i]
	}
	return &Row{}
}

// By moves the choice by n rows.
func (t *Tree) By(n int) {
	i, step := max(t.Find(t.At), 0), 1
	if n < 0 {
		n, step = -n, -1
	}
	for ; n > 0; n-- {
		j := i + step
		for j >= 0 && j < len(t.Rows) && t.Rows[j].remark {
			j += step
		}
		if j < 0 || j >= len(t.Rows) {
			break
		}
		i = j
	}
	if i < len(t.Rows) {
		t.At = t.Rows[i].Node
	}
}

// First chooses the first row.
func (t *Tree) First() { t.By(-len(t.Rows)) }

// Last chooses the last row.
func (t *Tree) Last() { t.By(len(t.Rows)) }

// Fold folds the chosen node, or chooses the one above.
func (t *Tree) Fold() {
	r := t.Chosen()
	if l := t.At.Level(); r.open && (l == 1 && (r.Kids > 0 || len(r.Server.Types) > 0) || l == 2 && r.Kids > 1) {
		t.Closed[t.At] = true
		return
	}
	t.At = t.At.Parent()
}

// Unfold unfolds the chosen node, or chooses the first one below.
func (t *Tree) Unfold() {
	r := t.Chosen()
	if l := t.At.Level(); !r.open && (l == 1 || l == 2 && r.Kids > 1) {
		t.Closed[t.At] = false
		return
	}
	if r.Sub == nil && (r.Kids > 0 || r.Server != nil && len(r.Server.Types) > 0) {
		t.By(1)
	}
}

// Click chooses a row that is shown, and reports whether it was chosen already.
func (t *Tree) Click(row int) (again bool) {
	i := t.Top + row
	if i >= len(t.Rows) {
		return false
	}
	n := t.Rows[i].Node
	again = n == t.At
	t.At = n
	return again
}

// Servers returns the servers in the order of the tree.
func (t *Tree) Servers() (servers []*host.ServerView) {
	for i := range t.Rows {
		s := t.Rows[i].Server
		if s != nil && (len(servers) == 0 || servers[len(servers)-1] != s) {
			servers = append(servers, s)
		}
	}
	return servers
}
