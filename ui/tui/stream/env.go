// Package stream has the pane of arriving records: the window on the log, rows and
// their columns, marks, the range that is selected. What is chosen and shown are
// sequence numbers, so that arrivals move nothing that is being read.
package stream

import (
	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/ui/tui/cells"
)

// Env is what the stream is made from. Its functions tell what the screen knows.
type Env struct {
	*cells.Env
	Snap    *host.Snapshot // the newest one; the screen writes to it
	Focused func() bool    // the stream has the focus
	Found   func() string  // what is searched, in lower case
	// Terse reports whether times are short, and whether rows are their summaries alone.
	Terse     func() (short, only bool)
	TypeOf    func(r *event.Record) event.Type
	DrawEmpty func(c *cells.Canvas, h int) // writes what an empty stream says that has the focus
}
