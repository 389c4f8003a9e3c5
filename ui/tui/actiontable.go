package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/filterbar"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	reactions "eventdeck/ui/tui/react"
	"eventdeck/ui/tui/trace"
)

// initActions makes the table of actions and commands.
func (a *app) initActions(readOnly bool) {
	a.actions = palette.Table{
		ReadOnly: readOnly, Screen: a, Pressed: a.audience.Pressed,
		Focus:      func() layout.Pane { return a.panes.Focus },
		EmptyTable: func() bool { return a.table() != nil && a.table().Rows() == 0 },
		Unseen:     a.unseen,
	}
	a.actions.Actions, a.actions.Commands = a.actionRows(), a.commandRows()
}

// KeyOf returns the operator's key of an action; see [palette.Table.KeyOf].
func (a *app) KeyOf(id string) string { return a.actions.KeyOf(id) }

// actionRows returns the actions in the order of hints. Every subject has its own function; the help
// sorts them by group.
func (a *app) actionRows() []palette.Action {
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
		a.twoStreamActions(),
		a.viewsActions(),
		a.tableActions(),
		a.deliveryActions(),
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
	inDetail = []layout.Pane{layout.Detail}

	offDetail = []layout.Pane{layout.Tree, layout.Stream, layout.Subs, layout.Log, layout.React}
	onMain    = []layout.Pane{layout.Tree, layout.Stream, layout.Detail}
)

func (a *app) undoActions() []palette.Action {
	return palette.Grouped("Subscriptions",
		palette.Action{ID: "undo", Title: "undo what the status line names", Keys: []string{"u"}, Hint: "undo", HintNow: a.edges.Status.UndoHint, Dangerous: true, Passing: true, When: a.edges.Status.Undoing, Run: a.edges.Status.UndoLast},
	)
}

func (a *app) subscribeActions() []palette.Action {
	return palette.Grouped("Subscriptions",
		palette.Action{ID: "subscribe", Title: "subscribe to the chosen event type", Needs: palette.Type, Keys: []string{"s"}, Hint: "subscribe", Dangerous: true, When: a.canSubscribe, Run: a.openForm},
		palette.Action{ID: "mark.type", Title: "mark the type, to subscribe to several at once", Needs: palette.Type, Keys: []string{"*"}, Panes: inTree, Dangerous: true, When: a.onType, Run: palette.Act(a.markType)},
	)
}

func (a *app) subscriptionActions() []palette.Action {
	return palette.Grouped("Subscriptions",
		palette.Action{ID: "pause", Title: "pause or resume the subscription", Needs: palette.Subscription, Instead: a.endedRow, Keys: []string{"P"}, Hint: "pause", HintNow: a.pauseWord, Dangerous: true, When: a.onSub, Run: a.atOnce("pause", func(v *host.SubscriptionView) tea.Cmd { return a.manage().TogglePause(v) })},
		palette.Action{ID: "edit", Title: "edit the subscription", Needs: palette.Subscription, Instead: a.endedRow, Keys: []string{"e"}, Dangerous: true, When: a.editable, Run: a.openEdit},
		palette.Action{ID: "unsubscribe", Title: "unsubscribe", Needs: palette.Subscription, Instead: a.endedRow, Also: "end delete stop", Keys: []string{"D"}, Hint: "unsubscribe", Dangerous: true, When: a.onSub, Run: palette.Act(func() { a.manage().AskUnsubscribe(a.selected(), a.rowName()) })},
	)
}

