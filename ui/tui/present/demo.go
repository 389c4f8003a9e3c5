package present

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/widget"
)

// Demo is the demo servers that the screen started. They end with the program.
type Demo struct {
	Names    []string
	starting bool
}

// Starting reports whether the demo servers are being started.
func (d *Demo) Starting() bool { return d.starting }

// Has reports whether a server is a demo server.
func (d *Demo) Has(server string) bool { return slices.Contains(d.Names, server) }

// Begin calls start, which starts the demo servers and returns their names, then then.
func (d *Demo) Begin(screen widget.Screen, start func(context.Context) ([]string, error), then func() tea.Cmd) tea.Cmd {
	d.starting = true
	screen.Tell("starting the demo servers …")
	return screen.Do(func(ctx context.Context) tea.Msg {
		names, err := start(ctx)
		return widget.Then(func() tea.Cmd {
			if d.starting = false; err != nil {
				screen.Fail("the demo servers", err)
				return nil
			}
			d.Names = names
			screen.Tell("the demo servers run inside this program and end with it")
			return then()
		})
	})
}
