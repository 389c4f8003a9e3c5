// Package form has the dialogs to subscribe and to change the delivery mode, to add and import
// servers, and to sign in. They use the host only in the background.
package form

import (
	"context"

	"eventdeck/host"
	"eventdeck/host/config"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Env has what forms need from the screen.
type Env struct {
	*cells.Env
	widget.Screen
	Host    Host
	Servers config.Source              // where servers are configured
	Browse  func(address string) error // opens an address in the operator's browser

	Snap *host.Snapshot // the newest one; the screen writes to it
	// Elsewhere returns a command for a shell, "" if other processes do not know the server.
	Elsewhere func(server, command string) string
}

// Host is the part of the host that forms use in the background; see [host.API].
type Host interface {
	Check(ctx context.Context, r host.Request) (event.Mode, error)
	Preview(r host.Request) (host.Preview, error)
	Subscribe(ctx context.Context, r host.Request) (event.Subscription, error)
	Unsubscribe(ctx context.Context, id event.SubID) error
	SetMode(ctx context.Context, id event.SubID, m event.Mode) error
	SetFailover(ctx context.Context, id event.SubID, on bool) error
	TestServer(ctx context.Context, s event.Server) (host.ServerView, error)
	AddServer(s event.Server)
	SignIn(ctx context.Context, server string) (host.SignIn, error)
	Setting(key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
}
