// Changes existing subscriptions and servers. It asks before it does what cannot
// be undone.

package form

import (
	"context"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Manager carries out the operator's actions on subscriptions and servers.
type Manager struct {
	*cells.Env
	widget.Screen
	Host    ManagerHost
	Snap    *host.Snapshot
	Servers config.Source // where servers are configured; it may have no file
	// Passing reports whether a server ends with this program, as those of the demo do.
	Passing func(server string) bool
}

// ManagerHost is the part of the host that the actions use, in the background; see [host.Actor].
type ManagerHost interface {
	Subscribe(ctx context.Context, r host.Request) (event.Subscription, error)
	Unsubscribe(ctx context.Context, id event.SubID) error
	Pause(ctx context.Context, id event.SubID) error
	Resume(ctx context.Context, id event.SubID) error
	Refresh(ctx context.Context, id event.SubID) error
	SetMode(ctx context.Context, id event.SubID, m event.Mode) error
	SetFailover(ctx context.Context, id event.SubID, on bool) error
	ResetCursor(ctx context.Context, id event.SubID, from host.From) error
	RotateSecret(ctx context.Context, id event.SubID) error
	RemoveServer(ctx context.Context, name string) error
	Reconnect(server string) error
	SignOut(ctx context.Context, server string) error
}
