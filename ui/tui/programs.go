package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/external"
)

// Interrupts ends the program at an interrupt, but not while another program has the
// terminal.
type Interrupts = external.Interrupts

// readerActions open payloads in programs of the operator.
func readerActions() []action {
	show := func(p external.Program) func(*app) tea.Cmd {
		return func(a *app) tea.Cmd {
			r, ok := a.detail.Payload()
			if !ok {
				return nil
			}
			return a.programs.Show(a.ctx, p, detail.PayloadOf(&r))
		}
	}
	return grouped("Event",
		action{id: "pager", title: "read the payload in $PAGER", needs: anEvent, keys: []string{"o"}, panes: onEvent, when: (*app).onPayload, run: show(external.Pager)},
		action{id: "editor", title: "open the payload in $EDITOR", needs: anEvent, keys: []string{"O"}, panes: onEvent, when: (*app).onPayload, run: show(external.Editor)},
	)
}

// EditText has the operator's editor change a text.
func (a *app) EditText(text string, then func(text string) tea.Cmd) tea.Cmd {
	return a.programs.EditText(a.ctx, text, then)
}
