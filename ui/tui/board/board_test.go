package board

import (
	"testing"

	"eventdeck/ui/tui/table"
)

// What is kept of a table that has changed since is left out.
func TestForeignTableMemo(t *testing.T) {
	b := New(&Env{})
	table.Restore([]table.State{{Name: "Subscriptions", Sort: "NO SUCH COLUMN", Reverse: true}, {Name: "No such table", Shown: true}, {Name: "Wire", Shown: true, Sort: "AT"}}, &b.Subs, &b.Log)
	sort, _ := b.Subs.Tabs[0].Order()
	wire, _ := b.Log.Tabs[1].Order()
	if sort != "" || b.Subs.On != 0 || b.Log.On != 1 || wire != "" {
		t.Errorf("recalled %+v", b)
	}
}
