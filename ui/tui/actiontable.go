package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/persist"
	"eventdeck/ui/tui/stream"
)

// initActions makes the table of actions and commands.
func (a *app) initActions(readOnly bool) {
	a.actions = palette.Table{
		ReadOnly: readOnly, Screen: a, Pressed: a.audience.Pressed,
		Focus:      func() layout.Pane { return a.panes.Focus },
		EmptyTable: func() bool { return a.table() != nil && a.table().Rows() == 0 },
		Unseen: func() string {
			if a.arranged().Tiny {
				return layout.LeastSize
			}
			return ""
		},
	}
	a.actions.Actions, a.actions.Commands = a.actionRows(), a.commandRows()
}

// KeyOf returns the operator's key of an action; see [palette.Table.KeyOf].
func (a *app) KeyOf(id string) string { return a.actions.KeyOf(id) }

// actionRows returns the actions in the order of hints. Every subject has its own function; the help
// sorts them by group.
func (a *app) actionRows() []palette.Action {
	return slices.Concat(
		a.Status.Actions(),
		a.react.Actions(),
		a.choice.SubscribeActions(),
		a.choice.SignInActions(),
		a.streamActions(),
		a.choice.SubscriptionActions(),
		a.choice.ServerActions(),
		palette.Grouped("Servers",
			palette.Action{ID: "demo", Title: "start the demo servers", Keys: []string{"d"}, Hint: "demo", Dangerous: true, When: a.demo.CanStart, Run: a.beginDemo},
		),
		a.eventActions(),
		a.trace.Actions(),
		a.Outside.Actions(),
		a.marks.Actions(),
		a.moveActions(),
		a.paneActions(),
		a.layoutActions(),
		a.views.Actions(),
		a.tableActions(),
		a.choice.DeliveryActions(),
		a.displayActions(),
		a.programActions(),
	)
}

var (
	inTree   = []layout.Pane{layout.Tree}
	inStream = []layout.Pane{layout.Stream}
	inTables = []layout.Pane{layout.Subs, layout.Log, layout.React}
	inSubs   = []layout.Pane{layout.Subs}
	inFolds  = []layout.Pane{layout.Tree, layout.Detail}
	onEvent  = []layout.Pane{layout.Stream, layout.Detail}

	offDetail = []layout.Pane{layout.Tree, layout.Stream, layout.Subs, layout.Log, layout.React}
	onMain    = []layout.Pane{layout.Tree, layout.Stream, layout.Detail}
)

func (a *app) streamActions() []palette.Action {
	return palette.Grouped("Stream",
		palette.Action{ID: "open", Title: "open what is chosen", Keys: []string{"enter"}, Hint: "open", HintNow: a.openWord, Run: a.open},
		palette.Action{ID: "filter", Title: "filter: words, !not, a | b, server: sev: .path>5", Also: "grep find severity level query", Keys: []string{"/"}, Hint: "filter", Panes: onMain, Run: a.filters.Open},
		palette.Action{ID: "filter.toggle", Title: "turn the filter off, and on again", Keys: []string{"x"}, Panes: onMain, Run: palette.Act(a.filters.Toggle)},
		palette.Action{ID: "pause.view", Title: "freeze the view, or let it go on", Also: "freeze hold", Keys: []string{"space"}, Hint: "freeze", Panes: onMain, Run: a.freeze},
		palette.Action{ID: "follow", Title: "follow the newest event", Also: "tail -f live newest end", Keys: []string{"f"}, Hint: "follow", HintNow: a.stream.FollowWord, Panes: onMain, Run: a.follow},
		palette.Action{ID: "search", Title: "search: highlights, and hides nothing", Also: "find grep highlight", Keys: []string{"\\", "ctrl+f"}, Run: palette.Act(a.search.Open)},
		palette.Action{ID: "match.next", Title: "next match, or next place noticed", Keys: []string{"n"}, Run: func() tea.Cmd { return a.next(1) }},
		palette.Action{ID: "match.previous", Title: "previous match, or place noticed", Keys: []string{"N"}, Run: func() tea.Cmd { return a.next(-1) }},
		palette.Action{ID: "times", Title: "times local, UTC, ago or since the row before", Also: "utc local relative timestamps", Keys: []string{"t"}, Run: a.nextTimes},
		palette.Action{ID: "select", Title: "begin a range of rows, or end it", Needs: palette.Event, Keys: []string{"v"}, Panes: inStream, When: a.stream.OnRecord, Run: palette.Act(a.stream.SelectRange)},
		palette.Action{ID: "select.all", Title: "select everything shown", Needs: palette.Event, Keys: []string{"a"}, Panes: inStream, When: a.stream.OnRecord, Run: palette.Act(a.stream.SelectAll)},
		palette.Action{ID: "problem.next", Title: "next gap, change of state or refusal", Keys: []string{"]"}, Panes: inStream, Run: func() tea.Cmd { return a.search.Marker(1) }},
		palette.Action{ID: "problem.previous", Title: "previous gap, change of state or refusal", Keys: []string{"["}, Panes: inStream, Run: func() tea.Cmd { return a.search.Marker(-1) }},
	)
}

