package board_test

import (
	"testing"

	"eventdeck/ui/tui/board"
	"eventdeck/ui/tui/table"
)

// Saved states of tables and columns that no longer exist are ignored.
func TestUnknownSavedStatesAreIgnored(t *testing.T) {
	b := board.New(&board.Env{})
	table.Restore([]table.State{{Name: "Subscriptions", Sort: "NO SUCH COLUMN", Reverse: true}, {Name: "No such table", Shown: true}, {Name: "Wire", Shown: true, Sort: "AT"}}, &b.Subs, &b.Log)
	sort, _ := b.Subs.Tabs[0].Order()
	wire, _ := b.Log.Tabs[1].Order()
	if sort != "" || b.Subs.On != 0 || b.Log.On != 1 || wire != "" {
		t.Errorf("restored %+v", b)
	}
}
