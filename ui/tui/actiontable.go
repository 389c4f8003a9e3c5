package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/columns"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/external"
	"eventdeck/ui/tui/form"
	"eventdeck/ui/tui/layout"
	reactions "eventdeck/ui/tui/react"
	"eventdeck/ui/tui/trace"
)

// initActions makes the table of actions and commands.
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

// KeyOf returns the operator's key of an action; see [action.Table.KeyOf].
func (a *app) KeyOf(id string) string { return a.actions.KeyOf(id) }

// actionRows returns the actions in the order of hints. Every subject has its own function; the help
// sorts them by group.
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
		action.Action{ID: "pause", Title: "pause or resume the subscription", Needs: action.Subscription, Instead: a.endedRow, Keys: []string{"P"}, Hint: "pause", HintNow: a.pauseWord, Dangerous: true, When: a.onSub, Run: a.atOnce("pause", func(v *host.SubscriptionView) tea.Cmd { return a.manage().TogglePause(v) })},
		action.Action{ID: "edit", Title: "edit the subscription", Needs: action.Subscription, Instead: a.endedRow, Keys: []string{"e"}, Dangerous: true, When: a.editable, Run: a.openEdit},
		action.Action{ID: "unsubscribe", Title: "unsubscribe", Needs: action.Subscription, Instead: a.endedRow, Also: "end delete stop", Keys: []string{"D"}, Hint: "unsubscribe", Dangerous: true, When: a.onSub, Run: action.Act(func() { a.manage().AskUnsubscribe(a.selected(), a.rowName()) })},
	)
}

func (a *app) streamActions() []action.Action {
	return action.Grouped("Stream",
		action.Action{ID: "open", Title: "open what is chosen", Keys: []string{"enter"}, Hint: "open", HintNow: a.openWord, Run: a.open},
		action.Action{ID: "filter", Title: "filter: words, !not, a | b, server: sev: .path>5", Also: "grep find severity level query", Keys: []string{"/"}, Hint: "filter", Panes: onMain, Run: a.filters.Open},
		action.Action{ID: "filter.toggle", Title: "turn the filter off, and on again", Keys: []string{"x"}, Panes: onMain, Run: action.Act(a.filters.Toggle)},
		action.Action{ID: "pause.view", Title: "freeze the view, or let it go on", Also: "freeze hold", Keys: []string{"space"}, Hint: "freeze", Panes: onMain, Run: a.freeze},
		action.Action{ID: "follow", Title: "follow the newest event", Also: "tail -f live newest end", Keys: []string{"f"}, Hint: "follow", HintNow: a.followWord, Panes: onMain, Run: a.follow},
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
		action.Action{ID: "mark", Title: "mark the record, or take its mark away (bookmark)", Needs: action.Event, Also: "bookmark acknowledge seen known", Keys: []string{"m enter"}, Menu: "mark", Hint: "mark it", Panes: onEvent, When: a.onRecord, Run: a.toggleMark},
		action.Action{ID: "mark.note", Title: "mark the record with a note", Needs: action.Event, Keys: []string{"m n"}, Menu: "mark", Hint: "mark with a note", Panes: onEvent, When: a.onRecord, Run: action.Act(a.askNote)},
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
		action.Action{ID: "log", Title: "to the log: audit, wire, program", Also: "audit wire errors", Keys: []string{"5"}, Hint: "log", HintNow: a.logWord, Run: action.Act(a.openLog)},
		action.Action{ID: "reactions", Title: "to the reactions: what waits for you, runs, rules", Also: "approve approvals rules runs", Keys: []string{"6"}, Run: action.Act(a.toReactions)},
		action.Action{ID: "back", Title: "one step back; never quits", Keys: []string{"esc"}, Run: a.back},
	)
}

