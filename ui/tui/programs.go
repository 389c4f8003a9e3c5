package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/action"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/external"
)

// Interrupts ends the program at an interrupt, but not while another program has the
// terminal.
type Interrupts = external.Interrupts

// readerActions open payloads in programs of the operator.
func (a *app) readerActions() []action.Action {
	show := func(p external.Program) func() tea.Cmd {
		return func() tea.Cmd {
			r, ok := a.detail.Payload()
			if !ok {
				return nil
			}
			return a.outside.Programs.Show(a.wake.Context(), p, detail.PayloadOf(&r))
		}
	}
	return action.Grouped("Event",
		action.Action{ID: "pager", Title: "read the payload in $PAGER", Needs: action.Event, Keys: []string{"o"}, Panes: onEvent, When: a.onPayload, Run: show(external.Pager)},
		action.Action{ID: "editor", Title: "open the payload in $EDITOR", Needs: action.Event, Keys: []string{"O"}, Panes: onEvent, When: a.onPayload, Run: show(external.Editor)},
	)
}

// EditText has the operator's editor change a text.
func (a *app) EditText(text string, then func(text string) tea.Cmd) tea.Cmd {
	return a.outside.Programs.EditText(a.wake.Context(), text, then)
}
