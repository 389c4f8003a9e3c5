package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
)

// nextTimes goes on to the next way to show times.
func (a *app) nextTimes() tea.Cmd {
	a.showTimes((a.Times + 1) % cells.TimeViews)
	a.Tell(cells.TimeViewTitles[a.Times])
	return nil
}

// showTimes changes how times are shown everywhere.
func (a *app) showTimes(v cells.TimeView) {
	a.Times = v
	a.listItems()
	a.tree.Load(&a.snap)
	clear(a.stream.Formed)
	a.Style++
}
