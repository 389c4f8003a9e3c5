package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// The first minute: what an empty screen says and offers.

// canDemo reports whether the demo servers can be started from here: on a screen
// without servers.
func (a *app) canDemo() bool {
	return a.o.StartDemo != nil && len(a.snap.Servers) == 0 && !a.demo.Starting()
}

func (a *app) beginDemo() tea.Cmd {
	return a.demo.Begin(a, a.o.StartDemo, func() tea.Cmd {
		a.enter(layout.Stream)
		return a.read()
	})
}

// isDemo reports whether a server is one of the demo.
func (a *app) isDemo(server string) bool { return a.o.Demo || a.demo.Has(server) }

// noServers lists the ways to get servers.
func (a *app) noServers() []widget.Lesson {
	var l []widget.Lesson
	if x := a.actions.Find("server.add"); x != nil && a.actions.Works(x) {
		l = append(l, widget.Lesson{Key: a.KeyOf("server.add"), Text: "add a server"}, widget.Lesson{Key: a.KeyOf("server.import"), Text: "import servers"})
	}
	if a.canDemo() {
		l = append(l, widget.Lesson{Key: a.KeyOf("demo"), Text: "try demo servers"})
	}
	if len(l) == 0 {
		l = append(l, widget.Lesson{Key: "", Text: "eventdeck https://host/mcp"}, widget.Lesson{Key: "", Text: "eventdeck demo"})
	}
	return l
}

// noSubscriptions lists the steps to a subscription.
func (a *app) noSubscriptions() []widget.Lesson {
	return []widget.Lesson{
		{Key: a.KeyOf("tree"), Text: "to servers and event types"},
		{Key: a.KeyOf("down") + " " + a.KeyOf("up"), Text: "choose an event type"},
		{Key: a.KeyOf("subscribe"), Text: "subscribe to it"},
	}
}

// unreached says why nothing of what is shown can be subscribed to: none of its
// servers is connected. Otherwise it is empty. Of many servers those are named that
// have room in w by h cells: it is asked for in every frame.
func (a *app) unreached(w, h int) (lines []string) {
	scope, now := a.stream.Query.Node.Server, a.Clock()
	left, room := 0, h-4 // the first row is blank, words wrap, and the last two say what is left and what to do
	for i := range a.snap.Servers {
		s := &a.snap.Servers[i]
		if scope != "" && s.Name != scope {
			continue
		}
		if s.Reach == host.ReachReady {
			return nil
		}
		if left > 0 || len(lines) > 0 && room < 3 {
			left++
			continue
		}
		room -= 3 + len(s.Err)/max(w, 1) // a name, what is wrong, a blank
		lines = append(lines, s.Name+": "+cmp.Or(evidence.ServerWhy(s, now), evidence.Reach(*s, now)), s.Err, "")
	}
	if left > 0 {
		lines = append(lines, "and "+cells.Count(left, "server")+" more.")
	}
	if len(lines) > 0 && !a.actions.ReadOnly {
		lines = append(lines, a.KeyOf("server.reconnect")+" on the server tries at once.")
	}
	return lines
}

// teach writes into an empty stream of h rows why it is empty and what to do next.
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
		c.Lines(themes.Dim, "  ", themes.Dim, trust.Block(trust.Unescaped(l), max(c.Width-4, 1)))
	}
}
