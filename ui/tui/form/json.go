package form

import (
	"bytes"
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/schema"
	"eventdeck/ui/tui/widget"
)

// editJSON edits the arguments of the form as JSON.
func (f *Form) editJSON() tea.Cmd {
	text := string(f.model.JSON())
	if text == "{}" {
		text = string(schema.Skeleton(f.typ))
	}
	return f.env.EditText(indentJSON(text), f.TakeOver)
}

// TakeOver fills in the form with arguments that were edited as JSON.
func (f *Form) TakeOver(text string) tea.Cmd {
	if f.env.Shown() != widget.Dialog(f) {
		return nil
	}
	if err := f.model.Load([]byte(text)); err != nil {
		f.banner = banner{text: err.Error(), next: "nothing was taken over; ctrl+e tries again"}
		return nil
	}
	f.banner, f.edited = banner{}, true
	f.enter(f.items()[0])
	f.validate()
	return tea.Batch(f.check(), f.ask())
}

// indentJSON indents JSON; it returns any other text as it is.
func indentJSON(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return strings.TrimSpace(b.String()) + "\n"
}
