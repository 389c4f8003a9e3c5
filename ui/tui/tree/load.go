package tree

import (
	"cmp"
	"slices"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// TypesShown is the number of event types up to which a server without subscriptions is unfolded:
// more of them would hide the servers below.
const TypesShown = 100

// loadServers makes the rows of all servers, those in trouble first. If the rows do not fit into
// the pane, remarks with evidence are left out, then servers without trouble are folded, the last
// one first.
func (t *Tree) loadServers(snap *host.Snapshot, subs subsOf) {
	servers := t.ordered(all(snap), subs)
	parts, n := make([][]Row, len(servers)), 1
	for i, s := range servers {
		parts[i] = t.loadServer(s, subs[s.Name])
		n += len(parts[i])
	}
	if t.Height > 0 && n > t.Height {
		n = 1
		for i := range parts {
			parts[i] = slices.DeleteFunc(parts[i], func(r Row) bool { return r.proof })
			n += len(parts[i])
		}
	}
	for i := len(parts) - 1; i >= 0 && len(parts) > 1 && t.Height > 0 && n > t.Height; i-- {
		_, chosen := t.Closed[parts[i][0].Node]
		if chosen || t.At.Server == servers[i].Name && t.At.Level() > 1 || health(servers[i], subs) == 0 {
			continue
		}
		n -= len(parts[i]) - 1
		parts[i] = parts[i][:1]
		parts[i][0].open = false
	}
	t.Rows = append(t.Rows[:0], Row{Kids: len(snap.Servers), open: true})
	for _, p := range parts {
		t.Rows = append(t.Rows, p...)
	}
}

// settleAfter is how long a server must be in trouble, or out of it, before it is moved: a lost
// connection that comes back at once moves no rows.
const settleAfter = 5 * time.Second

// standing is the position of a server among the others.
type standing struct {
	name   string
	health int       // as it counts for the order
	since  time.Time // when that began to differ from how the server fares; zero: it does not
}

// ordered sorts servers, those in trouble first. No server moves while the tree has the focus, so
// that rows stay under the cursor, nor before settleAfter. Servers that are added while the tree has
// the focus come last.
func (t *Tree) ordered(servers []*host.ServerView, subs subsOf) []*host.ServerView {
	type placed struct {
		standing
		server *host.ServerView
		place  int // its position while the tree has the focus
	}
	now, held := t.env.Clock(), t.focused()
	order := make([]placed, 0, len(servers))
	before := make(map[string]int, len(t.order))
	for i, o := range t.order {
		before[o.name] = i
	}
	for _, s := range servers {
		p := placed{standing{name: s.Name, health: health(s, subs)}, s, 0}
		was, known := before[s.Name]
		if known {
			p.standing = t.order[was].next(p.health, now, held)
		}
		switch {
		case held && known:
			p.place = was
		case held:
			p.place = len(t.order)
		}
		order = append(order, p)
	}
	slices.SortStableFunc(order, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.health, b.health))
	})
	t.order = t.order[:0]
	for i, p := range order {
		t.order, servers[i] = append(t.order, p.standing), p.server
	}
	return servers
}

// Settle moves the servers whose trouble, or health, has lasted: a quiet host sends no snapshot just
// then. It is cheap while none is to be moved.
func (t *Tree) Settle() {
	now := t.env.Clock()
	if !t.focused() && slices.ContainsFunc(t.order, func(o standing) bool { return o.due(now) }) {
		t.Load(t.snap)
	}
}

// due reports whether the health of the server has differed for long enough.
func (o standing) due(now time.Time) bool {
	return !o.since.IsZero() && now.Sub(o.since) >= settleAfter
}

// next returns the standing for the present health of the server.
func (o standing) next(health int, now time.Time, held bool) standing {
	switch {
	case health == o.health:
		o.since = time.Time{}
	case o.since.IsZero():
		o.since = now
	case !held && o.due(now):
		o.health, o.since = health, time.Time{}
	}
	return o
}

// all returns the servers that only subscriptions name, then those that are configured.
func all(snap *host.Snapshot) []*host.ServerView {
	servers := missing(snap)
	for i := range snap.Servers {
		servers = append(servers, &snap.Servers[i])
	}
	return servers
}

// subsOf has the subscriptions of each server.
type subsOf map[string][]*host.SubscriptionView

func groupSubs(subs []host.SubscriptionView) subsOf {
	of := subsOf{}
	for i := range subs {
		name := subs[i].Key.Server
		of[name] = append(of[name], &subs[i])
	}
	return of
}

// failing reports whether a subscription of a server is in trouble.
func (of subsOf) failing(server string) bool {
	return slices.ContainsFunc(of[server], func(v *host.SubscriptionView) bool { return evidence.Urgency(v) < 2 })
}

// health returns 0 for a server that is in trouble or has a subscription in trouble, otherwise 1.
func health(s *host.ServerView, subs subsOf) int {
	switch s.Reach {
	case host.ReachBackoff, host.ReachRefused, host.ReachSignIn, host.ReachFault, evidence.ReachMissing:
		return 0
	}
	if s.TypesErr != "" || subs.failing(s.Name) {
		return 0
	}
	return 1
}