func (a *app) eventActions() []palette.Action {
	return palette.Grouped("Event",
		palette.Action{ID: "why", Title: "why it is flagged, and hidden text in clear", Needs: palette.Event, Also: "security hidden injection flags", Keys: []string{"!"}, Hint: "flags", When: a.detail.HasPayload, Run: palette.Act(func() { a.detail.OpenWhy() })},
		palette.Action{ID: "reread", Title: "read the subscription again from this record on", Needs: palette.Event, Also: "replay again rewind", Keys: []string{"r"}, Panes: onEvent, Dangerous: true, When: a.choice.CanReread, Run: palette.Act(a.choice.AskReread)},
		palette.Action{ID: "view", Title: "payload rendered, escaped, hex or raw JSON", Needs: palette.Event, Keys: []string{"V"}, Hint: "view", When: a.detail.HasPayload, Run: palette.Act(func() { a.detail.NextView() })},
	)
}

func (a *app) moveActions() []palette.Action {
	return palette.Grouped("Move",
		palette.Action{ID: "down", Title: "down; in a detail on the whole screen the next event", Keys: []string{"j"}, Run: palette.Act(func() { a.move(1) })},
		palette.Action{ID: "up", Title: "up; in a detail on the whole screen the event before", Keys: []string{"k"}, Run: palette.Act(func() { a.move(-1) })},
		palette.Action{ID: "row.down", Title: "one row down", Keys: []string{"down"}, Run: palette.Act(func() { a.step(1) })},
		palette.Action{ID: "row.up", Title: "one row up", Keys: []string{"up"}, Run: palette.Act(func() { a.step(-1) })},
		palette.Action{ID: "top", Title: "to the first row", Keys: []string{"g", "home"}, Run: func() tea.Cmd { return a.moveEnd(false) }},
		palette.Action{ID: "bottom", Title: "to the newest row, and follow", Keys: []string{"G", "end"}, Run: func() tea.Cmd { return a.moveEnd(true) }},
		palette.Action{ID: "half.down", Title: "half a page down", Keys: []string{"ctrl+d", "pgdown"}, Run: palette.Act(func() { a.move(a.half()) })},
		palette.Action{ID: "half.up", Title: "half a page up", Keys: []string{"ctrl+u", "pgup"}, Run: palette.Act(func() { a.move(-a.half()) })},
		palette.Action{ID: "pan.left", Title: "see more of the left", Keys: []string{"h", "left"}, Panes: inStream, Run: palette.Act(func() { a.stream.PanBy(-stream.PanStep) })},
		palette.Action{ID: "pan.right", Title: "see more of the right", Keys: []string{"l", "right"}, Panes: inStream, Run: palette.Act(func() { a.stream.PanBy(stream.PanStep) })},
		palette.Action{ID: "fold", Title: "fold; in the tree also to the node above", Keys: []string{"h", "left"}, Panes: inFolds, Run: palette.Act(func() { a.fold(false) })},
		palette.Action{ID: "unfold", Title: "unfold; in the tree also to the node below", Keys: []string{"l", "right"}, Panes: inFolds, Run: palette.Act(func() { a.fold(true) })},
	)
}

func (a *app) paneActions() []palette.Action {
	return palette.Grouped("Panes",
		palette.Action{ID: "next", Title: "next pane", Keys: []string{"tab"}, Run: palette.Act(func() { a.turn(1) })},
		palette.Action{ID: "previous", Title: "previous pane", Keys: []string{"shift+tab"}, Run: palette.Act(func() { a.turn(-1) })},
		palette.Action{ID: "tree", Title: "to the servers", Keys: []string{"1"}, Run: palette.Act(func() { a.panes.Enter(layout.Tree) })},
		palette.Action{ID: "stream", Title: "to the stream, or to the other one of two", Keys: []string{"2"}, Run: palette.Act(a.toStream)},
		palette.Action{ID: "detail", Title: "to the detail", Keys: []string{"3"}, Run: palette.Act(a.toDetail)},
		palette.Action{ID: "subscriptions", Title: "to the subscriptions, gaps, leases and refusals", Keys: []string{"4"}, Run: palette.Act(func() { a.panes.Enter(layout.Subs) })},
		palette.Action{ID: "log", Title: "to the log: audit, wire, program", Also: "audit wire errors", Keys: []string{"5"}, Hint: "log", HintNow: a.logWord, Run: palette.Act(a.openLog)},
		palette.Action{ID: "reactions", Title: "to the reactions: what waits for you, runs, rules", Also: "approve approvals rules runs", Keys: []string{"6"}, Run: palette.Act(a.react.Enter)},
		palette.Action{ID: "back", Title: "one step back; never quits", Keys: []string{"esc"}, Run: a.back},
	)
}