func (a *app) programActions() []action.Action {
	return action.Grouped("Program",
		action.Action{ID: "help", Title: "what works here", Also: "keys shortcuts", Keys: []string{"?"}, Hint: "help", Run: action.Act(a.openHelp)},
		action.Action{ID: "palette", Title: "commands: everything by its name", Keys: []string{":", "ctrl+p"}, Hint: "commands", Run: func() tea.Cmd { return a.openPalette("") }},
		action.Action{ID: "settings.reload", Title: "read the file of settings again", Run: func() tea.Cmd { return a.settings.Reload(true) }},
		action.Action{ID: "settings.problems", Title: "what is wrong in the file of settings", When: func() bool { return len(a.settings.Problems) > 0 }, Run: action.Act(a.settings.ShowProblems)},
		action.Action{ID: "redraw", Title: "redraw", Keys: []string{"ctrl+l"}, Run: func() tea.Cmd { return tea.ClearScreen }},
		action.Action{ID: "suspend", Title: "suspend the program; fg comes back", Keys: []string{"ctrl+z"}, Run: func() tea.Cmd { return tea.Suspend }},
		action.Action{ID: "quit", Title: "back, or quit", Also: "exit leave", Keys: []string{"q"}, Hint: "quit", HintNow: a.quitWord, Run: a.backOrQuit},
		action.Action{ID: "quit.now", Title: "quit from anywhere", Keys: []string{"ctrl+c"}, Run: a.quit},
	)
}

// reactActions are about reactions. Approving and arming work by their keys only, not from a list or
// by a typed name.
func (a *app) reactActions() []action.Action {
	r := func(when func() bool) func() bool { return func() bool { return a.onReactions() && when() } }
	decides := r(func() bool { return a.react.OnWaiting() || a.react.OnRule() })
	return action.Grouped("Reactions",
		action.Action{ID: reactions.ApproveAction, Title: "approve what is shown, once; a rule: arm it", Keys: []string{"ctrl+y"}, Hint: "approve", HintNow: a.approveWord, Panes: onReact, Dangerous: true, KeyOnly: true, When: decides, Run: a.react.Approve},
		action.Action{ID: "react.deny", Title: "deny with a reason; a rule: disarm it", Keys: []string{"ctrl+x"}, Hint: "deny", HintNow: a.denyWord, Panes: onReact, Dangerous: true, When: decides, Run: a.react.Deny},
		action.Action{ID: "react.grant", Title: "approve what is shown, and the same again, for some hours", Keys: []string{"ctrl+g"}, Hint: "grant", Panes: onReact, Dangerous: true, KeyOnly: true, When: r(a.react.Grantable), Run: a.react.Grant},
		action.Action{ID: "react.view", Title: "read what is chosen in full, on the whole screen", Also: "view request block result", Keys: []string{"v"}, Hint: "view", Panes: onReact, When: r(a.react.OnRow), Run: a.viewReaction},
		action.Action{ID: "react.again", Title: "act on the events of the run again; it asks first", Also: "retry repeat rerun", Keys: []string{"ctrl+r"}, Hint: "again", Panes: onReact, Dangerous: true, When: r(a.react.OnEnded), Run: a.react.Retry},
		action.Action{ID: "react.settle", Title: "say what became of a parked run", Also: "unknown outcome resolve", Keys: []string{"ctrl+t"}, Hint: "settle", Panes: onReact, Dangerous: true, When: r(a.react.OnParked), Run: a.react.Settle},
		action.Action{ID: "react.silence", Title: "silence the rule for a time", Also: "mute snooze", Keys: []string{"ctrl+s"}, Hint: "silence", Panes: onReact, Dangerous: true, When: r(a.react.OnRule), Run: a.react.Silence},
		action.Action{ID: "react.new", Title: "react to events like this: make a rule", Needs: action.Event, Instead: a.otherRow, Also: "automate rule trigger", Keys: []string{"J"}, Panes: onEvent, Dangerous: true, When: func() bool { return a.react.CanWriteRule() && a.onEvent() }, Run: a.makeRule},
		action.Action{ID: "react.why", Title: "why did rules fire for this event, or not?", Needs: action.Event, Also: "explain reaction rule", Keys: []string{"Q"}, Panes: onEvent, When: func() bool { return a.react.On() && a.onRecord() }, Run: func() tea.Cmd { return a.react.Explain(a.stream.At, "") }},
		action.Action{ID: "react.ask", Title: "ask a model about the event", Needs: action.Event, Instead: a.otherRow, Also: "question explain llm", Panes: onEvent, Dangerous: true, When: func() bool { return a.react.CanAsk() && a.onRecord() && a.onEvent() }, Run: a.askModel},
		action.Action{ID: "react.stop", Title: "stop all reactions at once; again within 5 s ends what runs", Also: "kill switch emergency", Keys: []string{"Z"}, Panes: anywhere, Dangerous: true, When: a.react.On, Run: a.react.Stop},
		action.Action{ID: "react.go", Title: "let reactions go on", Also: "resume start", Dangerous: true, When: func() bool { return a.react.On() && a.react.Halted() }, Run: a.react.AskResume},
	)
}