func (a *app) streamActions() []palette.Action {
	return palette.Grouped("Stream",
		palette.Action{ID: "open", Title: "open what is chosen", Keys: []string{"enter"}, Hint: "open", HintNow: a.openWord, Run: a.open},
		palette.Action{ID: "filter", Title: "filter: words, !not, a | b, server: sev: .path>5", Also: "grep find severity level query", Keys: []string{"/"}, Hint: "filter", Panes: onMain, Run: a.filters.Open},
		palette.Action{ID: "filter.toggle", Title: "turn the filter off, and on again", Keys: []string{"x"}, Panes: onMain, Run: palette.Act(a.filters.Toggle)},
		palette.Action{ID: "pause.view", Title: "freeze the view, or let it go on", Also: "freeze hold", Keys: []string{"space"}, Hint: "freeze", Panes: onMain, Run: a.freeze},
		palette.Action{ID: "follow", Title: "follow the newest event", Also: "tail -f live newest end", Keys: []string{"f"}, Hint: "follow", HintNow: a.followWord, Panes: onMain, Run: a.follow},
		palette.Action{ID: "search", Title: "search: highlights, and hides nothing", Also: "find grep highlight", Keys: []string{"\\", "ctrl+f"}, Run: palette.Act(a.search.Open)},
		palette.Action{ID: "match.next", Title: "next match, or next place noticed", Keys: []string{"n"}, Run: func() tea.Cmd { return a.next(1) }},
		palette.Action{ID: "match.previous", Title: "previous match, or place noticed", Keys: []string{"N"}, Run: func() tea.Cmd { return a.next(-1) }},
		palette.Action{ID: "times", Title: "times local, UTC, ago or since the row before", Also: "utc local relative timestamps", Keys: []string{"t"}, Run: a.nextTimes},
		palette.Action{ID: "select", Title: "begin a range of rows, or end it", Needs: palette.Event, Keys: []string{"v"}, Panes: inStream, When: a.onRecord, Run: palette.Act(a.selectRange)},
		palette.Action{ID: "select.all", Title: "select everything shown", Needs: palette.Event, Keys: []string{"a"}, Panes: inStream, When: a.onRecord, Run: palette.Act(a.selectAll)},
		palette.Action{ID: "problem.next", Title: "next gap, change of state or refusal", Keys: []string{"]"}, Panes: inStream, Run: func() tea.Cmd { return a.search.Marker(1) }},
		palette.Action{ID: "problem.previous", Title: "previous gap, change of state or refusal", Keys: []string{"["}, Panes: inStream, Run: func() tea.Cmd { return a.search.Marker(-1) }},
	)
}

func (a *app) eventActions() []palette.Action {
	return palette.Grouped("Event",
		palette.Action{ID: "why", Title: "why it is flagged, and hidden text in clear", Needs: palette.Event, Also: "security hidden injection flags", Keys: []string{"!"}, Hint: "flags", When: a.onPayload, Run: palette.Act(func() { a.detail.OpenWhy() })},
		palette.Action{ID: "reread", Title: "read the subscription again from this record on", Needs: palette.Event, Also: "replay again rewind", Keys: []string{"r"}, Panes: onEvent, Dangerous: true, When: a.canReread, Run: palette.Act(a.askReread)},
		palette.Action{ID: "view", Title: "payload rendered, escaped, hex or raw JSON", Needs: palette.Event, Keys: []string{"V"}, Hint: "view", When: a.onPayload, Run: palette.Act(func() { a.detail.NextView() })},
	)
}

