package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// endLeasesTimeout bounds how long quitting waits for servers to end leases.
const endLeasesTimeout = 8 * time.Second

func (a *app) half() int {
	switch a.panes.Focus {
	case layout.Tree:
		return max(1, a.tree.Height/2)
	case layout.Detail:
		return max(1, a.detail.Height/2)
	case layout.Subs, layout.Log, layout.React:
		return max(1, a.table().Height/2)
	}
	return max(1, a.stream.Height/2)
}

func (a *app) move(n int) {
	switch a.panes.Focus {
	case layout.Tree:
		a.tree.By(n)
		a.rescope()
	case layout.Detail:
		if a.turnsEvents() && (n == 1 || n == -1) {
			a.stream.Follow = false
			a.stream.By(n)
			return
		}
		if n == 1 || n == -1 {
			a.detail.By(n)
		} else {
			a.detail.Page(n)
		}
	case layout.Subs, layout.Log, layout.React:
		a.table().By(n)
	default:
		a.stream.By(n)
	}
}

// turnsEvents reports whether the keys that move by one row move to another event: in a detail on
// the whole screen.
func (a *app) turnsEvents() bool {
	return a.panes.Focus == layout.Detail && a.panes.Size == layout.Full && a.detail.ShowsRecord()
}

// step moves by one line, also where move would go to another event.
func (a *app) step(n int) {
	if a.panes.Focus == layout.Detail {
		a.detail.By(n)
		return
	}
	a.move(n)
}

func (a *app) moveEnd(last bool) tea.Cmd {
	switch {
	case a.table() != nil && a.panes.Focus != layout.Detail:
		a.table().End(last)
	case a.panes.Focus == layout.Tree && last:
		a.tree.Last()
		a.rescope()
	case a.panes.Focus == layout.Tree:
		a.tree.First()
		a.rescope()
	case a.panes.Focus == layout.Detail && last:
		a.detail.By(len(a.detail.Lines))
	case a.panes.Focus == layout.Detail:
		a.detail.By(-len(a.detail.Lines))
	case last:
		return a.followNewest()
	default:
		return a.search.Oldest()
	}
	return nil
}

// fold closes or opens the chosen node, or moves to its parent or first child.
func (a *app) fold(open bool) {
	if a.panes.Focus == layout.Detail {
		a.detail.Fold(open)
		return
	}
	if open {
		a.tree.Unfold()
	} else {
		a.tree.Fold()
	}
	a.tree.Load(&a.snap)
	a.rescope()
}

// toDetail moves the focus to the detail, and to the first value of its payload. The stream stops
// following, so that the shown record stays.
func (a *app) toDetail() {
	a.panes.Enter(layout.Detail)
	if a.detail.ShowsRecord() {
		a.stream.Follow = false
		a.detail.ToValue()
	}
}

func (a *app) turn(n int) {
	order := a.panes.Order()
	i := slices.Index(order, a.panes.Focus)
	switch p := order[(i+n+len(order))%len(order)]; p {
	case layout.Detail:
		a.toDetail()
	case layout.Other:
		a.switchStream()
	default:
		a.panes.Enter(p)
	}
}

func (a *app) open() tea.Cmd {
	switch a.panes.Focus {
	case layout.Tree:
		if x := a.tree.Chosen().Item; x != nil {
			return a.openItem(x)
		}
		if r := a.tree.Chosen(); r.Node.Level() == 2 && r.Kids == 0 && a.choice.CanSubscribe() {
			return a.choice.OpenForm()
		}
		a.panes.Enter(layout.Stream)
	case layout.Stream:
		if a.stream.At == 0 {
			a.Tell("there is no event to open")
			break
		}
		a.toDetail()
	case layout.Subs, layout.Log, layout.React:
		return a.openRow()
	case layout.Detail:
		return a.detail.Open()
	}
	return nil
}

// openWord returns the hint of the key that opens, "" if it does nothing.
func (a *app) openWord() string {
	switch t := a.table(); {
	case a.panes.Focus == layout.Detail && !a.detail.Opens(),
		a.panes.Focus == layout.Stream && a.stream.At == 0,
		t != nil && a.panes.Focus != layout.Detail && !t.Chosen():
		return ""
	}
	return "open"
}

// back goes one step back. At the root it does nothing.
func (a *app) back() tea.Cmd {
	switch {
	case a.search.Running():
		a.search.Stop()
	case a.panes.Size == layout.Full:
		a.panes.Size = layout.Normal
	case a.panes.Focus == layout.Detail:
		a.panes.Enter(a.panes.Subject)
	case a.panes.Focus == layout.Tree && a.panes.W < layout.TreeWidth:
		a.panes.Enter(layout.Stream)
	case a.table() != nil && a.table().Text != "":
		a.table().Find("")
	case a.board() != nil:
		a.panes.Enter(layout.Stream)
	case a.stream.Selected.On:
		a.stream.Selected = stream.Selection{}
	case a.trace.Comparing != 0:
		a.trace.Comparing = 0
	case a.search.Text != "":
		a.search.Text = ""
	case a.stream.Paused:
		return a.freeze()
	case a.stream.Query.Text != "":
		a.filters.Clear()
	case a.tree.At != query.Node{}:
		a.tree.At = query.Node{}
		a.rescope()
	}
	return nil
}

