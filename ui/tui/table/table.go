// Package table shows the rows of a source in columns. A board has several tables on tabs.
package table

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/widget"
)

// RowID identifies a row when rows come, go or are sorted. The zero value is no row.
type RowID struct {
	Sub  event.SubID
	Seq  uint64
	Name string
}

// Cell is one field of a row.
type Cell struct {
	Role themes.Role
	Text trust.Rendered
}

// Say returns a cell with a text, which it sanitizes.
func Say(role themes.Role, text string) Cell { return Cell{role, cells.Sanitize(text)} }

// Source provides the rows of a table. Its methods are called on the event loop and do no I/O.
type Source interface {
	Columns() []Column
	// Load updates the rows and reports whether they changed.
	Load() (changed bool)
	Len() int
	ID(i int) RowID
	// Find returns the index of a row, -1 if there is none with that id.
	Find(id RowID) int
	Cell(i, col int) Cell
	// Describe writes the text of the detail pane for a row.
	Describe(d *detail.Text, id RowID)
	// EmptyText returns the lines of an empty table: why it is empty, and what can be done.
	EmptyText() []string
}

// Sorter is a source that can be sorted by a column; col -1 is the order of the source.
type Sorter interface{ SortBy(col int, reverse bool) }

// Finder is a source that can be limited to rows with a text; "" shows all rows.
type Finder interface{ Filter(text string) }

// Opener is a source whose rows can be opened; leads is false if a row leads nowhere.
type Opener interface {
	Open(id RowID) (cmd tea.Cmd, leads bool)
}

// Worker is a source that reads in the background. Work is called after every message while the
// table is shown; it returns nil if there is nothing to read.
type Worker interface{ Work() tea.Cmd }

// Table shows the rows of a source. The chosen row stays chosen when rows come, go or are sorted.
type Table struct {
	Name   string
	Src    Source
	At     RowID  // the chosen row
	Height int    // number of visible rows
	Text   string // the text that rows must have; see [Finder]
	Gen    int    // changes with the rows and their descriptions

	env     *cells.Env
	focused func() bool // the table has the focus
	top     int         // the first visible row
	follow  bool        // the newest row is chosen
	tail    bool        // new rows are added at the end
	sort    int         // the column by which rows are sorted, -1 for none
	reverse bool
	whole   int // the number of rows without Text

	draws   cells.Canvas
	lines   []string
	drawn   tableKey
	widths  []int
	needs   []int // the widest cell of each column that was visible since needsOf changed
	needsOf measured
	cells   []Cell // of the visible rows, row by row
}

// measured has what the widths of columns depend on, except the rows.
type measured struct {
	w, sort int
	reverse bool
	text    string
}

// tableKey has what the drawn lines depend on.
type tableKey struct {
	w, h, top, gen int
	at             RowID
	focus          bool
	look           int
	second         int64
}

// New returns a table of a source. With tail, new rows are added at the end and the newest one is
// chosen until the operator chooses another row.
func New(env *cells.Env, focused func() bool, name string, src Source, tail bool) *Table {
	return &Table{env: env, focused: focused, Name: name, Src: src, tail: tail, follow: tail, sort: -1}
}

// Load updates the rows. The chosen row stays in its line of the screen.
func (t *Table) Load() {
	before := t.Src.Find(t.At)
	if t.Src.Load() {
		t.Gen++
	}
	n := t.Src.Len()
	if n == 0 {
		t.At, t.top = RowID{}, 0
		return
	}
	at := t.Src.Find(t.At)
	switch {
	case t.follow:
		at = n - 1
	case at < 0 && before >= 0:
		at = min(before, n-1)
	case at < 0:
		at = 0
	case before >= 0:
		t.top += at - before
	}
	t.choose(at)
}

// WantedRows returns the number of rows of a table that fits. It includes rows that Text hides, so
// that panes do not move while Text is typed.
func (t *Table) WantedRows() int {
	if t == nil {
		return 0
	}
	t.Load()
	if t.Text == "" {
		t.whole = max(t.Src.Len(), len(t.Src.EmptyText())+1)
	}
	return t.whole
}

func (t *Table) choose(i int) {
	n, h := t.Src.Len(), max(t.Height, 1)
	if n == 0 {
		return
	}
	i = max(0, min(i, n-1))
	t.At = t.Src.ID(i)
	if i < t.top {
		t.top = i
	}
	if i >= t.top+h {
		t.top = i - h + 1
	}
	t.top = max(0, min(t.top, n-h))
}

// By moves the choice by n rows.
func (t *Table) By(n int) {
	if n < 0 {
		t.follow = false
	}
	t.choose(max(t.Src.Find(t.At), 0) + n)
}

// End chooses the first or the last row. From the last row a table with tail follows new rows
// again.
func (t *Table) End(last bool) {
	if last {
		t.follow = t.tail
		t.choose(t.Src.Len() - 1)
		return
	}
	t.follow = false
	t.choose(0)
}

// Click chooses the row in a line of the table; again reports whether it was chosen already.
func (t *Table) Click(row int) (again bool) {
	i := t.top + row
	if row < 0 || i >= t.Src.Len() {
		return false
	}
	again = t.Src.ID(i) == t.At
	t.follow = false
	t.choose(i)
	return again
}

// SortNext sorts by the next visible column, or for step -1 by the previous one.
func (t *Table) SortNext(step int) {
	s, ok := t.Src.(Sorter)
	if !ok {
		return
	}
	n := len(t.Src.Columns())
	for range n {
		t.sort = (t.sort + step + n) % n
		if t.sort >= len(t.widths) || t.widths[t.sort] > 0 {
			break
		}
	}
	s.SortBy(t.sort, t.reverse)
	t.Load()
}

