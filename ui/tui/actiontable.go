package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/layout"
)

// actions is the table. Every subject has its own function; the order is that of
// hints, and help puts together what has the same heading.
func actions() []action {
	return slices.Concat(
		undoActions(),
		subscribeActions(),
		signInActions(),
		streamActions(),
		subscriptionActions(),
		setupActions(),
		eventActions(),
		incidentActions(),
		copyActions(),
		exportActions(),
		readerActions(),
		markActions(),
		moveActions(),
		paneActions(),
		layoutActions(),
		tableActions(),
		lifeActions(),
		lookActions(),
		programActions(),
	)
}

var (
	inTree   = []layout.Pane{layout.Tree}
	inStream = []layout.Pane{layout.Stream}
	inTables = []layout.Pane{layout.Subs, layout.Log}
	inSubs   = []layout.Pane{layout.Subs}
	inFolds  = []layout.Pane{layout.Tree, layout.Detail}
	onEvent  = []layout.Pane{layout.Stream, layout.Detail}
	inDetail = []layout.Pane{layout.Detail}

	offDetail = []layout.Pane{layout.Tree, layout.Stream, layout.Subs, layout.Log}
	onMain    = []layout.Pane{layout.Tree, layout.Stream, layout.Detail}
)

func undoActions() []action {
	return grouped("Subscriptions",
		action{id: "undo", title: "undo what the status line names", keys: []string{"u"}, hint: "undo", dangerous: true, passing: true, when: (*app).canUndo, run: (*app).undoLast},
	)
}

func subscribeActions() []action {
	return grouped("Subscriptions",
		action{id: "subscribe", title: "subscribe to the chosen event type", needs: aType, keys: []string{"s"}, hint: "subscribe", dangerous: true, when: (*app).canSubscribe, run: (*app).openForm},
		action{id: "mark.type", title: "mark the type, to subscribe to several at once", needs: aType, keys: []string{"*"}, panes: inTree, dangerous: true, when: (*app).onType, run: act((*app).markType)},
	)
}

func subscriptionActions() []action {
	return grouped("Subscriptions",
		action{id: "pause", title: "pause or resume the subscription", needs: aSubscription, keys: []string{"P"}, hint: "pause", hintNow: (*app).pauseWord, dangerous: true, when: (*app).onSub, run: (*app).pauseSub},
		action{id: "edit", title: "edit the subscription", needs: aSubscription, keys: []string{"e"}, dangerous: true, when: (*app).editable, run: (*app).openEdit},
		action{id: "unsubscribe", title: "unsubscribe", needs: aSubscription, also: "end delete stop", keys: []string{"D"}, hint: "unsubscribe", dangerous: true, when: (*app).onSub, run: act((*app).askUnsubscribe)},
	)
}

func streamActions() []action {
	return grouped("Stream",
		action{id: "open", title: "open what is chosen", keys: []string{"enter"}, hint: "open", run: (*app).open},
		action{id: "filter", title: "filter: words, !not, a | b, server: sev: .path>5", also: "grep find severity level query", keys: []string{"/"}, hint: "filter", panes: onMain, run: (*app).openFilter},
		action{id: "filter.toggle", title: "turn the filter off, and on again", keys: []string{"x"}, panes: onMain, run: act((*app).toggleFilter)},
		action{id: "pause.view", title: "freeze the view, or let it go on", also: "freeze hold", keys: []string{"space"}, hint: "freeze", panes: onMain, run: (*app).freeze},
		action{id: "follow", title: "follow the newest event", also: "tail -f live newest end", keys: []string{"f"}, hint: "follow", panes: onMain, run: (*app).followNewest},
		action{id: "search", title: "search: highlights, and hides nothing", also: "find grep highlight", keys: []string{"\\", "ctrl+f"}, run: act((*app).openSearch)},
		action{id: "match.next", title: "next match, or next place noticed", keys: []string{"n"}, run: func(a *app) tea.Cmd { return a.next(1) }},
		action{id: "match.previous", title: "previous match, or place noticed", keys: []string{"N"}, run: func(a *app) tea.Cmd { return a.next(-1) }},
		action{id: "times", title: "times local, UTC, ago or since the row before", also: "utc local relative timestamps", keys: []string{"t"}, run: (*app).nextTimes},
		action{id: "select", title: "begin a range of rows, or end it", needs: anEvent, keys: []string{"v"}, panes: inStream, when: (*app).onRecord, run: act((*app).selectRange)},
		action{id: "select.all", title: "select everything shown", needs: anEvent, keys: []string{"a"}, panes: inStream, when: (*app).onRecord, run: act((*app).selectAll)},
		action{id: "problem.next", title: "next gap, change of state or refusal", keys: []string{"]"}, panes: inStream, run: func(a *app) tea.Cmd { return a.toMarker(1) }},
		action{id: "problem.previous", title: "previous gap, change of state or refusal", keys: []string{"["}, panes: inStream, run: func(a *app) tea.Cmd { return a.toMarker(-1) }},
	)
}

func eventActions() []action {
	return grouped("Event",
		action{id: "why", title: "why it is flagged, and hidden text in clear", needs: anEvent, also: "security hidden injection flags", keys: []string{"!"}, hint: "why", when: (*app).onPayload, run: act(func(a *app) { a.detail.OpenWhy() })},
		action{id: "reread", title: "read the subscription again from this record on", needs: anEvent, also: "replay again rewind", keys: []string{"r"}, panes: onEvent, dangerous: true, when: (*app).canReread, run: act((*app).askReread)},
		action{id: "view", title: "payload rendered, escaped, hex or raw JSON", needs: anEvent, keys: []string{"V"}, hint: "view", when: (*app).onPayload, run: act(func(a *app) { a.detail.NextView() })},
	)
}

