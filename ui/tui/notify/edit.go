package notify

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/widget"
)

// Edit opens the settings in the operator's editor: those that were refused last, else the present
// ones. keep saves them after a change.
func (n *Notifier) Edit(screen widget.Screen, keep func() tea.Cmd) tea.Cmd {
	text := n.refused
	if text == "" {
		s := n.Settings
		if len(s.Rules) == 0 {
			s.Rules = []Rule{{}} // to fill in
		}
		raw, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			screen.Fail("cannot edit the notifications", err)
			return nil
		}
		text = string(raw) + "\n"
	}
	return screen.EditText(text, func(text string) tea.Cmd {
		if err := n.Read(text); err != nil {
			screen.Fail("the notifications are unchanged, "+screen.KeyOf("notify")+" edits them again", err)
			return nil
		}
		if n.Settings.On {
			screen.Tell("notifications are on")
		} else {
			screen.Tell("notifications are off")
		}
		return keep()
	})
}
