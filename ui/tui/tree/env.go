// Package tree is the pane of servers, event types and subscriptions, with saved views and marks
// below them.
package tree

import (
	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Env has what the tree needs from the screen.
type Env struct {
	*cells.Env
	Snap    *host.Snapshot // the newest one; the screen writes to it
	Focused func() bool    // the tree has the focus
	KeyOf   func(action string) string
	// RecentCounts returns the events of a subscription in each of the last n seconds, nil if
	// there were none.
	RecentCounts func(id event.SubID, n int) []uint32
	Lessons      func() []widget.Lesson // how to add servers
}
