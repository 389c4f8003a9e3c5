package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/columns"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// layoutActions change how much of the screen the panes have.
func (a *app) layoutActions() []action.Action {
	return action.Grouped("Panes",
		action.Action{ID: "zoom", Title: "give the pane the whole screen, or back", Also: "full screen maximize", Keys: []string{"z"}, Hint: "zoom", Run: action.Act(a.panes.Zoom)},
		action.Action{ID: "grow", Title: "give the pane more of the screen", Keys: []string{"+"}, Panes: offDetail, Run: action.Act(func() { a.panes.Grow(1) })},
		action.Action{ID: "shrink", Title: "give the pane less of the screen", Keys: []string{"_"}, Run: action.Act(func() { a.panes.Grow(-1) })},
		action.Action{ID: "split", Title: "detail right of the list, or below", Keys: []string{"W"}, Run: action.Act(a.turnSplit)},
		action.Action{ID: "narrower", Title: "make the pane smaller", Keys: []string{"<"}, Run: action.Act(func() { a.panes.Resize(-1) })},
		action.Action{ID: "wider", Title: "make the pane larger", Keys: []string{">"}, Run: action.Act(func() { a.panes.Resize(1) })},
		action.Action{ID: "tab.next", Title: "next tab", Keys: []string{"]"}, Panes: onTabs, When: a.hasTabs, Run: action.Act(func() { a.turnTab(1) })},
		action.Action{ID: "tab.previous", Title: "previous tab", Keys: []string{"["}, Hint: "tabs", Panes: onTabs, When: a.hasTabs, Run: action.Act(func() { a.turnTab(-1) })},
	)
}

// tall is how many rows the shown table has, 0 for none.
func (a *app) tall() int {
	if t := a.table(); t != nil {
		return t.Tall()
	}
	return 0
}

// arranged is where the panes stand now.
func (a *app) arranged() layout.Layout { return a.panes.Arranged(a.tall()) }

func (a *app) turnSplit() {
	if why := a.panes.TurnSplit(a.tall(), a.KeyOf("zoom")); why != "" {
		a.Tell(why)
	}
}

var onTabs = []layout.Pane{layout.Detail, layout.Subs, layout.Log, layout.React}

func (a *app) hasTabs() bool { return a.panes.Focus != layout.Detail || a.showsRecord() }

// tableActions work on the rows of the tables, and on a subscription wherever it
// is chosen.
func (a *app) tableActions() []action.Action {
	return slices.Concat(action.Grouped("Stream",
		action.Action{ID: "columns", Title: "choose the columns of the stream", Also: "severity fields", Keys: []string{"c"}, Panes: onMain, Run: func() tea.Cmd { return columns.Open(a.forColumns()) }},
	), action.Grouped("Tables",
		action.Action{ID: "sort.next", Title: "sort by the next column", Also: "order", Keys: []string{"l", "right"}, Hint: "sort", Panes: inSubs, When: a.canSort, Run: action.Act(func() { a.table().SortNext(1) })},
		action.Action{ID: "sort.previous", Title: "sort by the column before", Keys: []string{"h", "left"}, Panes: inSubs, When: a.canSort, Run: action.Act(func() { a.table().SortNext(-1) })},
		action.Action{ID: "sort.reverse", Title: "reverse order", Keys: []string{"o"}, Panes: inSubs, When: a.canSort, Run: action.Act(func() { a.table().TurnAround() })},
		action.Action{ID: "find", Title: "show only rows with these words", Keys: []string{"/"}, Hint: "filter", Panes: inTables, When: a.canFind, Run: action.Act(a.openFind)},
		action.Action{ID: "remote.end", Title: "end what a server holds and no subscription here wants", Keys: []string{"X"}, Hint: "end it", Panes: inSubs, Dangerous: true, When: a.onRemote, Run: action.Act(func() { board.AskEnd(a.table()) })},
		action.Action{ID: "remote.ask", Title: "ask the servers again what they hold", Keys: []string{"R"}, Hint: "ask again", Panes: inSubs, When: a.onRemotes, Run: action.Act(func() { board.AskAgain(a.table()) })},
	), action.Grouped("Subscriptions",
		action.Action{ID: "quiet", Title: "why is it quiet?", Needs: action.Subscription, Also: "health silence diagnose why quiet", Keys: []string{"i"}, Hint: "why quiet", When: a.onSub, Run: action.Act(func() {
			a.detail.OpenQuiet(a.selected().ID, func() tea.Cmd { return a.actions.Perform(a.actions.Find("sub.refresh")) })
		})},
		action.Action{ID: "server.reconnect", Title: "reconnect the server, and list its types again", Needs: action.Server, Also: "retry connect again", Keys: []string{"R"}, Panes: inTree, Dangerous: true, When: a.onServer, Run: func() tea.Cmd { return a.manage().Reconnect(a.tree.At.Server) }},
	))
}

// openLog shows the log. An error that waits to be seen leads to the program's
// own tab.
func (a *app) openLog() {
	if a.edges.Status.Trouble.Shown(a.Clock()) {
		a.boards.Log.Last()
		a.edges.Status.Trouble.See()
	}
	a.enter(layout.Log)
}

func (a *app) canFind() bool { t := a.table(); return t != nil && t.Finds() }

func (a *app) canSort() bool { t := a.table(); return t != nil && t.Sorts() && t.Chosen() }

// onRemotes tells whether the subscriptions that servers hold are shown, onRemote
// whether one of them is chosen.
func (a *app) onRemotes() bool { t := a.table(); return t != nil && board.Remotes(t) }

func (a *app) onRemote() bool { return a.onRemotes() && a.table().Chosen() }

// openFind asks for words of rows; the table follows what is typed.
func (a *app) openFind() {
	before := a.table().Text
	a.AskLine(&widget.Prompt{
		Label: "rows:", Says: "words of a row   enter keep  esc undo",
		Change: a.findRows,
		Gone:   func() { a.findRows(before) },
		Done:   func(text string) tea.Cmd { a.findRows(text); return nil },
	}, before)
}

// findRows shows only rows of the shown table that hold the text.
func (a *app) findRows(text string) {
	t := a.table()
	if t != nil {
		t.Find(text)
	}
}
