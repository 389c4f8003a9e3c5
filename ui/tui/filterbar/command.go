package filterbar

import (
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// errNoFilter: there is no filter to turn off or on.
var errNoFilter = errors.New("there is no filter")

// Run runs the command with typed words. Errors: [evidence.ErrUsage], that a text is not a filter, or
// that there is no filter.
func (b *Bar) Run(typed []string) (tea.Cmd, error) {
	if len(typed) == 0 {
		return b.Open(), nil
	}
	q := b.env.Stream.Query
	switch off := typed[0] == "off"; {
	case typed[0] == "set":
		q, err := query.New(q.Node, strings.Join(typed[1:], " "), b.env.Clock())
		if err == nil {
			b.env.Stream.Show(q)
		}
		return nil, err
	case len(typed) > 1 || !off && typed[0] != "on":
		return nil, evidence.ErrUsage
	case q.Text == "":
		return nil, errNoFilter
	case q.Off != off:
		b.setOff(off)
	}
	return nil, nil
}

// Complete returns candidates for the last word of the command.
func (b *Bar) Complete(typed []string) []string {
	if len(typed) == 1 {
		return []string{"set", "off", "on"}
	}
	return nil
}