// signInActions are about signing in to servers.
func (a *app) signInActions() []action.Action {
	return action.Grouped("Servers",
		action.Action{ID: "sign-in", Title: "sign in to the server, in the browser", Keys: []string{"L"}, Hint: "sign in", Panes: inTree, Dangerous: true, When: a.wantsSignIn, Run: func() tea.Cmd { return form.OpenSignIn(a.formEnv(), a.tree.At.Server) }},
	)
}

// setupActions are about servers, not about subscriptions.
func (a *app) setupActions() []action.Action {
	return action.Grouped("Servers",
		action.Action{ID: "server.add", Title: "add a server", Keys: []string{"A"}, Dangerous: true, Lacks: a.notConfigured(), When: a.canConfigure, Run: action.Act(func() { form.OpenAddServer(a.formEnv()) })},
		action.Action{ID: "server.import", Title: "import servers from other MCP clients", Keys: []string{"I"}, Dangerous: true, Lacks: a.notConfigured(), When: a.canConfigure, Run: func() tea.Cmd { return form.OpenImport(a.formEnv()) }},
		action.Action{ID: "server.remove", Title: "remove the server, and end its subscriptions", Needs: action.Server, Keys: []string{"X"}, Panes: inTree, Dangerous: true, When: a.onServerRow, Run: func() tea.Cmd { return a.manage().AskRemove(a.tree.At.Server) }},
		action.Action{ID: "demo", Title: "start the demo servers", Keys: []string{"d"}, Hint: "demo", Dangerous: true, When: a.canDemo, Run: a.beginDemo},
	)
}

// incidentActions follow a value over servers and types, and report or pipe what was found.
func (a *app) incidentActions() []action.Action {
	return action.Grouped("Incident",
		action.Action{ID: "value.filter", Title: "follow the value: show only what has it", Needs: action.Event, Also: "filter by this value incident customer service host id correlate =", Keys: []string{"="}, Hint: "only this", Panes: onEvent, When: a.onRecord, Run: func() tea.Cmd { return a.trace.Follow(trace.Only) }},
		action.Action{ID: "value.exclude", Title: "leave out what has the value", Needs: action.Event, Also: "filter out exclude hide not -", Keys: []string{"-"}, Panes: inDetail, When: a.onRecord, Run: func() tea.Cmd { return a.trace.Follow(trace.Not) }},
		action.Action{ID: "type.hide", Title: "hide or mute this type: add !type: to the filter", Needs: action.Type, Also: "ignore exclude filter out noise", When: func() bool { _, ok := a.typeToHide(); return ok }, Run: action.Act(a.hideType)},
		action.Action{ID: "value.add", Title: "add the value to the filter", Needs: action.Event, Also: "narrow and filter +", Keys: []string{"+"}, Panes: inDetail, When: a.onRecord, Run: func() tea.Cmd { return a.trace.Follow(trace.Too) }},
		action.Action{ID: "value.pin", Title: "pin the value: it stands out everywhere", Needs: action.Event, Also: "colour color highlight mark value", Keys: []string{"*"}, Panes: onEvent, When: a.onRecord, Run: a.trace.Pin},
		action.Action{ID: "related", Title: "everything that shares the value, over time", Needs: action.Event, Also: "correlate follow incident lanes graph trace relate", Keys: []string{"&"}, Hint: "related", Panes: onEvent, When: a.onRecord, Run: a.trace.Related},
		action.Action{ID: "repeats", Title: "fold repeats: equal summaries in a row as one", Also: "collapse group duplicates count fold", Keys: []string{"#"}, Panes: onEvent, Run: a.trace.Repeats},
		action.Action{ID: "compare", Title: "compare two events: mark one, then the other", Needs: action.Event, Also: "diff difference versus", Keys: []string{"B"}, Panes: onEvent, When: a.onRecord, Run: a.trace.Compare},
		action.Action{ID: "report", Title: "report of the incident, as Markdown", Needs: action.Event, Also: "export postmortem review markdown", Keys: []string{"E"}, Panes: onEvent, When: a.onRecord, Run: action.Act(a.trace.Report)},
		action.Action{ID: "pipe", Title: "pipe the event, or the range, to a command", Needs: action.Event, Also: "jq shell hand on run command", Keys: []string{"|"}, Panes: onEvent, When: a.onRecord, Run: action.Act(func() { a.trace.AskPipe("", "") })},
	)
}