func markActions() []action {
	return grouped("Marks",
		action{id: "mark", title: "mark the record, or take its mark away (bookmark)", needs: anEvent, also: "bookmark", keys: []string{"m enter"}, menu: "mark", hint: "mark it", panes: onEvent, when: (*app).onRecord, run: (*app).turnMark},
		action{id: "mark.note", title: "mark the record with a note", needs: anEvent, keys: []string{"m n"}, menu: "mark", hint: "mark with a note", panes: onEvent, when: (*app).onRecord, run: act((*app).noteChosen)},
		action{id: "mark.now", title: "insert a \"now\" line", also: "line separator marker", keys: []string{"m m"}, menu: "mark", hint: "\"now\" line", panes: onEvent, run: (*app).markNow},
		action{id: "marks", title: "list the marks", also: "bookmarks list", keys: []string{"'"}, run: act((*app).openMarks)},
	)
}

func moveActions() []action {
	return grouped("Move",
		action{id: "down", title: "down; in a detail on the whole screen the next event", keys: []string{"j"}, run: act(func(a *app) { a.move(1) })},
		action{id: "up", title: "up; in a detail on the whole screen the event before", keys: []string{"k"}, run: act(func(a *app) { a.move(-1) })},
		action{id: "row.down", title: "one row down", keys: []string{"down"}, run: act(func(a *app) { a.step(1) })},
		action{id: "row.up", title: "one row up", keys: []string{"up"}, run: act(func(a *app) { a.step(-1) })},
		action{id: "top", title: "to the first row", keys: []string{"g", "home"}, run: func(a *app) tea.Cmd { return a.moveEnd(false) }},
		action{id: "bottom", title: "to the newest row, and follow", keys: []string{"G", "end"}, run: func(a *app) tea.Cmd { return a.moveEnd(true) }},
		action{id: "half.down", title: "half a page down", keys: []string{"ctrl+d", "pgdown"}, run: act(func(a *app) { a.move(a.half()) })},
		action{id: "half.up", title: "half a page up", keys: []string{"ctrl+u", "pgup"}, run: act(func(a *app) { a.move(-a.half()) })},
		action{id: "pan.left", title: "see more of the left", keys: []string{"h", "left"}, panes: inStream, run: act(func(a *app) { a.panBy(-panStep) })},
		action{id: "pan.right", title: "see more of the right", keys: []string{"l", "right"}, panes: inStream, run: act(func(a *app) { a.panBy(panStep) })},
		action{id: "fold", title: "fold; in the tree also to the node above", keys: []string{"h", "left"}, panes: inFolds, run: act(func(a *app) { a.fold(false) })},
		action{id: "unfold", title: "unfold; in the tree also to the node below", keys: []string{"l", "right"}, panes: inFolds, run: act(func(a *app) { a.fold(true) })},
	)
}

func paneActions() []action {
	return grouped("Panes",
		action{id: "next", title: "next pane", keys: []string{"tab"}, run: act(func(a *app) { a.turn(1) })},
		action{id: "previous", title: "previous pane", keys: []string{"shift+tab"}, run: act(func(a *app) { a.turn(-1) })},
		action{id: "tree", title: "to the servers", keys: []string{"1"}, run: act(func(a *app) { a.enter(layout.Tree) })},
		action{id: "stream", title: "to the stream", keys: []string{"2"}, run: act(func(a *app) { a.enter(layout.Stream) })},
		action{id: "detail", title: "to the detail", keys: []string{"3"}, run: act((*app).toDetail)},
		action{id: "subscriptions", title: "to the subscriptions, gaps, leases and refusals", keys: []string{"4"}, run: act(func(a *app) { a.enter(layout.Subs) })},
		action{id: "log", title: "to the log: audit, wire, program", also: "audit wire errors", keys: []string{"5"}, hint: "log", run: act((*app).openLog)},
		action{id: "back", title: "one step back; never quits", keys: []string{"esc"}, run: (*app).back},
	)
}

func programActions() []action {
	return grouped("Program",
		action{id: "help", title: "what works here", also: "keys shortcuts", keys: []string{"?"}, hint: "help", run: act((*app).openHelp)},
		action{id: "palette", title: "commands: everything by its name", keys: []string{":", "ctrl+p"}, hint: "commands", run: act(func(a *app) { a.openPalette("") })},
		action{id: "settings.reload", title: "read the file of settings again", run: func(a *app) tea.Cmd { return a.reloadSettings(true) }},
		action{id: "settings.problems", title: "what is wrong in the file of settings", when: func(a *app) bool { return len(a.settingsProblems) > 0 }, run: act((*app).showSettingsProblems)},
		action{id: "redraw", title: "redraw", keys: []string{"ctrl+l"}, run: func(*app) tea.Cmd { return tea.ClearScreen }},
		action{id: "suspend", title: "suspend the program; fg comes back", keys: []string{"ctrl+z"}, run: func(*app) tea.Cmd { return tea.Suspend }},
		action{id: "quit", title: "back, or quit", also: "exit leave", keys: []string{"q"}, hint: "quit", run: (*app).backOrQuit},
		action{id: "quit.now", title: "quit from anywhere", keys: []string{"ctrl+c"}, run: (*app).quit},
	)
}
