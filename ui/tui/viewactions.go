package tui

import (
	"eventdeck/ui/tui/layout"
)

// arranged returns the current layout.
func (a *app) arranged() layout.Layout { return a.panes.Arranged(a.table().WantedRows()) }

var onTabs = []layout.Pane{layout.Detail, layout.Subs, layout.Log, layout.React}

func (a *app) hasTabs() bool { return a.panes.Focus != layout.Detail || a.detail.ShowsRecord() }

// openLog shows the log, on the program's own tab if the status line shows an error.
func (a *app) openLog() {
	if a.Edges.Status.Trouble.Shown(a.Clock()) {
		a.boards.Log.Last()
		a.Edges.Status.Trouble.See()
	}
	a.panes.Enter(layout.Log)
}

// logWord returns the hint of the key of the log, "" if it does nothing.
func (a *app) logWord() string {
	if a.panes.Focus == layout.Log && !a.Edges.Status.Trouble.Shown(a.Clock()) {
		return ""
	}
	return "log"
}
