package table

import (
	"cmp"
	"slices"
)

// Column describes a column and its share of the width of the table. All widths are in cells.
type Column struct {
	Title  string
	Width  int  // the smallest width
	Grow   int  // its share of the free width
	Max    int  // the largest width; 0: no limit
	Wanted int  // columns of optionalRank or above are omitted until this column has this width
	Right  bool // aligned to the right, as numbers are
	Rank   int  // the column with the highest rank is omitted first; 0: never
	Empty  bool // no row has a value: the column is omitted
}

// optionalRank is the lowest rank of columns that are omitted to give another one its wanted width.
const optionalRank = 6

// fitColumns returns the widths of columns that fit in room cells, each followed by a blank; 0
// omits a column. Columns that may be omitted and are empty in all visible rows are omitted first,
// also to give others the width that they need. Free cells go to columns that are narrower than
// they need, then to those that grow.
func fitColumns(cols []Column, needs []int, room int) []int {
	widths := make([]int, len(cols))
	used, grow, wanted := 0, 0, 0
	for i, c := range cols {
		if c.Width > 0 && !c.Empty {
			widths[i] = c.Width
			used += c.Width + 1
			grow += c.Grow
			wanted += max(0, c.Wanted-c.Width)
		}
	}
	for {
		worst, empty := nextOmitted(cols, widths, needs)
		fits := used <= room && (used+wanted <= room || worst >= 0 && cols[worst].Rank < optionalRank)
		if empty {
			fits = used+max(wanted, lacking(widths, needs)) <= room
		}
		if worst < 0 || fits {
			break
		}
		used -= widths[worst] + 1
		grow -= cols[worst].Grow
		widths[worst] = 0
	}
	used += widenCut(widths, needs, room-used)
	for i, c := range cols {
		if widths[i] > 0 && c.Grow > 0 && used < room {
			more := (room - used) * c.Grow / grow
			if c.Max > 0 {
				more = min(more, max(0, c.Max-widths[i]))
			}
			widths[i] += more
			used += more
			grow -= c.Grow
		}
	}
	return widths
}

// nextOmitted returns the column to omit next, -1 for none: the one with the highest rank, of the
// empty columns if there are any.
func nextOmitted(cols []Column, widths, needs []int) (worst int, empty bool) {
	worst = -1
	rows := slices.Max(needs) > 0
	for i, c := range cols {
		if widths[i] == 0 || c.Rank == 0 {
			continue
		}
		none := rows && needs[i] == 0
		if worst < 0 || none && !empty || none == empty && c.Rank > cols[worst].Rank {
			worst, empty = i, none
		}
	}
	return worst, empty
}

// lacking returns how many cells the columns lack to show their cells in full.
func lacking(widths, needs []int) (n int) {
	for i, w := range widths {
		if w > 0 {
			n += max(0, needs[i]-w)
		}
	}
	return n
}

// widenCut gives free cells to columns that are narrower than they need, so that as many as
// possible are shown in full. It returns the number of cells that it gave.
func widenCut(widths, needs []int, free int) (given int) {
	var cut []int
	for i, w := range widths {
		if w > 0 && needs[i] > w {
			cut = append(cut, i)
		}
	}
	slices.SortFunc(cut, func(i, j int) int { return cmp.Compare(needs[i]-widths[i], needs[j]-widths[j]) })
	for k, i := range cut {
		more := min(needs[i]-widths[i], max(0, free-given)/(len(cut)-k))
		widths[i] += more
		given += more
	}
	return given
}

// measure reads the cells of the visible rows and updates the widths that columns need. These
// shrink only when the width of the table, the order or Text changes, not while rows are scrolled,
// come or go.
func (t *Table) measure(cols, w int) {
	if of := (measured{w, t.sort, t.reverse, t.Text}); of != t.needsOf || len(t.needs) != cols {
		t.needsOf, t.needs = of, make([]int, cols)
	}
	t.cells = t.cells[:0]
	for i := t.top; i < t.Src.Len() && i < t.top+t.Height; i++ {
		for j := range t.needs {
			x := t.Src.Cell(i, j)
			t.cells = append(t.cells, x)
			t.needs[j] = max(t.needs[j], x.Text.Width)
		}
	}
}
