package table_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"eventdeck/themes"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/internal/tuitest"
	"eventdeck/ui/tui/table"
)

// fruit is a source of names that can be sorted and filtered.
type fruit struct {
	has  []string
	rows []string
	less func(a, b string) int
	text string
}

func (f *fruit) Columns() []table.Column {
	return []table.Column{{Title: "NAME", Width: 10, Grow: 1}, {Title: "LETTERS", Width: 7, Right: true, Rank: 1}}
}

func (f *fruit) Load() bool {
	rows := slices.DeleteFunc(slices.Clone(f.has), func(s string) bool { return !strings.Contains(s, f.text) })
	if f.less != nil {
		slices.SortStableFunc(rows, f.less)
	}
	changed := !slices.Equal(rows, f.rows)
	f.rows = rows
	return changed
}

func (f *fruit) Len() int               { return len(f.rows) }
func (f *fruit) ID(i int) table.RowID   { return table.RowID{Name: f.rows[i]} }
func (f *fruit) Find(r table.RowID) int { return slices.Index(f.rows, r.Name) }
func (f *fruit) Cell(i, col int) table.Cell {
	if col == 1 {
		return table.Say(themes.Plain, fmt.Sprint(len(f.rows[i])))
	}
	return table.Say(themes.Plain, f.rows[i])
}
func (f *fruit) Describe(*detail.Text, table.RowID) {}
func (f *fruit) EmptyText() []string {
	return []string{"No fruit yet.", "It grows in /home/ann/orchard/trees."}
}
func (f *fruit) Filter(text string) { f.text = text }
func (f *fruit) SortBy(col int, reverse bool) {
	f.less = func(a, b string) int {
		c := cmp.Compare(a, b)
		if col == 1 {
			c = cmp.Compare(len(a), len(b))
		}
		if reverse {
			c = -c
		}
		return c
	}
}

func newTable(tail bool, rows ...string) (*fruit, *table.Table) {
	f := &fruit{has: rows}
	t := table.New(tuitest.Env(), func() bool { return true }, "fruit", f, tail)
	draw(t)
	return f, t
}

func draw(t *table.Table) string {
	t.Height = 4
	t.Load()
	return tuitest.Plain(t.Draw(30, 5))
}

// The chosen row stays chosen when rows come, go or are sorted.
func TestChosenRowStaysChosen(t *testing.T) {
	f, tab := newTable(false, "fig", "kiwi", "plum")
	tab.By(1)
	for _, rows := range [][]string{{"apple", "fig", "kiwi", "plum"}, {"kiwi"}, {"a", "b", "c", "d", "e", "kiwi"}} {
		f.has = rows
		if text := draw(tab); tab.At.Name != "kiwi" || !strings.Contains(text, "kiwi") {
			t.Errorf("of %v %q is chosen:\n%s", rows, tab.At.Name, text)
		}
	}
	f.has = []string{"a", "b"}
	if draw(tab); tab.At.Name != "b" {
		t.Errorf("in place of a row that is gone %q is chosen", tab.At.Name)
	}
	f.has = nil
	if text := draw(tab); tab.Chosen() || !strings.Contains(text, "No fruit yet.") {
		t.Errorf("of no rows %q is chosen:\n%s", tab.At.Name, text)
	}
}

func TestTextOfAnEmptyTableIsMarkedWhereItIsCut(t *testing.T) {
	_, tab := newTable(false)
	if s := draw(tab); !strings.Contains(s, "  No fruit yet. ") || !strings.Contains(s, "  It grows in /home/ann/orcha…") {
		t.Errorf("drawn is\n%s", s)
	}
}

func TestTableFollowsItsEndUntilTheOperatorMovesUp(t *testing.T) {
	f, tab := newTable(true, "a", "b")
	add := func(name string) string {
		f.has = append(f.has, name)
		draw(tab)
		return tab.At.Name
	}
	if at := add("c"); at != "c" {
		t.Errorf("%q is chosen", at)
	}
	tab.By(-1)
	if at := add("d"); at != "b" {
		t.Errorf("after moving up %q is chosen", at)
	}
	tab.End(true)
	if at := add("e"); at != "e" {
		t.Errorf("at the end again, %q is chosen", at)
	}
	tab.End(false)
	if at := add("f"); at != "a" {
		t.Errorf("at the beginning, %q is chosen", at)
	}
}

func TestRowsAreSortedAndFound(t *testing.T) {
	f, tab := newTable(false, "kiwi", "fig", "cherry")
	tab.SortNext(1)
	if draw(tab); !slices.Equal(f.rows, []string{"cherry", "fig", "kiwi"}) || tab.At.Name != "kiwi" {
		t.Errorf("sorted by name: %v, at %q", f.rows, tab.At.Name)
	}
	tab.SortNext(1)
	tab.Reverse()
	if title, reverse := tab.Order(); title != "LETTERS" || !reverse || f.rows[0] != "cherry" {
		t.Errorf("sorted by %q (reverse: %v): %v", title, reverse, f.rows)
	}
	tall := tab.WantedRows()
	if tab.Find("ig"); !slices.Equal(f.rows, []string{"fig"}) || tab.At.Name != "fig" {
		t.Errorf("found are %v, at %q", f.rows, tab.At.Name)
	}
	if tab.WantedRows() != tall {
		t.Errorf("a typed text changes the height from %d to %d", tall, tab.WantedRows())
	}
	if !tab.Sorts() || !tab.Finds() {
		t.Error("it does not report that it can be sorted and filtered")
	}
}

func TestSecondClickOpensTheRow(t *testing.T) {
	_, tab := newTable(false, "a", "b", "c", "d", "e", "f")
	tab.End(true)
	draw(tab)
	if again := tab.Click(0); again || tab.At.Name != "c" {
		t.Errorf("chosen is %q, again: %v", tab.At.Name, again)
	}
	if again := tab.Click(0); !again {
		t.Error("a second click on the row is not reported")
	}
	for _, row := range []int{-1, 99} {
		if tab.Click(row) || tab.At.Name != "c" {
			t.Errorf("a click outside the rows chose %q", tab.At.Name)
		}
	}
}

// Saved states find their tables and columns by name and title.
func TestTablesAreRestored(t *testing.T) {
	_, one := newTable(false, "b", "a")
	_, two := newTable(false, "x")
	two.Name = "second"
	b := &table.Board{Tabs: []*table.Table{one, two}}
	if kept := table.States(b); len(kept) != 0 {
		t.Errorf("of unchanged tables %v is saved", kept)
	}
	one.SortNext(1)
	one.Reverse()
	b.Turn(1)
	kept := table.States(b)

	f, again := newTable(false, "a", "b")
	_, other := newTable(false, "x")
	other.Name = "second"
	back := &table.Board{Tabs: []*table.Table{again, other}}
	table.Restore(append(kept, table.State{Name: "gone", Shown: true}, table.State{Name: "second", Sort: "NO COLUMN"}), back)
	draw(again)
	if title, reverse := again.Order(); back.Table() != other || title != "NAME" || !reverse || f.rows[0] != "b" {
		t.Errorf("shown is %q, sorted by %q (reverse: %v): %v", back.Table().Name, title, reverse, f.rows)
	}
	if back.Last(); back.Table() == nil {
		t.Error("no table is shown")
	}
}
