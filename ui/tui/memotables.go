package tui

import "slices"

// memoTable is what is remembered of a table: whether it is the one that its
// screen shows, and its order. Columns are remembered by their titles, so that
// they may move.
type memoTable struct {
	Name    string `json:"name"`
	Shown   bool   `json:"shown,omitempty"`
	Sort    string `json:"sort,omitempty"`
	Reverse bool   `json:"reverse,omitempty"`
}

// each goes through all tables.
func (b *boards) each(fn func(of *board, i int, t *table)) {
	for _, of := range []*board{&b.subs, &b.log} {
		for i, t := range of.tabs {
			fn(of, i, t)
		}
	}
}

// memo tells what is not as at a first start.
func (b *boards) memo() (out []memoTable) {
	b.each(func(of *board, i int, t *table) {
		m := memoTable{Name: t.name, Shown: i > 0 && i == of.on, Reverse: t.reverse}
		if t.sort >= 0 {
			m.Sort = t.src.columns()[t.sort].title
		}
		if m != (memoTable{Name: t.name}) {
			out = append(out, m)
		}
	})
	return out
}

// recall shows the tables as they were. What is not known any more is left out.
func (b *boards) recall(kept []memoTable) {
	b.each(func(of *board, i int, t *table) {
		k := slices.IndexFunc(kept, func(m memoTable) bool { return m.Name == t.name })
		if k < 0 {
			return
		}
		if kept[k].Shown {
			of.on = i
		}
		s, sorts := t.src.(sorter)
		col := slices.IndexFunc(t.src.columns(), func(c tableColumn) bool { return c.title == kept[k].Sort })
		if sorts && col >= 0 && kept[k].Sort != "" {
			t.sort, t.reverse = col, kept[k].Reverse
			s.sortBy(col, t.reverse)
		}
	})
}
