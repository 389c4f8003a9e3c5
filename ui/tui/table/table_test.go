package table

import (
	"slices"
	"testing"
)

func TestColumnsFitTheWidth(t *testing.T) {
	cols := []Column{
		{Title: "STATE", Width: 12}, {Title: "MODE", Width: 5, Rank: 2}, {Title: "SERVER", Width: 10, Grow: 1, Max: 14, Rank: 4},
		{Title: "TYPE", Width: 16, Grow: 2, Max: 20}, {Title: "EVIDENCE", Width: 22, Grow: 3, Rank: 3, Wanted: 34}, {Title: "RATE", Width: 16, Rank: 6, Right: true},
	}
	for room := range 160 {
		used := 0
		for i, w := range fitColumns(cols, make([]int, len(cols)), room) {
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

// Empty columns give their width to columns that are cut, and keep it if none is.
func TestEmptyColumnsGiveTheirWidth(t *testing.T) {
	cols := []Column{{Width: 8}, {Width: 8, Rank: 1}, {Width: 10, Rank: 3}, {Width: 12, Grow: 1, Rank: 2}}
	for _, c := range []struct {
		room        int
		needs, want []int
	}{
		{42, []int{8, 8, 0, 0}, []int{8, 8, 10, 12}},
		{42, []int{8, 30, 0, 0}, []int{8, 30, 0, 0}},
		{42, []int{8, 15, 0, 0}, []int{8, 15, 0, 16}},
		{42, []int{8, 30, 5, 0}, []int{8, 21, 10, 0}},
		{30, []int{8, 8, 10, 0}, []int{8, 8, 10, 0}},
		{42, []int{0, 0, 0, 0}, []int{8, 8, 10, 12}},
	} {
		if got := fitColumns(cols, c.needs, c.room); !slices.Equal(got, c.want) {
			t.Errorf("in %d cells %v get %v, want %v", c.room, c.needs, got, c.want)
		}
	}
}

// Before others grow, free cells go to columns that are cut, first to those that need the fewest.
func TestCutColumnsGetFreeCellsFirst(t *testing.T) {
	cols := []Column{{Width: 10, Grow: 1, Max: 14}, {Width: 8}, {Width: 20, Grow: 3}}
	for _, c := range []struct {
		room        int
		needs, want []int
	}{
		{41, []int{5, 5, 5}, []int{10, 8, 20}},
		{51, []int{18, 10, 20}, []int{18, 10, 20}},
		{51, []int{12, 9, 400}, []int{12, 9, 27}},
		{45, []int{400, 400, 400}, []int{11, 10, 21}},
	} {
		if got := fitColumns(cols, c.needs, c.room); !slices.Equal(got, c.want) {
			t.Errorf("in %d cells %v get %v, want %v", c.room, c.needs, got, c.want)
		}
	}
}
