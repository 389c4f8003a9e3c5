// Package wiring connects the screen and the engine of reactions with the command line, for the
// program and for the tests of the whole program.
package wiring

import (
	"context"

	"eventdeck/host/react/rules"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/tui"
	"eventdeck/ui/tui/react"
)

// Screen returns the function that runs the screen; it is [program.Program.Screen]. The screen
// tells in when another program has the terminal.
func Screen(in *tui.Interrupts) func(context.Context, program.ScreenOptions) error {
	return func(ctx context.Context, o program.ScreenOptions) error {
		return tui.Run(ctx, tui.Options{
			API: o.API, React: o.React, Rules: react.Writer{Add: rules.Add, Text: rules.Written, Remove: rules.Remove}, Demo: o.Demo, Input: o.Input, Output: o.Output, NoColor: o.NoColor,
			Present: o.Present, Session: o.Session, View: o.View, Theme: o.Theme, ThemeDir: o.ThemeDir, Glyphs: o.Glyphs,
			ReadOnly: o.ReadOnly, Settings: o.Settings,
			Servers: o.Servers, StartDemo: o.StartDemo, Interrupts: in,
		})
	}
}