func (a *app) programActions() []palette.Action {
	return palette.Grouped("Program",
		palette.Action{ID: "help", Title: "what works here", Also: "keys shortcuts", Keys: []string{"?"}, Hint: "help", Run: palette.Act(func() { a.actions.OpenHelp(&a.Env) })},
		palette.Action{ID: "palette", Title: "commands: everything by its name", Keys: []string{":", "ctrl+p"}, Hint: "commands", Run: func() tea.Cmd { return a.openPalette("") }},
		palette.Action{ID: "settings.reload", Title: "read the file of settings again", Run: func() tea.Cmd { return a.settings.Reload(true) }},
		palette.Action{ID: "settings.problems", Title: "what is wrong in the file of settings", When: func() bool { return len(a.settings.Problems) > 0 }, Run: palette.Act(a.settings.ShowProblems)},
		palette.Action{ID: "redraw", Title: "redraw", Keys: []string{"ctrl+l"}, Run: func() tea.Cmd { return tea.ClearScreen }},
		palette.Action{ID: "suspend", Title: "suspend the program; fg comes back", Keys: []string{"ctrl+z"}, Run: func() tea.Cmd { return tea.Suspend }},
		palette.Action{ID: "quit", Title: "back, or quit", Also: "exit leave", Keys: []string{"q"}, Hint: "quit", HintNow: a.quitWord, Run: a.backOrQuit},
		palette.Action{ID: "quit.now", Title: "quit from anywhere", Keys: []string{"ctrl+c"}, Run: a.quit},
	)
}

// layoutActions change the size and position of panes.
func (a *app) layoutActions() []palette.Action {
	return palette.Grouped("Panes",
		palette.Action{ID: "zoom", Title: "give the pane the whole screen, or back", Also: "full screen maximize", Keys: []string{"z"}, Hint: "zoom", Run: palette.Act(a.panes.Zoom)},
		palette.Action{ID: "grow", Title: "give the pane more of the screen", Keys: []string{"+"}, Panes: offDetail, Run: palette.Act(func() { a.panes.Grow(1) })},
		palette.Action{ID: "shrink", Title: "give the pane less of the screen", Keys: []string{"_"}, Run: palette.Act(func() { a.panes.Grow(-1) })},
		palette.Action{ID: "split", Title: "detail right of the list, or below", Keys: []string{"W"}, Run: palette.Act(func() {
			if why := a.panes.TurnSplit(a.table().WantedRows(), a.KeyOf("zoom")); why != "" {
				a.Tell(why)
			}
		})},
		palette.Action{ID: "narrower", Title: "make the pane smaller", Keys: []string{"<"}, Run: palette.Act(func() { a.panes.Resize(-1) })},
		palette.Action{ID: "wider", Title: "make the pane larger", Keys: []string{">"}, Run: palette.Act(func() { a.panes.Resize(1) })},
		palette.Action{ID: "tab.next", Title: "next tab", Keys: []string{"]"}, Panes: onTabs, When: a.hasTabs, Run: palette.Act(func() { a.turnTab(1) })},
		palette.Action{ID: "tab.previous", Title: "previous tab", Keys: []string{"["}, Hint: "tabs", Twin: "tab.next", Panes: onTabs, When: a.hasTabs, Run: palette.Act(func() { a.turnTab(-1) })},
		palette.Action{ID: "streams.beside", Title: "two streams side by side, or the other one away", Also: "split vertical second stream tmux pane compare", Keys: []string{"%"}, Panes: onMain, Run: palette.Act(func() { a.toggleStreams(layout.Beside) })},
		palette.Action{ID: "streams.under", Title: "two streams, one above the other, or the other one away", Also: "split horizontal second stream tmux pane below", Keys: []string{"\""}, Panes: onMain, Run: palette.Act(func() { a.toggleStreams(layout.Under) })},
		palette.Action{ID: "streams.align", Title: "have the other stream show the same moment", Also: "second stream sync time align", Keys: []string{"@"}, Panes: onEvent, When: func() bool { return a.stream.Two && a.stream.OnRecord() }, Run: palette.Act(func() { a.stream.Other.Seek(a.stream.At) })},
	)
}

