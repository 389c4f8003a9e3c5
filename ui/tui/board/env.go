// Package board has the screens that are tables: subscriptions, gaps, what servers
// hold for us, refused deliveries, what a start caught up on; audit, wire and the
// program's own log.
package board

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/host/eventlog"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// Env is what tables are made from.
type Env struct {
	*cells.Env
	Screen
	Host  Host
	Snap  *host.Snapshot // the newest one; the screen writes to it
	Stats *host.Stats    // of the run, as they were last asked for

	Scope      func() query.Node // to which tables are limited
	Focused    func() bool       // the table has the keys
	Sub        func(id event.SubID) *host.SubscriptionView
	Cursorless func(v *host.SubscriptionView) bool // its type has no replay
}

// Screen is what shows tables.
type Screen interface {
	widget.Screen
	KeyOf(action string) string // the operator's key of an action
	Jump(seq uint64) tea.Cmd    // shows a record in the stream
	JumpToSub(id event.SubID) bool
}

// Host is what tables read of the host.
type Host interface {
	Log() *eventlog.Log
	Audit() *eventlog.Audit
	Wire() *eventlog.Ring[host.WireFrame]
	AppLog() *eventlog.Ring[host.LogLine]
	Refusals() []event.Refusal
	Remote(ctx context.Context, server string) ([]host.RemoteSubscription, error)
	EndRemote(ctx context.Context, server string, id trust.Text) error
}
