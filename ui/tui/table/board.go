package table

import (
	"fmt"
	"strings"

	"eventdeck/ui/tui/cells"
)

// Board has tables on tabs, of which one is shown.
type Board struct {
	Number string // the key that opens the board
	Tabs   []*Table
	On     int // the index of the tab that is shown
}

// Table returns the table that is shown.
func (b *Board) Table() *Table { return b.Tabs[b.On] }

// Last shows the last tab and chooses the last row of its table.
func (b *Board) Last() {
	b.On = len(b.Tabs) - 1
	b.Table().End(true)
}

// Turn shows the next tab, or for step -1 the previous one.
func (b *Board) Turn(step int) { b.On = (b.On + step + len(b.Tabs)) % len(b.Tabs) }

// Title returns the names of the tabs, with the shown one in brackets; it is [Board.Short] if that
// is wider than room cells.
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

// Short returns the name of the shown tab, its number and the number of tabs.
func (b *Board) Short() string {
	return fmt.Sprintf("%s [%s] %d/%d", b.Number, b.Table().Name, b.On+1, len(b.Tabs)) + b.found()
}

// found returns the text that limits the rows, "" for none.
func (b *Board) found() string {
	if t := b.Table(); t.Text != "" {
		return " / " + cells.Sanitize(t.Text).Plain()
	}
	return ""
}