// Reverse reverses the order of the rows.
func (t *Table) Reverse() {
	if s, ok := t.Src.(Sorter); ok {
		t.reverse = !t.reverse
		s.SortBy(t.sort, t.reverse)
		t.Load()
	}
}

// Draw returns exactly h rows of w cells.
func (t *Table) Draw(w, h int) []string {
	e := t.env
	t.Height = max(1, h-1)
	t.Load()
	key := tableKey{w, h, t.top, t.Gen, t.At, t.focused(), e.Style, e.Clock().Unix()}
	if key == t.drawn {
		return t.lines
	}
	t.drawn = key
	cols := t.Src.Columns()
	t.measure(len(cols), w)
	t.widths = fitColumns(cols, t.needs, w-1)
	c := &t.draws
	c.Begin(&e.Theme, w)
	t.drawHead(c, cols)
	for i := t.top; i < t.Src.Len() && i < t.top+t.Height; i++ {
		t.drawRow(c, cols, i, key.focus)
	}
	if t.Src.Len() == 0 {
		c.End()
		for _, s := range t.Src.EmptyText() {
			c.Put(themes.Dim, "  ")
			c.Safe(themes.Dim, cells.Sanitize(s).Clip(c.Room))
			c.End()
		}
	}
	t.lines = c.Rows(h, t.lines)
	return t.lines
}

func (t *Table) drawHead(c *cells.Canvas, cols []Column) {
	c.Put(themes.Plain, " ")
	for i, col := range cols {
		if t.widths[i] == 0 {
			continue
		}
		role, title := themes.Dim, col.Title
		if i == t.sort {
			role = themes.Strong
			title += t.env.Glyphs.Down
			if t.reverse {
				title = col.Title + t.env.Glyphs.Up
			}
		}
		c.Field(role, cells.Sanitize(title), t.widths[i], col.Right)
	}
	c.End()
}

func (t *Table) drawRow(c *cells.Canvas, cols []Column, i int, focus bool) {
	mark := " "
	if t.Src.ID(i) == t.At {
		mark = t.env.Glyphs.Cursor
		c.Only(themes.CursorOff)
		if focus {
			c.Only(themes.Cursor)
		}
	}
	c.Put(themes.Plain, mark)
	for j, col := range cols {
		if t.widths[j] == 0 {
			continue
		}
		x := t.cells[(i-t.top)*len(cols)+j]
		c.Field(x.Role, x.Text, t.widths[j], col.Right)
	}
	c.End()
}

// Line returns the chosen row as text, with all of its columns; "" if no row is chosen.
func (t *Table) Line() string {
	i := t.Src.Find(t.At)
	if i < 0 {
		return ""
	}
	var fields []string
	for j := range t.Src.Columns() {
		if text := t.Src.Cell(i, j).Text.Plain(); text != "" {
			fields = append(fields, text)
		}
	}
	return strings.Join(fields, "  ")
}

// Chosen reports whether a row is chosen.
func (t *Table) Chosen() bool { return t != nil && t.At != RowID{} }

// Rows returns the number of rows.
func (t *Table) Rows() int { return t.Src.Len() }

// Sorts reports whether the table can be sorted.
func (t *Table) Sorts() bool {
	if t == nil {
		return false
	}
	_, ok := t.Src.(Sorter)
	return ok
}

// Finds reports whether the table can be limited to rows with a text.
func (t *Table) Finds() bool {
	if t == nil {
		return false
	}
	_, ok := t.Src.(Finder)
	return ok
}

// AskWords opens a prompt for words of rows; the table is filtered while the operator types.
func (t *Table) AskWords(screen widget.Screen) {
	before := t.Text
	screen.AskLine(&widget.Prompt{
		Label: "rows:", Says: "words of a row   enter keep  esc undo",
		Change:    t.Find,
		Cancelled: func() { t.Find(before) },
		Done:      func(text string) tea.Cmd { t.Find(text); return nil },
	}, before)
}

// Find shows only rows that contain a text; "" shows all rows.
func (t *Table) Find(text string) {
	if s, ok := t.Src.(Finder); ok && t.Text != text {
		t.Text = text
		s.Filter(text)
		t.Gen++
		t.Load()
	}
}

// Work returns the command of a [Worker], nil for another source.
func (t *Table) Work() tea.Cmd {
	if w, ok := t.Src.(Worker); ok {
		return w.Work()
	}
	return nil
}

// Open opens the chosen row; leads is false if it leads nowhere.
func (t *Table) Open() (cmd tea.Cmd, leads bool) {
	if o, ok := t.Src.(Opener); ok {
		return o.Open(t.At)
	}
	return nil, false
}

// Describe writes the text of the detail pane for the chosen row.
func (t *Table) Describe(d *detail.Text) {
	if t.Chosen() {
		t.Src.Describe(d, t.At)
	}
}

// RowAt returns the id of row i.
func (t *Table) RowAt(i int) RowID { return t.Src.ID(i) }

// Order returns the title of the column by which rows are sorted, "" for none, and whether the
// order is reversed.
func (t *Table) Order() (title string, reverse bool) {
	if t.sort >= 0 {
		title = t.Src.Columns()[t.sort].Title
	}
	return title, t.reverse
}

// Scroll scrolls by n rows. Another row is chosen if the chosen one would leave the screen.
func (t *Table) Scroll(n int) {
	if n < 0 {
		t.follow = false
	}
	at, last := max(t.Src.Find(t.At), 0), t.Src.Len()-1
	t.top = max(0, min(t.top+n, last+1-t.Height))
	t.choose(max(t.top, min(at, t.top+t.Height-1, last)))
}
