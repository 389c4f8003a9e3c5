package board

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// refusals lists the refused webhook deliveries, the newest first.
type refusals struct {
	env     *Env
	list    []event.Refusal
	asked   hostVersion // when they were read last
	busy    bool
	changed bool // since the rows were loaded
}

func (t *refusals) Columns() []table.Column {
	return []table.Column{
		{Title: "AT", Width: 15},
		{Title: "STATUS", Width: 6, Right: true},
		{Title: "REASON", Width: 24, Grow: 3},
		{Title: "SUB", Width: 8, Rank: 1},
		{Title: "TYPE", Width: 16, Grow: 1, Rank: 3},
		{Title: "BYTES", Width: 9, Right: true, Rank: 2},
	}
}

func (t *refusals) Load() (changed bool) {
	changed, t.changed = t.changed, false
	return changed
}

// Work reads the refusals again when the host may have changed.
func (t *refusals) Work() tea.Cmd {
	now := hostVersionOf(t.env)
	if t.busy || now == t.asked {
		return nil
	}
	t.busy, t.asked = true, now
	return t.env.Do(func(context.Context) tea.Msg {
		list := t.env.Host.Refusals()
		return widget.Then(func() tea.Cmd {
			t.busy = false
			t.changed = t.changed || len(list) != len(t.list) || len(list) == refusalsKept
			t.list = list
			return nil
		})
	})
}

// refusalsKept is the number of refusals that the store keeps. From then on their number no longer
// shows that there is a new one.
const refusalsKept = 1_000

func (t *refusals) Len() int { return len(t.list) }

// ID is made of time and reason, since a refusal has no id of its own.
func (t *refusals) ID(i int) table.RowID {
	return table.RowID{Seq: uint64(t.list[i].At.UnixNano()), Name: t.list[i].Reason}
}

func (t *refusals) Find(id table.RowID) int {
	return slices.IndexFunc(t.list, func(r event.Refusal) bool {
		return uint64(r.At.UnixNano()) == id.Seq && r.Reason == id.Name
	})
}

func (t *refusals) Cell(i, col int) table.Cell {
	r := &t.list[i]
	switch col {
	case 0:
		return t.env.when(i, func(i int) time.Time { return t.list[i].At }, cells.StampDay)
	case 1:
		return table.Say(themes.Plain, answered(r))
	case 2:
		return table.Say(themes.Warn, r.Reason)
	case 3:
		return table.Say(themes.Dim, string(r.Sub))
	case 4:
		if v := query.FindSub(t.env.Snap, r.Sub); v != nil {
			return table.Cell{Role: themes.Type, Text: trust.Line(v.Key.Type)}
		}
		return table.Cell{}
	}
	return table.Say(themes.Dim, cells.Number(uint64(max(r.Bytes, 0))))
}

// answered returns the HTTP status of the answer to a delivery; an event that came by poll or push has
// none.
func answered(r *event.Refusal) string {
	if r.Status == 0 {
		return "–"
	}
	return cells.Number(uint64(r.Status))
}

func (t *refusals) Describe(d *detail.Text, id table.RowID) {
	e := t.env
	i := t.Find(id)
	if i < 0 {
		return
	}
	r := &t.list[i]
	what := "A delivery that was not taken"
	switch {
	case r.Status == 0:
		what = "An event whose data were not taken"
	case r.Status < 300:
		what = "A delivery whose data were not taken"
	}
	d.Say("", themes.Strong, what)
	d.Say("at      ", themes.Plain, cells.TimeText(r.At, d.Zone(), cells.StampFull))
	d.Say("reason  ", themes.Warn, r.Reason)
	d.Say("answered", themes.Plain, answered(r))
	d.Say("size    ", themes.Plain, cells.Count(int(max(r.Bytes, 0)), "byte")+"; the body was not kept")
	if v := query.FindSub(e.Snap, r.Sub); v != nil {
		d.Say("", themes.Plain, "")
		d.Subscription(v, query.Cursorless(e.Snap, v))
	} else {
		d.Say("path    ", themes.Plain, "no subscription here has it")
	}
}

func (t *refusals) EmptyText() []string {
	if err := t.env.Snap.ReceiverErr; err != "" {
		return []string{"The receiver does not run, so no delivery arrives.", err}
	}
	if t.env.Snap.Receiver == "" {
		return []string{"No webhook subscription, so nothing is received and nothing refused."}
	}
	return []string{"No delivery was refused."}
}
