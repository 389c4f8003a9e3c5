package tree

import (
	"strconv"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// Row is one row. A remark belongs to the node above and cannot be chosen. A type with one
// subscription is one row, with both.
type Row struct {
	Node   query.Node
	remark bool
	shared trust.Rendered // a remark of a server: what several of its subscriptions say
	times  int            // how many do
	proof  bool           // a remark: the evidence of a subscription from which nothing came yet
	quiet  bool           // a remark of a subscription: what is wrong is told at its server
	Server *host.ServerView
	Type   *event.Type
	Sub    *host.SubscriptionView
	Item   *Item
	Kids   int // what is below, shown or not
	open   bool
}

// Tree is the pane of servers, event types and subscriptions. It refers to one
// snapshot; the place that is chosen is a node, not a row.
type Tree struct {
	env       *Env
	Rows      []Row
	items     []Item              // the second section
	marked    map[query.Node]bool // event types that are subscribed to together
	itemsKey  ItemsKey
	At        query.Node
	Top       int
	order     []standing          // of the servers, as they stood last
	Closed    map[query.Node]bool // folded by the operator, or unfolded where it is false
	Height    int
	ShowWhole bool // what is below the chosen node is to be shown too

	Total Totals
	draws cells.Canvas
	lines []string
	scale uint32 // of the curves that are drawn
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

// Totals counts subscriptions by what an operator must know.
type Totals struct {
	All, Live, Poll, Hook, Paused, Trouble, Waiting int
	// Servers counts those in trouble of which no subscription is.
	Servers int
}

// InTrouble names how many subscriptions, and servers without one, need a look; "" if none do.
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

// New is an empty tree.
func New(env *Env) Tree {
	return Tree{env: env, Closed: map[query.Node]bool{}}
}

// Redraw has the rows drawn again though nothing of a snapshot changed.
func (t *Tree) Redraw() { t.drawn = treeKey{} }

// Reveal opens what is above a node, and a server itself.
func (t *Tree) Reveal(n query.Node) {
	for p := n.Parent(); p.Level() > 0; p = p.Parent() {
		t.Closed[p] = false
	}
	if n.Level() == 1 {
		t.Closed[n] = false
	}
}

// Load takes a snapshot. The chosen node stays, or its nearest parent does.
func (t *Tree) Load(snap *host.Snapshot) {
	t.Total = Totals{}
	for i := range snap.Subs {
		t.Total.add(&snap.Subs[i])
	}
	for i := range snap.Servers {
		if s := &snap.Servers[i]; health(s, nil) == 0 && evidence.Failing(snap.Subs, s.Name) == 0 {
			t.Total.Servers++
		}
	}
	t.loadServers(snap)
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

// ShownAs returns the node whose row shows a node: itself, or the type of a subscription
// that is its only one. ok is false if no row does.
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

// First chooses the first row, Last the last one.
func (t *Tree) First() { t.By(-len(t.Rows)) }

// Last is told with First.
func (t *Tree) Last() { t.By(len(t.Rows)) }

// Fold closes the chosen node, or goes to the one above.
func (t *Tree) Fold() {
	r := t.Chosen()
	if l := t.At.Level(); r.open && (l == 1 && (r.Kids > 0 || len(r.Server.Types) > 0) || l == 2 && r.Kids > 1) {
		t.Closed[t.At] = true
		return
	}
	t.At = t.At.Parent()
}

// Unfold opens the chosen node, or goes to the first one below.
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
