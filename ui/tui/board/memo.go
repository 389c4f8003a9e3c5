package board

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

// each goes through all tables.
func (b *Boards) each(fn func(of *Board, i int, t *Table)) {
	for _, of := range []*Board{&b.Subs, &b.Log} {
		for i, t := range of.tabs {
			fn(of, i, t)
		}
	}
}

// Memo tells what is not as at a first start.
func (b *Boards) Memo() (out []Memo) {
	b.each(func(of *Board, i int, t *Table) {
		m := Memo{Name: t.Name, Shown: i > 0 && i == of.On, Reverse: t.reverse}
		if t.sort >= 0 {
			m.Sort = t.src.columns()[t.sort].title
		}
		if m != (Memo{Name: t.Name}) {
			out = append(out, m)
		}
	})
	return out
}

// Recall shows the tables as they were. What is not known any more is left out.
func (b *Boards) Recall(kept []Memo) {
	b.each(func(of *Board, i int, t *Table) {
		k := slices.IndexFunc(kept, func(m Memo) bool { return m.Name == t.Name })
		if k < 0 {
			return
		}
		if kept[k].Shown {
			of.On = i
		}
		s, sorts := t.src.(sorter)
		col := slices.IndexFunc(t.src.columns(), func(c tableColumn) bool { return c.title == kept[k].Sort })
		if sorts && col >= 0 && kept[k].Sort != "" {
			t.sort, t.reverse = col, kept[k].Reverse
			s.sortBy(col, t.reverse)
		}
	})
}
