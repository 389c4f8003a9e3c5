// Package wiring puts parts together for the command line: the screen, and what runs
// reactions. The program and the tests of the whole program use the same.
package wiring

import (
	"context"

	"eventdeck/host/react/rules"
	"eventdeck/ui/cli/program"
	"eventdeck/ui/tui"
	"eventdeck/ui/tui/react"
)

// Screen returns what shows the screen, which tells in when it lends the terminal; it is
// [program.Program.Screen].
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
