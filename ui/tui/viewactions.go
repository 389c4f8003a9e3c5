package tui

import (
	tea "charm.land/bubbletea/v2"
)

// layoutActions change how much of the screen the panes have.
func layoutActions() []action {
	return grouped("Panes",
		action{id: "zoom", title: "give the pane the whole screen, or back", keys: []string{"z"}, hint: "zoom", run: act((*app).zoom)},
		action{id: "grow", title: "give the pane more of the screen", keys: []string{"+"}, run: act(func(a *app) { a.grow(1) })},
		action{id: "shrink", title: "give the pane less of the screen", keys: []string{"_"}, run: act(func(a *app) { a.grow(-1) })},
		action{id: "split", title: "detail right of the list, or below", keys: []string{"|"}, run: (*app).turnSplit},
		action{id: "narrower", title: "make the pane smaller", keys: []string{"<"}, run: func(a *app) tea.Cmd { return a.resize(-1) }},
		action{id: "wider", title: "make the pane larger", keys: []string{">"}, run: func(a *app) tea.Cmd { return a.resize(1) }},
		action{id: "tab.next", title: "next tab", keys: []string{"]"}, panes: onTabs, when: (*app).hasTabs, run: act(func(a *app) { a.turnTab(1) })},
		action{id: "tab.previous", title: "previous tab", keys: []string{"["}, hint: "tabs", panes: onTabs, when: (*app).hasTabs, run: act(func(a *app) { a.turnTab(-1) })},
	)
}

var onTabs = []paneID{detailPane, subsPane, logPane}

func (a *app) hasTabs() bool { return a.focus != detailPane || a.onRecord() }

// tableActions work on the rows of the tables, and on a subscription wherever it
// is chosen.
func tableActions() []action {
	return append(grouped("Tables",
		action{id: "sort.next", title: "sort by the next column", keys: []string{"l", "right"}, hint: "sort", panes: inSubs, when: onTable[*subsTable], run: act(func(a *app) { a.table().sortNext(1) })},
		action{id: "sort.previous", title: "sort by the column before", keys: []string{"h", "left"}, panes: inSubs, when: onTable[*subsTable], run: act(func(a *app) { a.table().sortNext(-1) })},
		action{id: "sort.reverse", title: "turn the order around", keys: []string{"o"}, panes: inSubs, when: onTable[*subsTable], run: act(func(a *app) { a.table().turnAround() })},
		action{id: "find", title: "show only rows with these words", keys: []string{"/"}, hint: "filter", panes: inTables, when: (*app).canFind, run: act((*app).openFind)},
	), grouped("Subscriptions",
		action{id: "quiet", title: "why is it quiet?", keys: []string{"i"}, hint: "why quiet", when: (*app).onSub, run: act((*app).openQuiet)},
	)...)
}

// subRows are the panes in which a subscription is a row.
var subRows = []paneID{treePane, subsPane}

// openLog shows the log. An error that waits to be seen leads to the program's
// own tab.
func (a *app) openLog() {
	if a.trouble.pending() {
		a.boards.log.on = len(a.boards.log.tabs) - 1
		a.boards.log.tabs[a.boards.log.on].end(true)
		a.trouble.see()
	}
	a.enter(logPane)
}

func (a *app) canFind() bool {
	t := a.table()
	if t == nil {
		return false
	}
	_, ok := t.src.(finder)
	return ok
}

// findLine is the line in which words for the rows of a table are typed.
type findLine struct {
	field  editor
	before string
}

func (a *app) openFind() {
	t := a.table()
	a.find = &findLine{before: t.text}
	a.find.field.one = true
	a.find.field.set(t.text)
}

func (f *findLine) key(a *app, name, text string) {
	switch name {
	case "esc":
		a.find = nil
		a.search(f.before)
	case "enter":
		a.find = nil
	default:
		if f.field.key(name, text) {
			a.search(f.field.text())
		}
	}
}

// search shows only rows of the shown table that hold the text.
func (a *app) search(text string) {
	t := a.table()
	if t == nil {
		return
	}
	if s, ok := t.src.(finder); ok && t.text != text {
		t.text = text
		s.filter(text)
		t.gen++
	}
}