// quitPause is how long the quit key does not quit after it went one step back: an operator who
// presses it several times to get back to the main screen does not mean to quit.
const quitPause = time.Second

func (a *app) backOrQuit() tea.Cmd {
	now := a.Clock()
	switch {
	case !a.atRoot():
		a.lastBack = now
		return a.back()
	case now.Sub(a.lastBack) < quitPause:
		a.lastBack = time.Time{}
		a.Tell(a.KeyOf("quit") + " again quits")
		return nil
	}
	return a.quit()
}

// atRoot reports whether the quit key has no step back left: the main screen is shown, and no pane
// hides the others.
func (a *app) atRoot() bool {
	return a.panes.Size != layout.Full && a.board() == nil && !(a.panes.Focus == layout.Detail && a.panes.Now.Stacked)
}

// quitWord returns the hint of the quit key.
func (a *app) quitWord() string {
	if a.atRoot() {
		return "quit"
	}
	return "back"
}

// quit quits, but asks first if servers would go on delivering to webhooks.
func (a *app) quit() tea.Cmd {
	if a.quitting {
		return tea.Quit
	}
	var hooks []event.SubID
	for i := range a.snap.Subs {
		if s := &a.snap.Subs[i]; s.Mode == event.ModeWebhook && evidence.StateOf(*s) != event.StateEnded && !slices.Contains(a.demo.Names, s.Key.Server) {
			hooks = append(hooks, s.ID)
		}
	}
	if len(hooks) == 0 || a.snap.Store.Temporary || a.demo.All { // demo servers end with the program
		return tea.Quit
	}
	a.quitting = true
	lines := []string{leasesGoOn(len(hooks)), "What is kept is taken up again by the next run."}
	if n := a.react.WaitingCount(); n > 0 {
		lines = append(lines, runsStay(n))
	}
	a.Show(&widget.Confirm{Screen: a,
		Head:  "Quit",
		Lines: lines,
		Choices: []widget.Choice{
			{Key: "k", Title: "keep them and quit", Run: func() tea.Cmd { return tea.Quit }},
			{Key: "u", Title: "unsubscribe and quit", Run: func() tea.Cmd { return a.endLeases(hooks) }},
		},
		Cancelled: func() { a.quitting = false },
	})
	return nil
}

func leasesGoOn(hooks int) string {
	if hooks == 1 {
		return "1 webhook subscription goes on at its server."
	}
	return cells.Count(hooks, "webhook subscription") + " go on at their servers."
}

func runsStay(runs int) string {
	if runs == 1 {
		return "1 run waits for you; it stays stored until it expires."
	}
	return cells.Count(runs, "run") + " wait for you; they stay stored until they expire."
}

func (a *app) endLeases(ids []event.SubID) tea.Cmd {
	a.Tell("ending " + cells.Count(len(ids), "lease") + " " + a.Glyphs.More)
	return a.Do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, endLeasesTimeout)
		defer cancel()
		for _, id := range ids {
			_ = a.o.API.Unsubscribe(ctx, id) // after a failure the lease expires
		}
		return quitMsg{}
	})
}

func (a *app) freeze() tea.Cmd {
	a.stream.Pause()
	return a.Read()
}

// follow shows the newest event and follows arrivals.
func (a *app) follow() tea.Cmd {
	if a.stream.FollowWord() == "" {
		a.Tell("the stream already follows the newest event")
	}
	return a.followNewest()
}

func (a *app) followNewest() tea.Cmd {
	a.stream.ToNewest()
	if (a.panes.Focus != layout.Detail || a.panes.Now.Stacked) && a.panes.Focus != layout.Tree {
		a.panes.Enter(layout.Stream)
	}
	return a.Read()
}

// quitMsg is sent when everything that has to be done before quitting is done.
type quitMsg struct{}

// scope limits the stream to a node and moves the focus there.
func (a *app) scope(n query.Node) {
	a.tree.Reveal(n)
	a.tree.Load(&a.snap)
	a.tree.At = n
	a.rescope()
	a.panes.Enter(layout.Stream)
}

// ShowQuery shows the records of a query, and chooses its node in the tree.
func (a *app) ShowQuery(q query.Query) {
	if a.stream.Query.Node != q.Node {
		a.tree.At = q.Node
	}
	a.stream.Show(q)
}