func (a *app) markActions() []palette.Action {
	return palette.Grouped("Marks",
		palette.Action{ID: "mark", Title: "mark the record, or take its mark away (bookmark)", Needs: palette.Event, Also: "bookmark acknowledge seen known", Keys: []string{"m enter"}, Menu: "mark", Hint: "mark it", Panes: onEvent, When: a.onRecord, Run: a.toggleMark},
		palette.Action{ID: "mark.note", Title: "mark the record with a note", Needs: palette.Event, Keys: []string{"m n"}, Menu: "mark", Hint: "mark with a note", Panes: onEvent, When: a.onRecord, Run: palette.Act(a.askNote)},
		palette.Action{ID: "mark.now", Title: "insert a \"now\" line", Also: "line separator marker", Keys: []string{"m m"}, Menu: "mark", Hint: "\"now\" line", Panes: onEvent, Run: a.markNow},
		palette.Action{ID: "marks", Title: "list the marks", Also: "bookmarks list", Keys: []string{"'"}, Run: palette.Act(a.openMarks)},
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
		palette.Action{ID: "pan.left", Title: "see more of the left", Keys: []string{"h", "left"}, Panes: inStream, Run: palette.Act(func() { a.panBy(-panStep) })},
		palette.Action{ID: "pan.right", Title: "see more of the right", Keys: []string{"l", "right"}, Panes: inStream, Run: palette.Act(func() { a.panBy(panStep) })},
		palette.Action{ID: "fold", Title: "fold; in the tree also to the node above", Keys: []string{"h", "left"}, Panes: inFolds, Run: palette.Act(func() { a.fold(false) })},
		palette.Action{ID: "unfold", Title: "unfold; in the tree also to the node below", Keys: []string{"l", "right"}, Panes: inFolds, Run: palette.Act(func() { a.fold(true) })},
	)
}

func (a *app) paneActions() []palette.Action {
	return palette.Grouped("Panes",
		palette.Action{ID: "next", Title: "next pane", Keys: []string{"tab"}, Run: palette.Act(func() { a.turn(1) })},
		palette.Action{ID: "previous", Title: "previous pane", Keys: []string{"shift+tab"}, Run: palette.Act(func() { a.turn(-1) })},
		palette.Action{ID: "tree", Title: "to the servers", Keys: []string{"1"}, Run: palette.Act(func() { a.enter(layout.Tree) })},
		palette.Action{ID: "stream", Title: "to the stream, or to the other one of two", Keys: []string{"2"}, Run: palette.Act(a.toStream)},
		palette.Action{ID: "detail", Title: "to the detail", Keys: []string{"3"}, Run: palette.Act(a.toDetail)},
		palette.Action{ID: "subscriptions", Title: "to the subscriptions, gaps, leases and refusals", Keys: []string{"4"}, Run: palette.Act(func() { a.enter(layout.Subs) })},
		palette.Action{ID: "log", Title: "to the log: audit, wire, program", Also: "audit wire errors", Keys: []string{"5"}, Hint: "log", HintNow: a.logWord, Run: palette.Act(a.openLog)},
		palette.Action{ID: "reactions", Title: "to the reactions: what waits for you, runs, rules", Also: "approve approvals rules runs", Keys: []string{"6"}, Run: palette.Act(a.toReactions)},
		palette.Action{ID: "back", Title: "one step back; never quits", Keys: []string{"esc"}, Run: a.back},
	)
}

func (a *app) programActions() []palette.Action {
	return palette.Grouped("Program",
		palette.Action{ID: "help", Title: "what works here", Also: "keys shortcuts", Keys: []string{"?"}, Hint: "help", Run: palette.Act(a.openHelp)},
		palette.Action{ID: "palette", Title: "commands: everything by its name", Keys: []string{":", "ctrl+p"}, Hint: "commands", Run: func() tea.Cmd { return a.openPalette("") }},
		palette.Action{ID: "settings.reload", Title: "read the file of settings again", Run: func() tea.Cmd { return a.settings.Reload(true) }},
		palette.Action{ID: "settings.problems", Title: "what is wrong in the file of settings", When: func() bool { return len(a.settings.Problems) > 0 }, Run: palette.Act(a.settings.ShowProblems)},
		palette.Action{ID: "redraw", Title: "redraw", Keys: []string{"ctrl+l"}, Run: func() tea.Cmd { return tea.ClearScreen }},
		palette.Action{ID: "suspend", Title: "suspend the program; fg comes back", Keys: []string{"ctrl+z"}, Run: func() tea.Cmd { return tea.Suspend }},
		palette.Action{ID: "quit", Title: "back, or quit", Also: "exit leave", Keys: []string{"q"}, Hint: "quit", HintNow: a.quitWord, Run: a.backOrQuit},
		palette.Action{ID: "quit.now", Title: "quit from anywhere", Keys: []string{"ctrl+c"}, Run: a.quit},
	)
}