func (a *app) copyActions() []action.Action {
	return action.Grouped("Copy",
		action.Action{ID: "copy", Title: "copy the payload, escaped", Needs: action.Event, Also: "yank clipboard", Keys: []string{"y p", "y y"}, Hint: "payload", Menu: "copy", When: a.canCopy, Run: a.copyPayload},
		action.Action{ID: "copy.id", Title: "copy the event id, escaped", Needs: action.Event, Keys: []string{"y i"}, Hint: "id", When: a.canCopy, Run: a.copyID},
		action.Action{ID: "copy.cursor", Title: "copy the cursor, escaped", Needs: action.Event, Keys: []string{"y c"}, Hint: "cursor", When: a.canCopy, Run: a.copyCursor},
		action.Action{ID: "copy.command", Title: "copy a command line that subscribes to the same", Needs: action.Event, Keys: []string{"y k"}, Hint: "command", When: a.canCopy, Run: a.copyCommand},
		action.Action{ID: "copy.line", Title: "copy the row as text", Needs: action.Event, Keys: []string{"y l"}, Hint: "line", Menu: "copy", When: a.canCopyLine, Run: a.copyLine},
		action.Action{ID: "copy.raw", Title: "copy the raw bytes: they may act when pasted", Needs: action.Event, Keys: []string{"y r"}, Hint: "raw bytes", When: a.onPayload, Run: a.copyRaw},
	)
}

func (a *app) exportActions() []action.Action {
	return action.Grouped("Copy",
		action.Action{ID: "export", Title: "write what is shown or selected to a file", Needs: action.Event, Also: "save write dump jsonl", Keys: []string{"w"}, Hint: "write", Panes: onMain, When: a.onRecord, Run: a.openExport},
		action.Action{ID: "export.stop", Title: "stop the export that is being written", When: func() bool { return a.outside.Exports.Writing() }, Run: action.Act(func() { a.outside.Exports.Stop() })},
	)
}

// readerActions open payloads in the operator's programs.
func (a *app) readerActions() []action.Action {
	show := func(p external.Program) func() tea.Cmd {
		return func() tea.Cmd {
			r, ok := a.detail.Payload()
			if !ok {
				return nil
			}
			return a.outside.Programs.Show(a.schedule.Context(), p, detail.PayloadOf(&r))
		}
	}
	return action.Grouped("Event",
		action.Action{ID: "pager", Title: "read the payload in $PAGER", Needs: action.Event, Keys: []string{"o"}, Panes: onEvent, When: a.onPayload, Run: show(external.Pager)},
		action.Action{ID: "editor", Title: "open the payload in $EDITOR", Needs: action.Event, Keys: []string{"O"}, Panes: onEvent, When: a.onPayload, Run: show(external.Editor)},
	)
}

