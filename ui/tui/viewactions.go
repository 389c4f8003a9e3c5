package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/columns"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// layoutActions change how much of the screen the panes have.
func layoutActions() []action {
	return grouped("Panes",
		action{id: "zoom", title: "give the pane the whole screen, or back", also: "full screen maximize", keys: []string{"z"}, hint: "zoom", run: act((*app).zoom)},
		action{id: "grow", title: "give the pane more of the screen", keys: []string{"+"}, panes: offDetail, run: act(func(a *app) { a.grow(1) })},
		action{id: "shrink", title: "give the pane less of the screen", keys: []string{"_"}, run: act(func(a *app) { a.grow(-1) })},
		action{id: "split", title: "detail right of the list, or below", keys: []string{"W"}, run: act((*app).turnSplit)},
		action{id: "narrower", title: "make the pane smaller", keys: []string{"<"}, run: act(func(a *app) { a.resize(-1) })},
		action{id: "wider", title: "make the pane larger", keys: []string{">"}, run: act(func(a *app) { a.resize(1) })},
		action{id: "tab.next", title: "next tab", keys: []string{"]"}, panes: onTabs, when: (*app).hasTabs, run: act(func(a *app) { a.turnTab(1) })},
		action{id: "tab.previous", title: "previous tab", keys: []string{"["}, hint: "tabs", panes: onTabs, when: (*app).hasTabs, run: act(func(a *app) { a.turnTab(-1) })},
	)
}

var onTabs = []layout.Pane{layout.Detail, layout.Subs, layout.Log}

func (a *app) hasTabs() bool { return a.focus != layout.Detail || a.showsRecord() }

// tableActions work on the rows of the tables, and on a subscription wherever it
// is chosen.
func tableActions() []action {
	return slices.Concat(grouped("Stream",
		action{id: "columns", title: "choose the columns of the stream", also: "severity fields", keys: []string{"c"}, panes: onMain, run: func(a *app) tea.Cmd { return columns.Open(a.forColumns()) }},
	), grouped("Tables",
		action{id: "sort.next", title: "sort by the next column", also: "order", keys: []string{"l", "right"}, hint: "sort", panes: inSubs, when: (*app).canSort, run: act(func(a *app) { a.table().SortNext(1) })},
		action{id: "sort.previous", title: "sort by the column before", keys: []string{"h", "left"}, panes: inSubs, when: (*app).canSort, run: act(func(a *app) { a.table().SortNext(-1) })},
		action{id: "sort.reverse", title: "reverse order", keys: []string{"o"}, panes: inSubs, when: (*app).canSort, run: act(func(a *app) { a.table().TurnAround() })},
		action{id: "find", title: "show only rows with these words", keys: []string{"/"}, hint: "filter", panes: inTables, when: (*app).canFind, run: act((*app).openFind)},
		action{id: "remote.end", title: "end what a server holds and no subscription here wants", keys: []string{"X"}, hint: "end it", panes: inSubs, dangerous: true, when: (*app).onRemote, run: act(func(a *app) { a.table().AskEnd() })},
		action{id: "remote.ask", title: "ask the servers again what they hold", keys: []string{"R"}, hint: "ask again", panes: inSubs, when: (*app).onRemotes, run: act(func(a *app) { a.table().AskAgain() })},
	), grouped("Subscriptions",
		action{id: "quiet", title: "why is it quiet?", needs: aSubscription, also: "health silence diagnose why quiet", keys: []string{"i"}, hint: "why quiet", when: (*app).onSub, run: act(func(a *app) {
			a.detail.OpenQuiet(a.selected().ID, func() tea.Cmd { return a.perform(a.action("sub.refresh")) })
		})},
		action{id: "server.reconnect", title: "reconnect the server, and list its types again", needs: aServer, also: "retry connect again", keys: []string{"R"}, panes: inTree, dangerous: true, when: (*app).onServer, run: (*app).reconnect},
	))
}

// openLog shows the log. An error that waits to be seen leads to the program's
// own tab.
func (a *app) openLog() {
	if a.trouble.shown(a.Clock()) {
		a.boards.Log.Last()
		a.trouble.see()
	}
	a.enter(layout.Log)
}

func (a *app) canFind() bool { t := a.table(); return t != nil && t.Finds() }

func (a *app) canSort() bool { t := a.table(); return t != nil && t.Sorts() && t.Chosen() }

// onRemotes tells whether the subscriptions that servers hold are shown, onRemote
// whether one of them is chosen.
func (a *app) onRemotes() bool { t := a.table(); return t != nil && t.Remotes() }

func (a *app) onRemote() bool { return a.onRemotes() && a.table().Chosen() }

// openFind asks for words of rows; the table follows what is typed.
func (a *app) openFind() {
	before := a.table().Text
	a.askLine(&widget.Prompt{
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

// onServer tells whether the choice is a server that is configured, or below one.
func (a *app) onServer() bool {
	return slices.ContainsFunc(a.snap.Servers, func(s host.ServerView) bool { return s.Name == a.tree.At.Server })
}

func (a *app) reconnect() tea.Cmd {
	return a.reconnectTo(a.tree.At.Server)
}

func (a *app) reconnectTo(name string) tea.Cmd {
	shown := cells.Sanitize(name).Plain()
	return a.Do(func(context.Context) tea.Msg {
		if err := a.api.Reconnect(name); err != nil {
			return widget.Done{What: "cannot connect to " + shown, Err: err}
		}
		return widget.Done{What: "reconnecting to " + shown}
	})
}
