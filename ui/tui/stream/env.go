// Package stream is the pane of arriving records: the window on the log, rows and columns, marks, the
// selected range. Positions are sequence numbers, so that arrivals do not move what is being read.
package stream

import (
	"eventdeck/host"
	"eventdeck/host/eventlog"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// Env has what the stream needs from the screen.
type Env struct {
	*cells.Env
	Screen    widget.Screen
	Panes     *layout.Screen
	Log       func() eventlog.Records
	Snap      *host.Snapshot               // the newest one; the screen writes to it
	Focused   func() bool                  // the stream has the focus
	Found     func() string                // the searched text in lower case
	DrawEmpty func(c *cells.Canvas, h int) // writes the text of an empty stream with the focus
}
