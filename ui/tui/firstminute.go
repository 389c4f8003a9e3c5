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

func (a *app) beginDemo() tea.Cmd {
	return a.demo.Begin(a, func() tea.Cmd {
		a.panes.Enter(layout.Stream)
		return a.Read()
	})
}

// noServers lists the ways to get servers.
func (a *app) noServers() []widget.Lesson {
	var l []widget.Lesson
	if x := a.actions.Find("server.add"); x != nil && a.actions.Works(x) {
		l = append(l, widget.Lesson{Key: a.KeyOf("server.add"), Text: "add a server"}, widget.Lesson{Key: a.KeyOf("server.import"), Text: "import servers"})
	}
	if a.demo.CanStart() {
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

// notConnected names the servers in scope and their errors if none of them is connected; otherwise
// it is empty. It names as many servers as fit w by h cells, since it is called for every frame.
func (a *app) notConnected(w, h int) (lines []string) {
	scope, now := a.stream.Query.Node.Server, a.Clock()
	left, room := 0, h-4 // four rows: a blank first one, one for wrapped words, and the two last ones
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
		room -= 3 + len(s.Err)/max(w, 1) // the name, the error, a blank line
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

// teach writes into an empty stream of h rows why it is empty, and what to do next.
func (a *app) teach(c *cells.Canvas, h int) {
	lines := []string{"Nothing has arrived yet. Events show here as soon as they come."}
	away := a.notConnected(c.Width-4, h)
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