// reactActions are about reactions. Approving and arming work by their keys only, not from a list or
// by a typed name.
func (a *app) reactActions() []palette.Action {
	r := func(when func() bool) func() bool { return func() bool { return a.onReactions() && when() } }
	decides := r(func() bool { return a.react.OnWaiting() || a.react.OnRule() })
	return palette.Grouped("Reactions",
		palette.Action{ID: reactions.ApproveAction, Title: "approve what is shown, once; a rule: arm it", Keys: []string{"ctrl+y"}, Hint: "approve", HintNow: a.approveWord, Panes: onReact, Dangerous: true, KeyOnly: true, When: decides, Run: a.react.Approve},
		palette.Action{ID: "react.deny", Title: "deny with a reason; a rule: disarm it", Keys: []string{"ctrl+x"}, Hint: "deny", HintNow: a.denyWord, Panes: onReact, Dangerous: true, When: decides, Run: a.react.Deny},
		palette.Action{ID: "react.grant", Title: "approve what is shown, and the same again, for some hours", Keys: []string{"ctrl+g"}, Hint: "grant", Panes: onReact, Dangerous: true, KeyOnly: true, When: r(a.react.Grantable), Run: a.react.Grant},
		palette.Action{ID: "react.view", Title: "read what is chosen in full, on the whole screen", Also: "view request block result", Keys: []string{"v"}, Hint: "view", Panes: onReact, When: r(a.react.OnRow), Run: a.viewReaction},
		palette.Action{ID: "react.again", Title: "act on the events of the run again; it asks first", Also: "retry repeat rerun", Keys: []string{"ctrl+r"}, Hint: "again", Panes: onReact, Dangerous: true, When: r(a.react.OnEnded), Run: a.react.Retry},
		palette.Action{ID: "react.settle", Title: "say what became of a parked run", Also: "unknown outcome resolve", Keys: []string{"ctrl+t"}, Hint: "settle", Panes: onReact, Dangerous: true, When: r(a.react.OnParked), Run: a.react.Settle},
		palette.Action{ID: "react.silence", Title: "silence the rule for a time", Also: "mute snooze", Keys: []string{"ctrl+s"}, Hint: "silence", Panes: onReact, Dangerous: true, When: r(a.react.OnRule), Run: a.react.Silence},
		palette.Action{ID: "react.new", Title: "react to events like this: make a rule", Needs: palette.Event, Instead: a.otherRow, Also: "automate rule trigger", Keys: []string{"J"}, Panes: onEvent, Dangerous: true, When: func() bool { return a.react.CanWriteRule() && a.onEvent() }, Run: a.makeRule},
		palette.Action{ID: "react.why", Title: "why did rules fire for this event, or not?", Needs: palette.Event, Also: "explain reaction rule", Keys: []string{"Q"}, Panes: onEvent, When: func() bool { return a.react.On() && a.onRecord() }, Run: func() tea.Cmd { return a.react.Explain(a.stream.At, "") }},
		palette.Action{ID: "react.ask", Title: "ask a model about the event", Needs: palette.Event, Instead: a.otherRow, Also: "question explain llm", Panes: onEvent, Dangerous: true, When: func() bool { return a.react.CanAsk() && a.onRecord() && a.onEvent() }, Run: a.askModel},
		palette.Action{ID: "react.stop", Title: "stop all reactions at once; again within 5 s ends what runs", Also: "kill switch emergency", Keys: []string{"Z"}, Panes: anywhere, Dangerous: true, When: a.react.On, Run: a.react.Stop},
		palette.Action{ID: "react.go", Title: "let reactions go on", Also: "resume start", Dangerous: true, When: func() bool { return a.react.On() && a.react.Halted() }, Run: a.react.AskResume},
	)
}