// missing returns the servers that only subscriptions name, which are shown nowhere else.
func missing(snap *host.Snapshot) (out []*host.ServerView) {
	var known map[string]bool
	for i := range snap.Subs {
		name := snap.Subs[i].Key.Server
		if !snap.Subs[i].NoServer {
			continue
		}
		if known == nil {
			known = make(map[string]bool, len(snap.Servers))
			for j := range snap.Servers {
				known[snap.Servers[j].Name] = true
			}
		}
		if !known[name] {
			known[name] = true
			out = append(out, &host.ServerView{Name: name, Reach: evidence.ReachMissing})
		}
	}
	return out
}

// loadServer makes the rows of a server.
func (t *Tree) loadServer(s *host.ServerView, subs []*host.SubscriptionView) []Row {
	n := query.Node{Server: s.Name}
	rows := []Row{{Node: n, Server: s}}
	types := make([]trust.Text, 0, len(s.Types)+4)
	known := map[trust.Text]*event.Type{}
	for i := range s.Types {
		known[s.Types[i].Name] = &s.Types[i]
		types = append(types, s.Types[i].Name)
	}
	of := map[trust.Text][]*host.SubscriptionView{}
	for _, v := range subs {
		rows[0].Kids++
		if _, ok := known[v.Key.Type]; !ok {
			known[v.Key.Type] = nil
			types = append(types, v.Key.Type)
		}
		of[v.Key.Type] = append(of[v.Key.Type], v)
	}
	closed, chosen := t.Closed[n]
	rows[0].open = !closed && (chosen || rows[0].Kids > 0 || len(types) <= TypesShown)
	if !rows[0].open {
		return rows
	}
	down := s.Err != "" && s.Reach != host.ReachReady
	if down || s.TypesErr != "" {
		rows = append(rows, Row{Node: n, Server: s, Kids: rows[0].Kids, remark: true})
	}
	var shared []repeated
	if !down { // otherwise the error of the server explains all of them
		shared = sharedErrors(of)
	}
	for _, r := range shared {
		rows = append(rows, Row{Node: n, Server: s, remark: true, shared: r.text, times: r.times})
	}
	quiet := func(v *host.SubscriptionView) bool { // the rows of the server show its error
		return v.Status.Error.IsZero() || down || slices.ContainsFunc(shared, func(r repeated) bool { return r.plain == errorLine(v).Plain() })
	}
	for _, name := range types {
		rows = t.loadType(rows, Row{Node: query.Node{Server: s.Name, Type: name}, Type: known[name], Server: nil}, of[name], quiet)
	}
	return rows
}

// repeated is an error of several subscriptions.
type repeated struct {
	text  trust.Rendered
	plain string
	times int
}

// sharedErrors returns the errors that several subscriptions of a server have, the most frequent
// first.
func sharedErrors(of map[trust.Text][]*host.SubscriptionView) (out []repeated) {
	for _, subs := range of {
		for _, v := range subs {
			if v.Status.Error.IsZero() {
				continue
			}
			text := errorLine(v)
			plain := text.Plain()
			i := slices.IndexFunc(out, func(r repeated) bool { return r.plain == plain })
			if i < 0 {
				i, out = len(out), append(out, repeated{text: text, plain: plain})
			}
			out[i].times++
		}
	}
	out = slices.DeleteFunc(out, func(r repeated) bool { return r.times < 2 })
	slices.SortFunc(out, func(a, b repeated) int {
		return cmp.Or(cmp.Compare(b.times, a.times), cmp.Compare(a.plain, b.plain))
	})
	return out
}

// loadType adds the rows of an event type to those of its server. quiet reports whether a
// subscription has no error, or another row shows it.
func (t *Tree) loadType(rows []Row, r Row, subs []*host.SubscriptionView, quiet func(*host.SubscriptionView) bool) []Row {
	r.Kids = len(subs)
	if len(subs) == 1 {
		r.Sub = subs[0]
		rows = append(rows, r)
		switch {
		case !quiet(r.Sub):
			rows = append(rows, Row{Node: r.Node, Sub: r.Sub, remark: true})
		case r.Sub.Stored == 0 && r.Sub.Status.Error.IsZero() && !r.Sub.Waits():
			rows = append(rows, Row{Node: r.Node, Sub: r.Sub, remark: true, proof: true})
		}
		return rows
	}
	r.open = !t.Closed[r.Node]
	rows = append(rows, r)
	if !r.open {
		return rows
	}
	for _, v := range subs {
		n := query.Node{Server: r.Node.Server, Type: r.Node.Type, Sub: v.ID}
		rows = append(rows, Row{Node: n, Sub: v})
		if !evidence.NoArgs(v.Key.Args) || !quiet(v) {
			rows = append(rows, Row{Node: n, Sub: v, remark: true, quiet: quiet(v)})
		}
	}
	return rows
}

// waiting describes the number of subscriptions that wait for a server, "" for less than two.
func waiting(n int) string {
	if n < 2 {
		return ""
	}
	return ", " + cells.Count(n, "sub")
}
