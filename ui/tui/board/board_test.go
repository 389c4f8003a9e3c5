package board

import "testing"

func TestColumnsFitIntoTheRoom(t *testing.T) {
	for room := range 160 {
		cols, used := newSubsTable(&Env{}).columns(), 0
		for i, w := range fitColumns(cols, room) {
			if w > 0 {
				used += w + 1
			}
			if cols[i].rank == 0 && w < cols[i].width {
				t.Fatalf("%s has %d of %d cells", cols[i].title, w, cols[i].width)
			}
		}
		if room >= 40 && used > room {
			t.Fatalf("%d cells are used of %d", used, room)
		}
	}
}

// What is kept of a table that has changed since is left out.
func TestForeignTableMemo(t *testing.T) {
	b := New(&Env{})
	b.Recall([]Memo{{Name: "Subscriptions", Sort: "NO SUCH COLUMN", Reverse: true}, {Name: "No such table", Shown: true}, {Name: "Wire", Shown: true, Sort: "AT"}})
	if b.Subs.tabs[0].sort != -1 || b.Subs.On != 0 || b.Log.On != 1 || b.Log.tabs[1].sort != -1 {
		t.Errorf("recalled %+v", b)
	}
}