// signInActions are about signing in to servers.
func (a *app) signInActions() []palette.Action {
	return palette.Grouped("Servers",
		palette.Action{ID: "sign-in", Title: "sign in to the server, in the browser", Keys: []string{"L"}, Hint: "sign in", Panes: inTree, Dangerous: true, When: a.wantsSignIn, Run: func() tea.Cmd { return form.OpenSignIn(a.formEnv(), a.tree.At.Server) }},
	)
}

// setupActions are about servers, not about subscriptions.
func (a *app) setupActions() []palette.Action {
	return palette.Grouped("Servers",
		palette.Action{ID: "server.add", Title: "add a server", Keys: []string{"A"}, Dangerous: true, Lacks: a.notConfigured(), When: a.canConfigure, Run: palette.Act(func() { form.OpenAddServer(a.formEnv()) })},
		palette.Action{ID: "server.import", Title: "import servers from other MCP clients", Keys: []string{"I"}, Dangerous: true, Lacks: a.notConfigured(), When: a.canConfigure, Run: func() tea.Cmd { return form.OpenImport(a.formEnv()) }},
		palette.Action{ID: "server.remove", Title: "remove the server, and end its subscriptions", Needs: palette.Server, Keys: []string{"X"}, Panes: inTree, Dangerous: true, When: a.onServerRow, Run: func() tea.Cmd { return a.manage().AskRemove(a.tree.At.Server) }},
		palette.Action{ID: "demo", Title: "start the demo servers", Keys: []string{"d"}, Hint: "demo", Dangerous: true, When: a.canDemo, Run: a.beginDemo},
	)
}

// incidentActions follow a value over servers and types, and report or pipe what was found.
func (a *app) incidentActions() []palette.Action {
	return palette.Grouped("Incident",
		palette.Action{ID: "value.filter", Title: "follow the value: show only what has it", Needs: palette.Event, Also: "filter by this value incident customer service host id correlate =", Keys: []string{"="}, Hint: "only this", Panes: onEvent, When: a.onRecord, Run: func() tea.Cmd { return a.trace.Follow(trace.Only) }},
		palette.Action{ID: "value.exclude", Title: "leave out what has the value", Needs: palette.Event, Also: "filter out exclude hide not -", Keys: []string{"-"}, Panes: inDetail, When: a.onRecord, Run: func() tea.Cmd { return a.trace.Follow(trace.Not) }},
		palette.Action{ID: "type.hide", Title: "hide or mute this type: add !type: to the filter", Needs: palette.Type, Also: "ignore exclude filter out noise", When: func() bool { _, ok := a.typeToHide(); return ok }, Run: palette.Act(a.hideType)},
		palette.Action{ID: "value.add", Title: "add the value to the filter", Needs: palette.Event, Also: "narrow and filter +", Keys: []string{"+"}, Panes: inDetail, When: a.onRecord, Run: func() tea.Cmd { return a.trace.Follow(trace.Too) }},
		palette.Action{ID: "value.pin", Title: "pin the value: it stands out everywhere", Needs: palette.Event, Also: "colour color highlight mark value", Keys: []string{"*"}, Panes: onEvent, When: a.onRecord, Run: a.trace.Pin},
		palette.Action{ID: "related", Title: "everything that shares the value, over time", Needs: palette.Event, Also: "correlate follow incident lanes graph trace relate", Keys: []string{"&"}, Hint: "related", Panes: onEvent, When: a.onRecord, Run: a.trace.Related},
		palette.Action{ID: "repeats", Title: "fold repeats: equal summaries in a row as one", Also: "collapse group duplicates count fold", Keys: []string{"#"}, Panes: onEvent, Run: a.trace.Repeats},
		palette.Action{ID: "compare", Title: "compare two events: mark one, then the other", Needs: palette.Event, Also: "diff difference versus", Keys: []string{"B"}, Panes: onEvent, When: a.onRecord, Run: a.trace.Compare},
		palette.Action{ID: "report", Title: "report of the incident, as Markdown", Needs: palette.Event, Also: "export postmortem review markdown", Keys: []string{"E"}, Panes: onEvent, When: a.onRecord, Run: palette.Act(a.trace.Report)},
		palette.Action{ID: "pipe", Title: "pipe the event, or the range, to a command", Needs: palette.Event, Also: "jq shell hand on run command", Keys: []string{"|"}, Panes: onEvent, When: a.onRecord, Run: palette.Act(func() { a.trace.AskPipe("", "") })},
	)
}

