package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/stream"
	"eventdeck/ui/tui/widget"
)

// forgetPicks has rows formed again when servers list other types, whose schemas choose what rows
// show.
func (a *app) forgetPicks() {
	n := 0
	for i := range a.snap.Servers {
		n = n*31 + len(a.snap.Servers[i].Types) + int(a.snap.Servers[i].Since.Unix()&0xffff)
	}
	if n != a.stream.Columns.Seen {
		a.stream.Columns.Seen = n
		a.stream.Reform()
	}
}

// next leads to the next match of a search; in the detail without one, to the
// next place noticed.
func (a *app) next(step int) tea.Cmd {
	if a.search.Text != "" {
		return a.search.Next(step)
	}
	if a.panes.Focus == layout.Detail && a.onPayload() {
		a.detail.ToSpan(step)
		return nil
	}
	a.Tell("nothing is searched; " + a.KeyOf("search") + " begins")
	return nil
}

// gotoSeq shows the record, or the nearest one before it that the stream shows.
func (a *app) gotoSeq(seq uint64) {
	a.search.Goto(seq)
	a.panes.Size = layout.Normal
	a.enter(layout.Stream)
}

// gotoTime shows what was received at a moment or next after it.
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

// selectRange begins a range at the chosen record, or ends it.
func (a *app) selectRange() {
	s := &a.stream.Stream
	if s.Selected.On {
		s.Selected = stream.Selection{}
		return
	}
	s.Selected = stream.Selection{On: true, From: s.At}
	s.Follow = false
	a.enter(layout.Stream)
	a.Tell("range: move to its other end; " + a.KeyOf("copy") + " copies, " + a.KeyOf("export") + " writes, esc ends it")
}

// selectAll takes everything that the stream shows into the range.
func (a *app) selectAll() {
	a.stream.Selected = stream.Selection{On: true, From: a.snap.Last, All: true}
	a.enter(layout.Stream)
	a.Tell("everything shown is selected; " + a.KeyOf("export") + " writes it, esc ends it")
}

// Bounds of the records of a range that are taken at once.
const (
	rangeMax = 20_000
	rangeMem = 8 << 20 // bytes
)

// withSelected hands the records of the range that the stream shows to a function,
// oldest first, or the chosen one. Of a large range it is the beginning.
func (a *app) withSelected(then func([]event.Record) tea.Cmd) tea.Cmd {
	if !a.stream.Selected.On {
		return a.withRecord(a.stream.At, func(r event.Record, err error) tea.Cmd {
			if err != nil {
				a.Fail("cannot read the log", err)
				return nil
			}
			return then([]event.Record{r})
		})
	}
	first, last := a.stream.Ends()
	log, q := a.o.API.Log(), a.stream.Query
	return a.Do(func(ctx context.Context) tea.Msg {
		var all []event.Record
		size := 0
		err := log.After(first-1, func(r event.Record) bool {
			if r.Seq > last {
				return false
			}
			if q.Matches(&r) {
				all, size = append(all, r), size+len(r.Raw)
			}
			return len(all) < rangeMax && size < rangeMem && ctx.Err() == nil
		})
		return widget.Then(func() tea.Cmd {
			if err != nil {
				a.Fail("cannot read the log", err)
				return nil
			}
			return then(all)
		})
	})
}

// panStep is how far the stream pans, in cells.
const panStep = 8

// panBy moves the texts of the stream sideways.
func (a *app) panBy(n int) { a.stream.Pan = max(0, min(a.stream.Pan+n, 4096)) }