// layoutActions change the size and position of panes.
func (a *app) layoutActions() []action.Action {
	return action.Grouped("Panes",
		action.Action{ID: "zoom", Title: "give the pane the whole screen, or back", Also: "full screen maximize", Keys: []string{"z"}, Hint: "zoom", Run: action.Act(a.panes.Zoom)},
		action.Action{ID: "grow", Title: "give the pane more of the screen", Keys: []string{"+"}, Panes: offDetail, Run: action.Act(func() { a.panes.Grow(1) })},
		action.Action{ID: "shrink", Title: "give the pane less of the screen", Keys: []string{"_"}, Run: action.Act(func() { a.panes.Grow(-1) })},
		action.Action{ID: "split", Title: "detail right of the list, or below", Keys: []string{"W"}, Run: action.Act(a.turnSplit)},
		action.Action{ID: "narrower", Title: "make the pane smaller", Keys: []string{"<"}, Run: action.Act(func() { a.panes.Resize(-1) })},
		action.Action{ID: "wider", Title: "make the pane larger", Keys: []string{">"}, Run: action.Act(func() { a.panes.Resize(1) })},
		action.Action{ID: "tab.next", Title: "next tab", Keys: []string{"]"}, Panes: onTabs, When: a.hasTabs, Run: action.Act(func() { a.turnTab(1) })},
		action.Action{ID: "tab.previous", Title: "previous tab", Keys: []string{"["}, Hint: "tabs", Twin: "tab.next", Panes: onTabs, When: a.hasTabs, Run: action.Act(func() { a.turnTab(-1) })},
	)
}

// twoStreamActions show two streams, each with its own scope, filter and range.
func (a *app) twoStreamActions() []action.Action {
	return action.Grouped("Panes",
		action.Action{ID: "streams.beside", Title: "two streams side by side, or the other one away", Also: "split vertical second stream tmux pane compare", Keys: []string{"%"}, Panes: onMain, Run: action.Act(func() { a.toggleStreams(layout.Beside) })},
		action.Action{ID: "streams.under", Title: "two streams, one above the other, or the other one away", Also: "split horizontal second stream tmux pane below", Keys: []string{"\""}, Panes: onMain, Run: action.Act(func() { a.toggleStreams(layout.Under) })},
		action.Action{ID: "streams.align", Title: "have the other stream show the same moment", Also: "second stream sync time align", Keys: []string{"@"}, Panes: onEvent, When: a.canAlign, Run: action.Act(func() { a.stream.Other.Seek(a.stream.At) })},
	)
}

// viewsActions open and save views.
func (a *app) viewsActions() []action.Action {
	return action.Grouped("Panes",
		action.Action{ID: "views", Title: "views: open, save what is shown, rename", Also: "named layout perspective workspace session", Keys: []string{"p"}, Panes: onMain, Run: action.Act(a.views.List)},
		action.Action{ID: "view.save", Title: "save what is shown as a view", Also: "keep remember layout workspace", Panes: onMain, Run: action.Act(a.views.AskSave)},
	)
}

// tableActions are about rows of tables, and about subscriptions in any pane.
func (a *app) tableActions() []action.Action {
	return slices.Concat(action.Grouped("Stream",
		action.Action{ID: "columns", Title: "choose the columns of the stream", Also: "severity fields", Keys: []string{"c"}, Panes: onMain, Run: func() tea.Cmd { return columns.Open(a.columnsEnv()) }},
	), action.Grouped("Tables",
		action.Action{ID: "sort.next", Title: "sort by the next column", Also: "order", Keys: []string{"l", "right"}, Hint: "sort", Panes: inSubs, When: a.canSort, Run: action.Act(func() { a.table().SortNext(1) })},
		action.Action{ID: "sort.previous", Title: "sort by the column before", Keys: []string{"h", "left"}, Panes: inSubs, When: a.canSort, Run: action.Act(func() { a.table().SortNext(-1) })},
		action.Action{ID: "sort.reverse", Title: "reverse order", Keys: []string{"o"}, Panes: inSubs, When: a.canSort, Run: action.Act(func() { a.table().Reverse() })},
		action.Action{ID: "subscriptions.all", Title: "rows of all servers, or of the chosen place alone", Also: "scope every whole", Keys: []string{"0"}, Hint: "all", HintNow: a.scopeWord, Panes: inSubs, When: a.canScope, Run: action.Act(func() { a.boards.All = !a.boards.All })},
		action.Action{ID: "find", Title: "show only rows with these words", Keys: []string{"/"}, Hint: "filter", Panes: inTables, When: a.canFind, Run: action.Act(a.openFind)},
		action.Action{ID: "remote.end", Title: "end what a server holds and no subscription here wants", Keys: []string{"X"}, Hint: "end it", Panes: inSubs, Dangerous: true, When: a.onRemote, Run: action.Act(func() { board.AskEnd(a.table()) })},
		action.Action{ID: "remote.ask", Title: "ask the servers again what they hold", Keys: []string{"R"}, Hint: "ask again", Panes: inSubs, When: a.onRemotes, Run: action.Act(a.askRemotes)},
	), action.Grouped("Subscriptions",
		action.Action{ID: "quiet", Title: "why is it quiet?", Needs: action.Subscription, Instead: a.endedRow, Also: "health silence diagnose why quiet", Keys: []string{"i"}, Hint: "why quiet", When: a.onSub, Run: action.Act(func() {
			a.detail.OpenQuiet(a.selected().ID, func() tea.Cmd { return a.actions.Perform(a.actions.Find("sub.refresh")) })
		})},
		action.Action{ID: "server.reconnect", Title: "reconnect the server, and list its types again", Needs: action.Server, Also: "retry connect again", Keys: []string{"R"}, Panes: inTree, Dangerous: true, When: a.onServer, Run: func() tea.Cmd { return a.manage().Reconnect(a.tree.At.Server) }},
	))
}