func (a *app) copyActions() []palette.Action {
	return palette.Grouped("Copy",
		palette.Action{ID: "copy", Title: "copy the payload, escaped", Needs: palette.Event, Also: "yank clipboard", Keys: []string{"y p", "y y"}, Hint: "payload", Menu: "copy", When: a.canCopy, Run: a.copyPayload},
		palette.Action{ID: "copy.id", Title: "copy the event id, escaped", Needs: palette.Event, Keys: []string{"y i"}, Hint: "id", When: a.canCopy, Run: a.copyID},
		palette.Action{ID: "copy.cursor", Title: "copy the cursor, escaped", Needs: palette.Event, Keys: []string{"y c"}, Hint: "cursor", When: a.canCopy, Run: a.copyCursor},
		palette.Action{ID: "copy.command", Title: "copy a command line that subscribes to the same", Needs: palette.Event, Keys: []string{"y k"}, Hint: "command", When: a.canCopy, Run: a.copyCommand},
		palette.Action{ID: "copy.line", Title: "copy the row as text", Needs: palette.Event, Keys: []string{"y l"}, Hint: "line", Menu: "copy", When: a.canCopyLine, Run: a.copyLine},
		palette.Action{ID: "copy.raw", Title: "copy the raw bytes: they may act when pasted", Needs: palette.Event, Keys: []string{"y r"}, Hint: "raw bytes", When: a.onPayload, Run: a.copyRaw},
	)
}

func (a *app) exportActions() []palette.Action {
	return palette.Grouped("Copy",
		palette.Action{ID: "export", Title: "write what is shown or selected to a file", Needs: palette.Event, Also: "save write dump jsonl", Keys: []string{"w"}, Hint: "write", Panes: onMain, When: a.onRecord, Run: a.openExport},
		palette.Action{ID: "export.stop", Title: "stop the export that is being written", When: func() bool { return a.outside.Exports.Writing() }, Run: palette.Act(func() { a.outside.Exports.Stop() })},
	)
}

// readerActions open payloads in the operator's programs.
func (a *app) readerActions() []palette.Action {
	show := func(p external.Program) func() tea.Cmd {
		return func() tea.Cmd {
			r, ok := a.detail.Payload()
			if !ok {
				return nil
			}
			return a.outside.Programs.Show(a.schedule.Context(), p, detail.PayloadOf(&r))
		}
	}
	return palette.Grouped("Event",
		palette.Action{ID: "pager", Title: "read the payload in $PAGER", Needs: palette.Event, Keys: []string{"o"}, Panes: onEvent, When: a.onPayload, Run: show(external.Pager)},
		palette.Action{ID: "editor", Title: "open the payload in $EDITOR", Needs: palette.Event, Keys: []string{"O"}, Panes: onEvent, When: a.onPayload, Run: show(external.Editor)},
	)
}

