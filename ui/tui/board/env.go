// Package board has the tables of subscriptions, gaps, subscriptions at servers, refused deliveries
// and the catch-up at the start, and the logs: audit, wire, and that of the program.
package board

import (
	"context"
	"time"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/table"
	"eventdeck/ui/tui/widget"
)

// Env has what the tables need from the screen.
type Env struct {
	*cells.Env
	widget.Screen
	Host  Host
	Snap  *host.Snapshot // the newest one; the screen writes to it
	Stats *host.Stats    // the statistics of the run, as they were read last

	Scope   func() query.Node       // the node to which scoped tables are limited
	Place   func(query.Node) string // describes a node
	Focused func() bool             // the table has the focus
}

// when returns the cell for the time of row i; at returns the time of any row, because times may be
// shown relative to the row above.
func (e *Env) when(i int, at func(i int) time.Time, layout string) table.Cell {
	above := time.Time{}
	if i > 0 {
		above = at(i - 1)
	}
	return table.Say(themes.Dim, e.When(at(i), above, layout))
}

// Host is the part of the host that tables use in the background; the rings are also read on the event
// loop.
type Host interface {
	Log() *eventlog.Log
	Audit() *eventlog.Audit
	Wire() *eventlog.Ring[host.WireFrame]
	AppLog() *eventlog.Ring[host.LogLine]
	Refusals() []event.Refusal
	Remote(ctx context.Context, server string) ([]host.RemoteSubscription, error)
	EndRemote(ctx context.Context, server string, id trust.Text) error
}
