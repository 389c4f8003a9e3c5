// Package board has the tables of subscriptions, of gaps, of what servers hold for this host,
// of refused deliveries and of what was caught up on at the start, and the logs: audit, wire,
// and that of the program.
package board

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

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

// Env is what the tables need.
type Env struct {
	*cells.Env
	Screen
	Host  Host
	Snap  *host.Snapshot // the newest one; the screen writes to it
	Stats *host.Stats    // of the run, as they were read last

	Scope      func() query.Node       // to which tables are limited
	Place      func(query.Node) string // names a part of the tree
	Focused    func() bool             // the table has the focus
	Sub        func(id event.SubID) *host.SubscriptionView
	Cursorless func(v *host.SubscriptionView) bool // its type has no replay
}

// when is the cell of a row's time; at tells that of any row. Times may be told as the time
// since the row above.
func (e *Env) when(i int, at func(i int) time.Time, layout string) table.Cell {
	above := time.Time{}
	if i > 0 {
		above = at(i - 1)
	}
	return table.Say(themes.Dim, e.When(at(i), above, layout))
}

// Screen is what tables ask of the screen around them.
type Screen interface {
	widget.Keyed
	Jump(seq uint64) tea.Cmd       // shows a record in the stream
	JumpToSub(id event.SubID) bool // chooses a subscription in the tree; false: there is none
}

// Host is what tables read of the host, by commands; the rings also on the event loop.
type Host interface {
	Log() *eventlog.Log
	Audit() *eventlog.Audit
	Wire() *eventlog.Ring[host.WireFrame]
	AppLog() *eventlog.Ring[host.LogLine]
	Refusals() []event.Refusal
	Remote(ctx context.Context, server string) ([]host.RemoteSubscription, error)
	EndRemote(ctx context.Context, server string, id trust.Text) error
}