// layoutActions change the size and position of panes.
func (a *app) layoutActions() []palette.Action {
	return palette.Grouped("Panes",
		palette.Action{ID: "zoom", Title: "give the pane the whole screen, or back", Also: "full screen maximize", Keys: []string{"z"}, Hint: "zoom", Run: palette.Act(a.panes.Zoom)},
		palette.Action{ID: "grow", Title: "give the pane more of the screen", Keys: []string{"+"}, Panes: offDetail, Run: palette.Act(func() { a.panes.Grow(1) })},
		palette.Action{ID: "shrink", Title: "give the pane less of the screen", Keys: []string{"_"}, Run: palette.Act(func() { a.panes.Grow(-1) })},
		palette.Action{ID: "split", Title: "detail right of the list, or below", Keys: []string{"W"}, Run: palette.Act(a.turnSplit)},
		palette.Action{ID: "narrower", Title: "make the pane smaller", Keys: []string{"<"}, Run: palette.Act(func() { a.panes.Resize(-1) })},
		palette.Action{ID: "wider", Title: "make the pane larger", Keys: []string{">"}, Run: palette.Act(func() { a.panes.Resize(1) })},
		palette.Action{ID: "tab.next", Title: "next tab", Keys: []string{"]"}, Panes: onTabs, When: a.hasTabs, Run: palette.Act(func() { a.turnTab(1) })},
		palette.Action{ID: "tab.previous", Title: "previous tab", Keys: []string{"["}, Hint: "tabs", Twin: "tab.next", Panes: onTabs, When: a.hasTabs, Run: palette.Act(func() { a.turnTab(-1) })},
	)
}

// twoStreamActions show two streams, each with its own scope, filter and range.
func (a *app) twoStreamActions() []palette.Action {
	return palette.Grouped("Panes",
		palette.Action{ID: "streams.beside", Title: "two streams side by side, or the other one away", Also: "split vertical second stream tmux pane compare", Keys: []string{"%"}, Panes: onMain, Run: palette.Act(func() { a.toggleStreams(layout.Beside) })},
		palette.Action{ID: "streams.under", Title: "two streams, one above the other, or the other one away", Also: "split horizontal second stream tmux pane below", Keys: []string{"\""}, Panes: onMain, Run: palette.Act(func() { a.toggleStreams(layout.Under) })},
		palette.Action{ID: "streams.align", Title: "have the other stream show the same moment", Also: "second stream sync time align", Keys: []string{"@"}, Panes: onEvent, When: a.canAlign, Run: palette.Act(func() { a.stream.Other.Seek(a.stream.At) })},
	)
}

// viewsActions open and save views.
func (a *app) viewsActions() []palette.Action {
	return palette.Grouped("Panes",
		palette.Action{ID: "views", Title: "views: open, save what is shown, rename", Also: "named layout perspective workspace session", Keys: []string{"p"}, Panes: onMain, Run: palette.Act(a.views.List)},
		palette.Action{ID: "view.save", Title: "save what is shown as a view", Also: "keep remember layout workspace", Panes: onMain, Run: palette.Act(a.views.AskSave)},
	)
}