// deliveryActions change how a subscription runs.
func (a *app) deliveryActions() []action.Action {
	return action.Grouped("Subscriptions",
		action.Action{ID: "sub.refresh", Title: "ask the server again from the saved position", Needs: action.Subscription, Instead: a.endedRow, Also: "poll now retry", Keys: []string{"u"}, Dangerous: true, When: a.onSub, Run: a.atOnce("sub.refresh", func(v *host.SubscriptionView) tea.Cmd { return a.manage().Refresh(v) })},
		action.Action{ID: "sub.mode", Title: "change the delivery mode, or failover", Needs: action.Subscription, Instead: a.endedRow, Also: "push poll webhook", Keys: []string{"M"}, Dangerous: true, When: a.onSub, Run: a.openModeSwitch},
		action.Action{ID: "sub.failover", Title: "automatic failover on or off: webhook, push, poll", Needs: action.Subscription, Instead: a.endedRow, Keys: []string{"F"}, Panes: subRows, Dangerous: true, When: a.onSub, Run: func() tea.Cmd { v := a.selected(); return a.manage().SetFailover(v, !v.Failover) }},
		action.Action{ID: "sub.reset", Title: "reset the saved position", Needs: action.Subscription, Instead: a.endedRow, Also: "cursor rewind seek", Keys: []string{"C"}, Panes: subRows, Dangerous: true, When: a.onSub, Run: action.Act(func() { a.manage().AskReset(a.selected(), a.recordOf(a.chosenSeq())) })},
		action.Action{ID: "sub.rotate", Title: "make a new webhook secret", Keys: []string{"K"}, Panes: subRows, Dangerous: true, When: a.onWebhook, Run: action.Act(func() { a.manage().AskRotate(a.selected()) })},
	)
}

// displayActions are about the look of the screen and its terminal.
func (a *app) displayActions() []action.Action {
	return action.Grouped("Screen",
		action.Action{ID: "theme", Title: "choose a theme", Also: "colours colors dark light", Keys: []string{"T"}, Run: action.Act(func() { a.theming.Open() })},
		action.Action{ID: "theme.reload", Title: "read your themes again", When: func() bool { return a.theming.HasDir() }, Run: func() tea.Cmd { return a.theming.Reload(true) }},
		action.Action{ID: "glyphs", Title: "ASCII or Unicode glyphs", Run: a.switchGlyphs},
		action.Action{ID: "stats", Title: "rates, counters and lag", Also: "metrics rates graph", Keys: []string{"S"}, Run: func() tea.Cmd { return a.rates.Open() }},
		action.Action{ID: "timeline", Title: "timeline: histogram of events over time", Also: "histogram graph chart", Keys: []string{"H"}, Run: func() tea.Cmd { return a.openTimeline() }},
		action.Action{ID: "mouse", Title: "mouse on, or off so that it selects text", Keys: []string{"f2"}, Run: a.switchMouse},
		action.Action{ID: "notify", Title: "notifications while you look elsewhere", Also: "bell alert desktop", Keys: []string{"b"}, Run: a.editNotify},
	)
}
