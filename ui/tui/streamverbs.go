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

// reformRows forms the rows again when servers list other types, since their schemas decide what
// rows show.
func (a *app) reformRows() {
	n := 0
	for i := range a.snap.Servers {
		n = n*31 + len(a.snap.Servers[i].Types) + int(a.snap.Servers[i].Since.Unix()&0xffff)
	}
	if n != a.stream.Columns.Seen {
		a.stream.Columns.Seen = n
		a.stream.Reform()
	}
}

// next goes to the next match of the search. Without a search it goes to the next flagged text in
// the detail.
func (a *app) next(step int) tea.Cmd {
	if a.search.Text != "" {
		return a.search.Next(step)
	}
	if a.panes.Focus == layout.Detail && a.onPayload() {
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
	a.enter(layout.Stream)
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

// selectAll selects everything that the stream shows.
func (a *app) selectAll() {
	a.stream.Selected = stream.Selection{On: true, From: a.snap.Last, All: true}
	a.enter(layout.Stream)
	a.Tell("everything shown is selected; " + a.KeyOf("export") + " writes it, esc ends it")
}

// Bounds of the records of a range that are held in memory.
const (
	rangeMax = 20_000
	rangeMem = 8 << 20 // bytes
)

// withSelected calls then with the records of the range, oldest first, or with the chosen record. It
// cuts a range at [rangeMax] records or [rangeMem] bytes.
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

// panBy scrolls the stream sideways by n cells.
func (a *app) panBy(n int) { a.stream.Pan = max(0, min(a.stream.Pan+n, 4096)) }
