package table

import "slices"

// Memo is what is remembered of a table: whether it is the one that its
// screen shows, and its order. Columns are remembered by their titles, so that
// they may move.
type Memo struct {
	Name    string `json:"name"`
	Shown   bool   `json:"shown,omitempty"`
	Sort    string `json:"sort,omitempty"`
	Reverse bool   `json:"reverse,omitempty"`
}

// Memos tells what of the boards is not as at a first start.
func Memos(boards ...*Board) (out []Memo) {
	for _, b := range boards {
		for i, t := range b.Tabs {
			m := Memo{Name: t.Name, Shown: i > 0 && i == b.On, Reverse: t.reverse}
			if t.sort >= 0 {
				m.Sort = t.Src.Columns()[t.sort].Title
			}
			if m != (Memo{Name: t.Name}) {
				out = append(out, m)
			}
		}
	}
	return out
}

// Recall shows the boards as they were. What is not known any more is left out.
func Recall(kept []Memo, boards ...*Board) {
	for _, b := range boards {
		for i, t := range b.Tabs {
			k := slices.IndexFunc(kept, func(m Memo) bool { return m.Name == t.Name })
			if k < 0 {
				continue
			}
			if kept[k].Shown {
				b.On = i
			}
			s, sorts := t.Src.(Sorter)
			col := slices.IndexFunc(t.Src.Columns(), func(c Column) bool { return c.Title == kept[k].Sort })
			if sorts && col >= 0 && kept[k].Sort != "" {
				t.sort, t.reverse = col, kept[k].Reverse
				s.SortBy(col, t.reverse)
			}
		}
	}
}
