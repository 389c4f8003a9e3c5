package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// tableRows returns the number of rows of the shown table, 0 if there is none.
func (a *app) tableRows() int {
	if t := a.table(); t != nil {
		return t.WantedRows()
	}
	return 0
}

// arranged returns the current layout.
func (a *app) arranged() layout.Layout { return a.panes.Arranged(a.tableRows()) }

func (a *app) turnSplit() {
	if why := a.panes.TurnSplit(a.tableRows(), a.KeyOf("zoom")); why != "" {
		a.Tell(why)
	}
}

var onTabs = []layout.Pane{layout.Detail, layout.Subs, layout.Log, layout.React}

func (a *app) hasTabs() bool { return a.panes.Focus != layout.Detail || a.showsRecord() }

// openLog shows the log, on the program's own tab if the status line shows an error.
func (a *app) openLog() {
	if a.edges.Status.Trouble.Shown(a.Clock()) {
		a.boards.Log.Last()
		a.edges.Status.Trouble.See()
	}
	a.enter(layout.Log)
}

// logWord returns the hint of the key of the log, "" if it does nothing.
func (a *app) logWord() string {
	if a.panes.Focus == layout.Log && !a.edges.Status.Trouble.Shown(a.Clock()) {
		return ""
	}
	return "log"
}

func (a *app) canFind() bool { t := a.table(); return t != nil && t.Finds() }

func (a *app) canSort() bool { t := a.table(); return t != nil && t.Sorts() && t.Chosen() }

// askRemotes asks the servers again which subscriptions they hold.
func (a *app) askRemotes() {
	board.AskAgain(a.table())
	a.Tell("asking the servers which subscriptions they hold " + a.Glyphs.More)
}

// onRemotes reports whether the subscriptions that servers hold are shown, onRemote
// whether one of them is chosen.
func (a *app) onRemotes() bool { t := a.table(); return t != nil && board.Remotes(t) }

func (a *app) onRemote() bool { return a.onRemotes() && a.table().Chosen() }

// openFind opens a prompt for words of rows; the table is filtered while the operator types.
func (a *app) openFind() {
	before := a.table().Text
	a.AskLine(&widget.Prompt{
		Label: "rows:", Says: "words of a row   enter keep  esc undo",
		Change:    a.findRows,
		Cancelled: func() { a.findRows(before) },
		Done:      func(text string) tea.Cmd { a.findRows(text); return nil },
	}, before)
}

// findRows filters the rows of the shown table by a text.
func (a *app) findRows(text string) {
	t := a.table()
	if t != nil {
		t.Find(text)
	}
}
