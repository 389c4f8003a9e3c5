package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/layout"
)

// initActions makes the table of what can be done.
func (a *app) initActions(readOnly bool) {
	a.actions = action.New(action.Env{
		Tell: a.Tell, Fail: a.Fail, Pressed: a.audience.Pressed,
		Focus:      func() layout.Pane { return a.panes.Focus },
		EmptyTable: func() bool { return a.table() != nil && a.table().Rows() == 0 },
		Unseen:     a.unseen,
	})
	a.actions.ReadOnly = readOnly
	a.actions.Actions, a.actions.Commands = a.actionRows(), a.commandRows()
}

// KeyOf is the operator's key of an action, for texts that name it.
func (a *app) KeyOf(id string) string { return a.actions.KeyOf(id) }

// actionRows is the table of actions. Every subject has its own function; the order is that of
// hints, and help puts together what has the same heading.
func (a *app) actionRows() []action.Action {
	return slices.Concat(
		a.undoActions(),
		a.reactActions(),
		a.subscribeActions(),
		a.signInActions(),
		a.streamActions(),
		a.subscriptionActions(),
		a.setupActions(),
		a.eventActions(),
		a.incidentActions(),
		a.copyActions(),
		a.exportActions(),
		a.readerActions(),
		a.markActions(),
		a.moveActions(),
		a.paneActions(),
		a.layoutActions(),
		a.twoActions(),
		a.viewsActions(),
		a.tableActions(),
		a.lifeActions(),
		a.lookActions(),
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
	inDetail = []layout.Pane{layout.Detail}

	offDetail = []layout.Pane{layout.Tree, layout.Stream, layout.Subs, layout.Log, layout.React}
	onMain    = []layout.Pane{layout.Tree, layout.Stream, layout.Detail}
)

func (a *app) undoActions() []action.Action {
	return action.Grouped("Subscriptions",
		action.Action{ID: "undo", Title: "undo what the status line names", Keys: []string{"u"}, Hint: "undo", HintNow: a.edges.Status.UndoHint, Dangerous: true, Passing: true, When: a.edges.Status.Undoing, Run: a.edges.Status.UndoLast},
	)
}

func (a *app) subscribeActions() []action.Action {
	return action.Grouped("Subscriptions",
		action.Action{ID: "subscribe", Title: "subscribe to the chosen event type", Needs: action.Type, Keys: []string{"s"}, Hint: "subscribe", Dangerous: true, When: a.canSubscribe, Run: a.openForm},
		action.Action{ID: "mark.type", Title: "mark the type, to subscribe to several at once", Needs: action.Type, Keys: []string{"*"}, Panes: inTree, Dangerous: true, When: a.onType, Run: action.Act(a.markType)},
	)
}

func (a *app) subscriptionActions() []action.Action {
	return action.Grouped("Subscriptions",
		action.Action{ID: "pause", Title: "pause or resume the subscription", Needs: action.Subscription, Keys: []string{"P"}, Hint: "pause", HintNow: a.pauseWord, Dangerous: true, When: a.onSub, Run: func() tea.Cmd { return a.manage().TurnPause(a.selected()) }},
		action.Action{ID: "edit", Title: "edit the subscription", Needs: action.Subscription, Keys: []string{"e"}, Dangerous: true, When: a.editable, Run: a.openEdit},
		action.Action{ID: "unsubscribe", Title: "unsubscribe", Needs: action.Subscription, Also: "end delete stop", Keys: []string{"D"}, Hint: "unsubscribe", Dangerous: true, When: a.onSub, Run: action.Act(func() { a.manage().AskUnsubscribe(a.selected(), a.rowName()) })},
	)
}

func (a *app) streamActions() []action.Action {
	return action.Grouped("Stream",
		action.Action{ID: "open", Title: "open what is chosen", Keys: []string{"enter"}, Hint: "open", Run: a.open},
		action.Action{ID: "filter", Title: "filter: words, !not, a | b, server: sev: .path>5", Also: "grep find severity level query", Keys: []string{"/"}, Hint: "filter", Panes: onMain, Run: a.filters.Open},
		action.Action{ID: "filter.toggle", Title: "turn the filter off, and on again", Keys: []string{"x"}, Panes: onMain, Run: action.Act(a.filters.Toggle)},
		action.Action{ID: "pause.view", Title: "freeze the view, or let it go on", Also: "freeze hold", Keys: []string{"space"}, Hint: "freeze", Panes: onMain, Run: a.freeze},
		action.Action{ID: "follow", Title: "follow the newest event", Also: "tail -f live newest end", Keys: []string{"f"}, Hint: "follow", Panes: onMain, Run: a.followNewest},
		action.Action{ID: "search", Title: "search: highlights, and hides nothing", Also: "find grep highlight", Keys: []string{"\\", "ctrl+f"}, Run: action.Act(a.search.Open)},
		action.Action{ID: "match.next", Title: "next match, or next place noticed", Keys: []string{"n"}, Run: func() tea.Cmd { return a.next(1) }},
		action.Action{ID: "match.previous", Title: "previous match, or place noticed", Keys: []string{"N"}, Run: func() tea.Cmd { return a.next(-1) }},
		action.Action{ID: "times", Title: "times local, UTC, ago or since the row before", Also: "utc local relative timestamps", Keys: []string{"t"}, Run: a.nextTimes},
		action.Action{ID: "select", Title: "begin a range of rows, or end it", Needs: action.Event, Keys: []string{"v"}, Panes: inStream, When: a.onRecord, Run: action.Act(a.selectRange)},
		action.Action{ID: "select.all", Title: "select everything shown", Needs: action.Event, Keys: []string{"a"}, Panes: inStream, When: a.onRecord, Run: action.Act(a.selectAll)},
		action.Action{ID: "problem.next", Title: "next gap, change of state or refusal", Keys: []string{"]"}, Panes: inStream, Run: func() tea.Cmd { return a.search.Marker(1) }},
		action.Action{ID: "problem.previous", Title: "previous gap, change of state or refusal", Keys: []string{"["}, Panes: inStream, Run: func() tea.Cmd { return a.search.Marker(-1) }},
	)
}

func (a *app) eventActions() []action.Action {
	return action.Grouped("Event",
		action.Action{ID: "why", Title: "why it is flagged, and hidden text in clear", Needs: action.Event, Also: "security hidden injection flags", Keys: []string{"!"}, Hint: "flags", When: a.onPayload, Run: action.Act(func() { a.detail.OpenWhy() })},
		action.Action{ID: "reread", Title: "read the subscription again from this record on", Needs: action.Event, Also: "replay again rewind", Keys: []string{"r"}, Panes: onEvent, Dangerous: true, When: a.canReread, Run: action.Act(a.askReread)},
		action.Action{ID: "view", Title: "payload rendered, escaped, hex or raw JSON", Needs: action.Event, Keys: []string{"V"}, Hint: "view", When: a.onPayload, Run: action.Act(func() { a.detail.NextView() })},
	)
}

func (a *app) markActions() []action.Action {
	return action.Grouped("Marks",
		action.Action{ID: "mark", Title: "mark the record, or take its mark away (bookmark)", Needs: action.Event, Also: "bookmark", Keys: []string{"m enter"}, Menu: "mark", Hint: "mark it", Panes: onEvent, When: a.onRecord, Run: a.turnMark},
		action.Action{ID: "mark.note", Title: "mark the record with a note", Needs: action.Event, Keys: []string{"m n"}, Menu: "mark", Hint: "mark with a note", Panes: onEvent, When: a.onRecord, Run: action.Act(a.noteChosen)},
		action.Action{ID: "mark.now", Title: "insert a \"now\" line", Also: "line separator marker", Keys: []string{"m m"}, Menu: "mark", Hint: "\"now\" line", Panes: onEvent, Run: a.markNow},
		action.Action{ID: "marks", Title: "list the marks", Also: "bookmarks list", Keys: []string{"'"}, Run: action.Act(a.openMarks)},
	)
}

func (a *app) moveActions() []action.Action {
	return action.Grouped("Move",
		action.Action{ID: "down", Title: "down; in a detail on the whole screen the next event", Keys: []string{"j"}, Run: action.Act(func() { a.move(1) })},
		action.Action{ID: "up", Title: "up; in a detail on the whole screen the event before", Keys: []string{"k"}, Run: action.Act(func() { a.move(-1) })},
		action.Action{ID: "row.down", Title: "one row down", Keys: []string{"down"}, Run: action.Act(func() { a.step(1) })},
		action.Action{ID: "row.up", Title: "one row up", Keys: []string{"up"}, Run: action.Act(func() { a.step(-1) })},
		action.Action{ID: "top", Title: "to the first row", Keys: []string{"g", "home"}, Run: func() tea.Cmd { return a.moveEnd(false) }},
		action.Action{ID: "bottom", Title: "to the newest row, and follow", Keys: []string{"G", "end"}, Run: func() tea.Cmd { return a.moveEnd(true) }},
		action.Action{ID: "half.down", Title: "half a page down", Keys: []string{"ctrl+d", "pgdown"}, Run: action.Act(func() { a.move(a.half()) })},
		action.Action{ID: "half.up", Title: "half a page up", Keys: []string{"ctrl+u", "pgup"}, Run: action.Act(func() { a.move(-a.half()) })},
		action.Action{ID: "pan.left", Title: "see more of the left", Keys: []string{"h", "left"}, Panes: inStream, Run: action.Act(func() { a.panBy(-panStep) })},
		action.Action{ID: "pan.right", Title: "see more of the right", Keys: []string{"l", "right"}, Panes: inStream, Run: action.Act(func() { a.panBy(panStep) })},
		action.Action{ID: "fold", Title: "fold; in the tree also to the node above", Keys: []string{"h", "left"}, Panes: inFolds, Run: action.Act(func() { a.fold(false) })},
		action.Action{ID: "unfold", Title: "unfold; in the tree also to the node below", Keys: []string{"l", "right"}, Panes: inFolds, Run: action.Act(func() { a.fold(true) })},
	)
}

func (a *app) paneActions() []action.Action {
	return action.Grouped("Panes",
		action.Action{ID: "next", Title: "next pane", Keys: []string{"tab"}, Run: action.Act(func() { a.turn(1) })},
		action.Action{ID: "previous", Title: "previous pane", Keys: []string{"shift+tab"}, Run: action.Act(func() { a.turn(-1) })},
		action.Action{ID: "tree", Title: "to the servers", Keys: []string{"1"}, Run: action.Act(func() { a.enter(layout.Tree) })},
		action.Action{ID: "stream", Title: "to the stream, or to the other one of two", Keys: []string{"2"}, Run: action.Act(a.toStream)},
		action.Action{ID: "detail", Title: "to the detail", Keys: []string{"3"}, Run: action.Act(a.toDetail)},
		action.Action{ID: "subscriptions", Title: "to the subscriptions, gaps, leases and refusals", Keys: []string{"4"}, Run: action.Act(func() { a.enter(layout.Subs) })},
		action.Action{ID: "log", Title: "to the log: audit, wire, program", Also: "audit wire errors", Keys: []string{"5"}, Hint: "log", Run: action.Act(a.openLog)},
		action.Action{ID: "reactions", Title: "to the reactions: what waits for you, runs, rules", Also: "approve approvals rules runs", Keys: []string{"6"}, Run: action.Act(func() { a.enter(layout.React) })},
		action.Action{ID: "back", Title: "one step back; never quits", Keys: []string{"esc"}, Run: a.back},
	)
}

func (a *app) programActions() []action.Action {
	return action.Grouped("Program",
		action.Action{ID: "help", Title: "what works here", Also: "keys shortcuts", Keys: []string{"?"}, Hint: "help", Run: action.Act(a.openHelp)},
		action.Action{ID: "palette", Title: "commands: everything by its name", Keys: []string{":", "ctrl+p"}, Hint: "commands", Run: action.Act(func() { a.openPalette("") })},
		action.Action{ID: "settings.reload", Title: "read the file of settings again", Run: func() tea.Cmd { return a.settings.Reload(true) }},
		action.Action{ID: "settings.problems", Title: "what is wrong in the file of settings", When: func() bool { return len(a.settings.Problems) > 0 }, Run: action.Act(a.settings.ShowProblems)},
		action.Action{ID: "redraw", Title: "redraw", Keys: []string{"ctrl+l"}, Run: func() tea.Cmd { return tea.ClearScreen }},
		action.Action{ID: "suspend", Title: "suspend the program; fg comes back", Keys: []string{"ctrl+z"}, Run: func() tea.Cmd { return tea.Suspend }},
		action.Action{ID: "quit", Title: "back, or quit", Also: "exit leave", Keys: []string{"q"}, Hint: "quit", HintNow: a.quitWord, Run: a.backOrQuit},
		action.Action{ID: "quit.now", Title: "quit from anywhere", Keys: []string{"ctrl+c"}, Run: a.quit},
	)
}
