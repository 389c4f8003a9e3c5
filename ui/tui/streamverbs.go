package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// next goes to the next match of the search. Without a search it goes to the next flagged text in
// the detail.
func (a *app) next(step int) tea.Cmd {
	if a.search.Text != "" {
		return a.search.Next(step)
	}
	if a.panes.Focus == layout.Detail && a.detail.HasPayload() {
		a.detail.ToSpan(step)
		return nil
	}
	a.Tell("there is no search; " + a.KeyOf("search") + " begins one")
	return nil
}

// gotoSeq shows the record, or the nearest one before it that the stream shows.
func (a *app) gotoSeq(seq uint64) {
	a.search.Goto(seq)
	a.panes.Size = layout.Normal
	a.panes.Enter(layout.Stream)
}

// gotoTime shows the first record that was received at a time or after it.
func (a *app) gotoTime(t time.Time) tea.Cmd {
	log := a.o.API.Log()
	return a.Do(func(context.Context) tea.Msg {
		seq, err := log.SeqAt(t)
		last := log.Last()
		return widget.Then(func() tea.Cmd {
			switch {
			case err != nil:
				a.Fail("cannot read the log", err)
			case last == 0:
				a.Tell("nothing is stored yet")
			case seq > last:
				a.Tell("nothing came after " + cells.TimeText(t, a.Times.Zone(), time.DateTime))
				return a.followNewest()
			default:
				a.gotoSeq(seq)
			}
			return nil
		})
	})
}
