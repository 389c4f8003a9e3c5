package table

import (
	"fmt"
	"strings"

	"eventdeck/ui/tui/cells"
)

// Board has tables behind tabs, of which one is shown.
type Board struct {
	Number string // the key that leads to it
	Tabs   []*Table
	On     int // the index of the tab that is shown
}

// Table returns the table that is shown.
func (b *Board) Table() *Table { return b.Tabs[b.On] }

// Last shows the last tab and chooses its last row.
func (b *Board) Last() {
	b.On = len(b.Tabs) - 1
	b.Table().End(true)
}

// Turn shows the next tab, or with step -1 the one before.
func (b *Board) Turn(step int) { b.On = (b.On + step + len(b.Tabs)) % len(b.Tabs) }

// Title names the tabs, with the one that is shown in brackets; where that does not fit into so
// many cells it is [Board.Short].
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
		return b.Short()
	}
	return s + b.found()
}

// Short names only the tab that is shown, and which of how many it is.
func (b *Board) Short() string {
	return fmt.Sprintf("%s [%s] %d/%d", b.Number, b.Table().Name, b.On+1, len(b.Tabs)) + b.found()
}

// found is the text that the rows must have.
func (b *Board) found() string {
	if t := b.Table(); t.Text != "" {
		return " / " + cells.Sanitize(t.Text).Plain()
	}
	return ""
}
