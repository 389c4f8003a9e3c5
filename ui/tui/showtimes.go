package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
)

// nextTimes switches to the next format of times.
func (a *app) nextTimes() tea.Cmd {
	a.showTimes((a.Times + 1) % cells.TimeViews)
	a.Tell(cells.TimeViewTitles[a.Times])
	return nil
}

// showTimes sets the format of times on the whole screen.
func (a *app) showTimes(v cells.TimeView) {
	a.Times = v
	a.listItems()
	a.tree.Load(&a.snap)
	clear(a.stream.Formed)
	a.Style++
}
