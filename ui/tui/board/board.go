package board

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/ui/tui/cells"
)

// Board is a screen of tables, of which one is shown.
type Board struct {
	number string
	tabs   []*Table
	On     int
}

// Boards are the screens beside that of the stream.
type Boards struct{ Subs, Log Board }

// New makes the screens with all of their tables.
func New(e *Env) Boards {
	return Boards{
		Subs: Board{number: "4", tabs: []*Table{
			newTable(e, "Subscriptions", newSubsTable(e), false),
			newTable(e, "Gaps", newGapLedger(e), false),
			newTable(e, "At servers", newRemotes(e), false),
			newTable(e, "Refused", &refusals{env: e}, false),
			newTable(e, "Resumed", &resumed{env: e}, false),
		}},
		Log: Board{number: "5", tabs: []*Table{
			newTable(e, "Audit", newAuditLog(e), true),
			newTable(e, "Wire", newWireLog(e), true),
			newTable(e, "App", newAppLog(e), true),
		}},
	}
}

// Table is the one that is shown.
func (b *Board) Table() *Table { return b.tabs[b.On] }

// Last shows the last tab, and the newest of its rows.
func (b *Board) Last() {
	b.On = len(b.tabs) - 1
	b.Table().End(true)
}

// Turn shows the next tab.
func (b *Board) Turn(step int) { b.On = (b.On + step + len(b.tabs)) % len(b.tabs) }

// Title names the tabs; the one that is shown stands in brackets.
func (b *Board) Title(room int) string {
	names := make([]string, len(b.tabs))
	for i, t := range b.tabs {
		names[i] = t.Name
		if i == b.On {
			names[i] = "[" + t.Name + "]"
		}
	}
	s := b.number + " " + strings.Join(names, " ")
	if len(s) > room {
		s = fmt.Sprintf("%s %s %d/%d", b.number, names[b.On], b.On+1, len(b.tabs))
	}
	if t := b.tabs[b.On]; t.Text != "" {
		s += " / " + cells.Sanitize(t.Text).Plain()
	}
	return s
}

// worker is a source that reads what takes long.
type worker interface{ Work() tea.Cmd }

// moment tells whether what the host has may have changed.
type moment struct {
	version, last uint64
	second        int64
}

func momentOf(e *Env) moment { return moment{e.Snap.Version, e.Snap.Last, e.Clock().Unix()} }