// tableActions are about rows of tables, and about subscriptions in any pane.
func (a *app) tableActions() []palette.Action {
	return slices.Concat(palette.Grouped("Stream",
		palette.Action{ID: "columns", Title: "choose the columns of the stream", Also: "severity fields", Keys: []string{"c"}, Panes: onMain, Run: func() tea.Cmd { return filterbar.OpenColumns(a.filterbarEnv()) }},
	), palette.Grouped("Tables",
		palette.Action{ID: "sort.next", Title: "sort by the next column", Also: "order", Keys: []string{"l", "right"}, Hint: "sort", Panes: inSubs, When: func() bool { return a.table().Sorts() && a.table().Chosen() }, Run: palette.Act(func() { a.table().SortNext(1) })},
		palette.Action{ID: "sort.previous", Title: "sort by the column before", Keys: []string{"h", "left"}, Panes: inSubs, When: func() bool { return a.table().Sorts() && a.table().Chosen() }, Run: palette.Act(func() { a.table().SortNext(-1) })},
		palette.Action{ID: "sort.reverse", Title: "reverse order", Keys: []string{"o"}, Panes: inSubs, When: func() bool { return a.table().Sorts() && a.table().Chosen() }, Run: palette.Act(func() { a.table().Reverse() })},
		palette.Action{ID: "subscriptions.all", Title: "rows of all servers, or of the chosen place alone", Also: "scope every whole", Keys: []string{"0"}, Hint: "all", HintNow: a.scopeWord, Panes: inSubs, When: a.canScope, Run: palette.Act(func() { a.boards.All = !a.boards.All })},
		palette.Action{ID: "find", Title: "show only rows with these words", Keys: []string{"/"}, Hint: "filter", Panes: inTables, When: func() bool { return a.table().Finds() }, Run: palette.Act(func() { a.table().AskWords(a) })},
		palette.Action{ID: "remote.end", Title: "end what a server holds and no subscription here wants", Keys: []string{"X"}, Hint: "end it", Panes: inSubs, Dangerous: true, When: func() bool { return board.Remotes(a.table()) && a.table().Chosen() }, Run: palette.Act(func() { board.AskEnd(a.table()) })},
		palette.Action{ID: "remote.ask", Title: "ask the servers again what they hold", Keys: []string{"R"}, Hint: "ask again", Panes: inSubs, When: func() bool { return board.Remotes(a.table()) }, Run: palette.Act(func() { board.AskAgain(a.table()) })},
	), palette.Grouped("Subscriptions",
		palette.Action{ID: "quiet", Title: "why is it quiet?", Needs: palette.Subscription, Instead: a.choice.EndedRow, Also: "health silence diagnose why quiet", Keys: []string{"i"}, Hint: "why quiet", When: a.choice.OnSub, Run: palette.Act(func() {
			a.detail.OpenQuiet(a.choice.Subscription().ID, func() tea.Cmd { return a.actions.Perform(a.actions.Find("sub.refresh")) })
		})},
		palette.Action{ID: "server.reconnect", Title: "reconnect the server, and list its types again", Needs: palette.Server, Also: "retry connect again", Keys: []string{"R"}, Panes: inTree, Dangerous: true, When: a.choice.OnServer, Run: func() tea.Cmd { return a.choice.Manage.Reconnect(a.tree.At.Server) }},
	))
}

// displayActions are about the look of the screen and its terminal.
func (a *app) displayActions() []palette.Action {
	return palette.Grouped("Screen",
		palette.Action{ID: "theme", Title: "choose a theme", Also: "colours colors dark light", Keys: []string{"T"}, Run: palette.Act(func() { a.theming.Open() })},
		palette.Action{ID: "theme.reload", Title: "read your themes again", When: func() bool { return a.theming.HasDir() }, Run: func() tea.Cmd { return a.theming.Reload(true) }},
		palette.Action{ID: "glyphs", Title: "ASCII or Unicode glyphs", Run: a.switchGlyphs},
		palette.Action{ID: "stats", Title: "rates, counters and lag", Also: "metrics rates graph", Keys: []string{"S"}, Run: func() tea.Cmd { return a.rates.Open() }},
		palette.Action{ID: "timeline", Title: "timeline: histogram of events over time", Also: "histogram graph chart", Keys: []string{"H"}, Run: func() tea.Cmd { return a.openTimeline() }},
		palette.Action{ID: "mouse", Title: "mouse on, or off so that it selects text", Keys: []string{"f2"}, Run: a.switchMouse},
		palette.Action{ID: "notify", Title: "notifications while you look elsewhere", Also: "bell alert desktop", Keys: []string{"b"}, Run: func() tea.Cmd {
			return a.notify.Edit(a, func() tea.Cmd { return a.persist.SetJSON(persist.Notify, a.notify.Settings) })
		}},
	)
}
