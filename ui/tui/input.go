package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/widget"
)

// input is what gets keys and the mouse: the panes, one of which has the focus, and the dialog or
// prompt that has it instead.
type input struct {
	panes        layout.Screen
	dialog       widget.Dialog  // has the focus; nil: none is shown
	dialogClosed bool           // a dialog closed without a key or a click, and no key was pressed since
	prompt       *widget.Prompt // has the focus if there is no dialog; nil: none is open
	mouse        mouse

	clusters tea.ModeReportMsg // the terminal's answer whether it measures by grapheme clusters (mode 2027); zero: none

	lastBack time.Time // when the quit key last went one step back
	quitting bool      // the operator was asked about quitting, or it has begun: quitting again ends at once
}

// Shown returns the dialog that is shown, nil for none.
func (in *input) Shown() widget.Dialog { return in.dialog }

// Show replaces the shown dialog; nil closes it.
func (in *input) Show(d widget.Dialog) {
	in.dialog = d
	if d != nil && in.panes.W > 0 {
		d.Size(in.panes.W, in.panes.H) // its hints may depend on its size
	}
}

// AskLine opens a prompt with a text.
func (in *input) AskLine(p *widget.Prompt, text string) {
	p.Field.Set(text)
	in.prompt = p
}

// Line returns the open prompt, nil for none.
func (in *input) Line() *widget.Prompt { return in.prompt }

// EnterStream moves the focus to the stream.
func (in *input) EnterStream() { in.panes.Enter(layout.Stream) }

// meantForDialog reports whether a key was meant for a dialog that has closed by itself.
func (in *input) meantForDialog(name string) bool {
	meant := name == "esc" && in.dialog == nil && in.dialogClosed
	in.dialogClosed = false
	return meant
}
