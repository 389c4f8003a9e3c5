package table

import "slices"

// State is the saved state of a table: whether its board shows it, and its order. Columns are saved
// by their titles, so that they may move.
type State struct {
	Name    string `json:"name"`
	Shown   bool   `json:"shown,omitempty"`
	Sort    string `json:"sort,omitempty"`
	Reverse bool   `json:"reverse,omitempty"`
}

// States returns the states of the tables that differ from the initial state.
func States(boards ...*Board) (out []State) {
	for _, b := range boards {
		for i, t := range b.Tabs {
			m := State{Name: t.Name, Shown: i > 0 && i == b.On, Reverse: t.reverse}
			if t.sort >= 0 {
				m.Sort = t.Src.Columns()[t.sort].Title
			}
			if m != (State{Name: t.Name}) {
				out = append(out, m)
			}
		}
	}
	return out
}

// Restore shows and sorts the tables as they were saved. It ignores tables and columns that no
// longer exist.
func Restore(saved []State, boards ...*Board) {
	for _, b := range boards {
		for i, t := range b.Tabs {
			k := slices.IndexFunc(saved, func(m State) bool { return m.Name == t.Name })
			if k < 0 {
				continue
			}
			if saved[k].Shown {
				b.On = i
			}
			s, sorts := t.Src.(Sorter)
			col := slices.IndexFunc(t.Src.Columns(), func(c Column) bool { return c.Title == saved[k].Sort })
			if sorts && col >= 0 && saved[k].Sort != "" {
				t.sort, t.reverse = col, saved[k].Reverse
				s.SortBy(col, t.reverse)
			}
		}
	}
}
