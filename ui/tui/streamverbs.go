package tui

import (
	"errors"
	"fmt"
	"sort"
	"time"

	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/stream"
)

// forgetPicks has the schemas read again when servers list other types.
func (a *app) forgetPicks() {
	n := 0
	for i := range a.snap.Servers {
		n = n*31 + len(a.snap.Servers[i].Types) + int(a.snap.Servers[i].Since.Unix()&0xffff)
	}
	if n != a.stream.Columns.Seen {
		a.stream.Columns.Seen = n
		clear(a.stream.Columns.Picks)
		clear(a.stream.Formed)
	}
}

// errNothingThere: the log has nothing at the place that was asked for.
var errNothingThere = errors.New("nothing is stored there")

// gotoSeq shows the record, or the nearest one before it that the stream shows.
func (a *app) gotoSeq(seq uint64) {
	if err := a.stream.Seek(a.api.Log(), seq); err != nil {
		a.Fail("cannot read the log", err)
		return
	}
	if a.stream.At != seq {
		a.Tell("the record itself is not shown: the filter or the scope hides it")
	}
	a.size = layout.Normal
	a.enter(layout.Stream)
}

// gotoTime shows what was received at a moment or next after it.
func (a *app) gotoTime(t time.Time) error {
	log := a.api.Log()
	last := log.Last()
	var err error
	i := sort.Search(int(last), func(i int) bool {
		r, e := log.Get(uint64(i) + 1)
		if e != nil {
			err = e
			return false
		}
		return !r.ReceivedAt.Before(t)
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot read the log: %w", err)
	case last == 0:
		return errNothingThere
	case uint64(i) == last:
		a.followNewest()
		a.Tell("nothing came after " + cells.TimeText(t, a.Times.Zone(), time.DateTime))
		return nil
	}
	a.gotoSeq(uint64(i) + 1)
	return nil
}

// eventAt returns a record of the log, for texts about it.
func (a *app) eventAt(seq uint64) (event.Record, bool) {
	r, err := a.api.Log().Get(seq)
	return r, err == nil
}

// selectRange begins a range at the chosen record, or ends it.
func (a *app) selectRange() {
	s := &a.stream
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
	a.stream.Selected = stream.Selection{On: true, From: a.api.Log().Last(), All: true}
	a.enter(layout.Stream)
	a.Tell("everything shown is selected; " + a.KeyOf("export") + " writes it, esc ends it")
}

// selectedRecords calls fn for the records of the range that the stream shows,
// oldest first, or for the chosen one, until fn returns false.
func (a *app) selectedRecords(fn func(event.Record) bool) error {
	first, last := a.stream.Ends()
	q := a.stream.Query
	return a.api.Log().After(first-1, func(r event.Record) bool {
		if r.Seq > last {
			return false
		}
		return !q.Matches(&r) || fn(r)
	})
}

// panStep is how far the stream pans, in cells.
const panStep = 8

// panBy moves the texts of the stream sideways.
func (a *app) panBy(n int) { a.stream.Pan = max(0, min(a.stream.Pan+n, 4096)) }
