package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/external"
)

// Interrupts ends the program at an interrupt, but not while another program has the
// terminal.
type Interrupts = external.Interrupts

// EditText returns a command that opens a text in the operator's editor.
func (a *app) EditText(text string, then func(text string) tea.Cmd) tea.Cmd {
	return a.outside.Programs.EditText(a.schedule.Context(), text, then)
}