// tableActions are about rows of tables, and about subscriptions in any pane.
func (a *app) tableActions() []palette.Action {
	return slices.Concat(palette.Grouped("Stream",
		palette.Action{ID: "columns", Title: "choose the columns of the stream", Also: "severity fields", Keys: []string{"c"}, Panes: onMain, Run: func() tea.Cmd { return filterbar.OpenColumns(a.filterbarEnv()) }},
	), palette.Grouped("Tables",
		palette.Action{ID: "sort.next", Title: "sort by the next column", Also: "order", Keys: []string{"l", "right"}, Hint: "sort", Panes: inSubs, When: a.canSort, Run: palette.Act(func() { a.table().SortNext(1) })},
		palette.Action{ID: "sort.previous", Title: "sort by the column before", Keys: []string{"h", "left"}, Panes: inSubs, When: a.canSort, Run: palette.Act(func() { a.table().SortNext(-1) })},
		palette.Action{ID: "sort.reverse", Title: "reverse order", Keys: []string{"o"}, Panes: inSubs, When: a.canSort, Run: palette.Act(func() { a.table().Reverse() })},
		palette.Action{ID: "subscriptions.all", Title: "rows of all servers, or of the chosen place alone", Also: "scope every whole", Keys: []string{"0"}, Hint: "all", HintNow: a.scopeWord, Panes: inSubs, When: a.canScope, Run: palette.Act(func() { a.boards.All = !a.boards.All })},
		palette.Action{ID: "find", Title: "show only rows with these words", Keys: []string{"/"}, Hint: "filter", Panes: inTables, When: a.canFind, Run: palette.Act(a.openFind)},
		palette.Action{ID: "remote.end", Title: "end what a server holds and no subscription here wants", Keys: []string{"X"}, Hint: "end it", Panes: inSubs, Dangerous: true, When: a.onRemote, Run: palette.Act(func() { board.AskEnd(a.table()) })},
		palette.Action{ID: "remote.ask", Title: "ask the servers again what they hold", Keys: []string{"R"}, Hint: "ask again", Panes: inSubs, When: a.onRemotes, Run: palette.Act(a.askRemotes)},
	), palette.Grouped("Subscriptions",
		palette.Action{ID: "quiet", Title: "why is it quiet?", Needs: palette.Subscription, Instead: a.endedRow, Also: "health silence diagnose why quiet", Keys: []string{"i"}, Hint: "why quiet", When: a.onSub, Run: palette.Act(func() {
			a.detail.OpenQuiet(a.selected().ID, func() tea.Cmd { return a.actions.Perform(a.actions.Find("sub.refresh")) })
		})},
		palette.Action{ID: "server.reconnect", Title: "reconnect the server, and list its types again", Needs: palette.Server, Also: "retry connect again", Keys: []string{"R"}, Panes: inTree, Dangerous: true, When: a.onServer, Run: func() tea.Cmd { return a.manage().Reconnect(a.tree.At.Server) }},
	))
}

// deliveryActions change how a subscription runs.
func (a *app) deliveryActions() []palette.Action {
	return palette.Grouped("Subscriptions",
		palette.Action{ID: "sub.refresh", Title: "ask the server again from the saved position", Needs: palette.Subscription, Instead: a.endedRow, Also: "poll now retry", Keys: []string{"u"}, Dangerous: true, When: a.onSub, Run: a.atOnce("sub.refresh", func(v *host.SubscriptionView) tea.Cmd { return a.manage().Refresh(v) })},
		palette.Action{ID: "sub.mode", Title: "change the delivery mode, or failover", Needs: palette.Subscription, Instead: a.endedRow, Also: "push poll webhook", Keys: []string{"M"}, Dangerous: true, When: a.onSub, Run: a.openModeSwitch},
		palette.Action{ID: "sub.failover", Title: "automatic failover on or off: webhook, push, poll", Needs: palette.Subscription, Instead: a.endedRow, Keys: []string{"F"}, Panes: subRows, Dangerous: true, When: a.onSub, Run: func() tea.Cmd { v := a.selected(); return a.manage().SetFailover(v, !v.Failover) }},
		palette.Action{ID: "sub.reset", Title: "reset the saved position", Needs: palette.Subscription, Instead: a.endedRow, Also: "cursor rewind seek", Keys: []string{"C"}, Panes: subRows, Dangerous: true, When: a.onSub, Run: palette.Act(func() { a.manage().AskReset(a.selected(), a.recordOf(a.chosenSeq())) })},
		palette.Action{ID: "sub.rotate", Title: "make a new webhook secret", Keys: []string{"K"}, Panes: subRows, Dangerous: true, When: a.onWebhook, Run: palette.Act(func() { a.manage().AskRotate(a.selected()) })},
	)
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
		palette.Action{ID: "notify", Title: "notifications while you look elsewhere", Also: "bell alert desktop", Keys: []string{"b"}, Run: a.editNotify},
	)
}
