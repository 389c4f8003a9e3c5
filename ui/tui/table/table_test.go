package table

import "testing"

func TestColumnsFitIntoTheRoom(t *testing.T) {
	cols := []Column{
		{Title: "STATE", Width: 12}, {Title: "MODE", Width: 5, Rank: 2}, {Title: "SERVER", Width: 10, Grow: 1, Most: 14, Rank: 4},
		{Title: "TYPE", Width: 16, Grow: 2, Most: 20}, {Title: "EVIDENCE", Width: 22, Grow: 3, Rank: 3, Wish: 34}, {Title: "RATE", Width: 16, Rank: 6, Right: true},
	}
	for room := range 160 {
		used := 0
		for i, w := range fitColumns(cols, room) {
			if w > 0 {
				used += w + 1
			}
			if cols[i].Rank == 0 && w < cols[i].Width {
				t.Fatalf("%s has %d of %d cells", cols[i].Title, w, cols[i].Width)
			}
		}
		if room >= 40 && used > room {
			t.Fatalf("%d cells are used of %d", used, room)
		}
	}
}
