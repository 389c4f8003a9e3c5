package table

import (
	"fmt"
	"strings"

	"eventdeck/ui/tui/cells"
)

// Board is a screen of tables, of which one is shown.
type Board struct {
	Number string // the key that leads to it
	Tabs   []*Table
	On     int
}

// Table is the one that is shown.
func (b *Board) Table() *Table { return b.Tabs[b.On] }

// Last shows the last tab, and the newest of its rows.
func (b *Board) Last() {
	b.On = len(b.Tabs) - 1
	b.Table().End(true)
}

// Turn shows the next tab.
func (b *Board) Turn(step int) { b.On = (b.On + step + len(b.Tabs)) % len(b.Tabs) }

// Title names the tabs; the one that is shown stands in brackets.
func (b *Board) Title(room int) string {
	names := make([]string, len(b.Tabs))
	for i, t := range b.Tabs {
		names[i] = t.Name
		if i == b.On {
			names[i] = "[" + t.Name + "]"
		}
	}
	s := b.Number + " " + strings.Join(names, " ")
	if len(s) > room {
		s = fmt.Sprintf("%s %s %d/%d", b.Number, names[b.On], b.On+1, len(b.Tabs))
	}
	if t := b.Tabs[b.On]; t.Text != "" {
		s += " / " + cells.Sanitize(t.Text).Plain()
	}
	return s
}
