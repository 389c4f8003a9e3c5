// Package table shows rows of a source in columns: what is chosen is a row, not a place.
// Several tables behind tabs are a board.
package table

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
)

// RowID names a row of a table, whatever its place. The zero value is no row.
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

// Say is a field in our own words.
func Say(role themes.Role, text string) Cell { return Cell{role, cells.Sanitize(text)} }

// Column is a column with the room it would like to have.
type Column struct {
	Title string
	Width int  // cells it takes
	Grow  int  // its share of the room that is left
	Most  int  // cells beyond which it does not grow; 0 is no bound
	Wish  int  // cells for which columns that are only nice to have give way
	Right bool // numbers stand at the right
	Rank  int  // where there is no room the highest rank goes first; 0 stays
	Empty bool // no row has anything in it: it is left out
}

// Source has the rows of a table.
type Source interface {
	Columns() []Column
	// Load takes what the host has now and tells whether rows changed.
	Load() (changed bool)
	Len() int
	ID(i int) RowID
	// Find returns the place of a row, -1 if there is none.
	Find(id RowID) int
	Cell(i, col int) Cell
	// Describe writes what the detail shows of a row.
	Describe(d *detail.Text, id RowID)
	// Teach says what an empty table means.
	Teach() []string
}

// niceToHave is the rank from which columns give way to another one's wish.
const niceToHave = 6

// Sorter is a source whose order the operator chooses.
type Sorter interface{ SortBy(col int, reverse bool) }

// Finder is a source that shows only rows with a text.
type Finder interface{ Filter(text string) }

// Opener is a source whose rows lead elsewhere.
type Opener interface {
	Open(id RowID) (cmd tea.Cmd, leads bool)
}

// Worker is a source that reads what takes long.
type Worker interface{ Work() tea.Cmd }

// Env is what tables are drawn with.
type Env struct {
	*cells.Env
	Focused func() bool // the table has the focus
}

// Table shows rows of a source. What is chosen is a row, not a place: rows that
// come, go or are sorted anew move it on the screen, never to another row.
type Table struct {
	env     *Env
	Name    string
	Src     Source
	At      RowID
	top     int
	Height  int
	follow  bool // the newest row is chosen
	tail    bool // rows come at the end, and the table begins by following
	sort    int  // column by which rows are sorted
	reverse bool
	Text    string // what rows must hold
	whole   int    // rows without that
	Gen     int    // grows when rows changed

	draws   cells.Canvas
	lines   []string
	drawn   tableKey
	widths  []int
	needs   []int // cells that the rows took which were in sight …
	needsOf measured
}

// measured is … since this changed.
type measured struct {
	w, sort int
	reverse bool
	text    string
}

// tableKey is what the drawn rows were made from.
type tableKey struct {
	w, h, top, gen int
	at             RowID
	focus          bool
	look           int
	second         int64
}

// New is a table that shows no row yet; with tail its rows come at the end, and it follows
// the newest.
func New(e *Env, name string, src Source, tail bool) *Table {
	return &Table{env: e, Name: name, Src: src, tail: tail, follow: tail, sort: -1}
}

// Load brings the rows up to date; the chosen row stays where it is shown.
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

// Tall is how many rows the table would like to show. Rows that a text hides
// count: what is typed must not move the panes.
func (t *Table) Tall() int {
	t.Load()
	if t.Text == "" {
		t.whole = max(t.Src.Len(), len(t.Src.Teach())+1)
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

// End goes to the first or the last row; at the last one a table that grows
// there follows again.
func (t *Table) End(last bool) {
	if last {
		t.follow = t.tail
		t.choose(t.Src.Len() - 1)
		return
	}
	t.follow = false
	t.choose(0)
}

// Click chooses the row that is shown in a place and reports whether it was
// chosen before.
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

// SortNext sorts by another column.
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

// TurnAround turns the order of the rows around.
func (t *Table) TurnAround() {
	if s, ok := t.Src.(Sorter); ok {
		t.reverse = !t.reverse
		s.SortBy(t.sort, t.reverse)
		t.Load()
	}
}

// fitColumns shares room among columns, each with a blank behind it: what is free goes to
// those that are cut, then to those that grow. A width of 0 leaves a column out. needs are the
// cells that their rows would take.
func fitColumns(cols []Column, needs []int, room int) []int {
	widths := make([]int, len(cols))
	used, grow, wish := 0, 0, 0
	for i, c := range cols {
		if c.Width > 0 && !c.Empty {
			widths[i] = c.Width
			used += c.Width + 1
			grow += c.Grow
			wish += max(0, c.Wish-c.Width)
		}
	}
	for {
		worst := -1
		for i, c := range cols {
			if widths[i] > 0 && c.Rank > 0 && (worst < 0 || c.Rank > cols[worst].Rank) {
				worst = i
			}
		}
		if worst < 0 || used <= room && (used+wish <= room || cols[worst].Rank < niceToHave) {
			break
		}
		used -= widths[worst] + 1
		grow -= cols[worst].Grow
		widths[worst] = 0
	}
	used += mend(widths, needs, room-used)
	for i, c := range cols {
		if widths[i] > 0 && c.Grow > 0 && used < room {
			more := (room - used) * c.Grow / grow
			if c.Most > 0 {
				more = min(more, max(0, c.Most-widths[i]))
			}
			widths[i] += more
			used += more
			grow -= c.Grow
		}
	}
	return widths
}

// mend gives free cells to columns that are cut, so that as many as can be are whole. It
// returns how many it gave.
func mend(widths, needs []int, free int) (given int) {
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

// measure takes what the rows in sight need. Columns do not become narrower while rows are
// scrolled or come and go: only where the room or the order changes.
func (t *Table) measure(cols, w int) {
	if of := (measured{w, t.sort, t.reverse, t.Text}); of != t.needsOf || len(t.needs) != cols {
		t.needsOf, t.needs = of, make([]int, cols)
	}
	for i := t.top; i < t.Src.Len() && i < t.top+t.Height; i++ {
		for j := range t.needs {
			t.needs[j] = max(t.needs[j], t.Src.Cell(i, j).Text.Width)
		}
	}
}

// Draw returns exactly h rows of w cells.
func (t *Table) Draw(w, h int) []string {
	e := t.env
	t.Height = max(1, h-1)
	t.Load()
	key := tableKey{w, h, t.top, t.Gen, t.At, e.Focused(), e.Style, e.Clock().Unix()}
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
		for _, s := range t.Src.Teach() {
			c.Put(themes.Dim, "  "+s)
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
		x := t.Src.Cell(i, j)
		c.Field(x.Role, x.Text, t.widths[j], col.Right)
	}
	c.End()
}

// Line is the chosen row as text, with all its columns.
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

// Chosen tells whether there is a row to act on.
func (t *Table) Chosen() bool { return t.At != RowID{} }

// Rows is how many rows there are.
func (t *Table) Rows() int { return t.Src.Len() }

// Sorts tells whether the operator chooses the order of the rows.
func (t *Table) Sorts() bool { _, ok := t.Src.(Sorter); return ok }

// Finds tells whether the table can show only rows with a text.
func (t *Table) Finds() bool { _, ok := t.Src.(Finder); return ok }

// Find shows only rows that hold the text.
func (t *Table) Find(text string) {
	if s, ok := t.Src.(Finder); ok && t.Text != text {
		t.Text = text
		s.Filter(text)
		t.Gen++
		t.Load()
	}
}

// Work has the source do what takes long, by a command.
func (t *Table) Work() tea.Cmd {
	if w, ok := t.Src.(Worker); ok {
		return w.Work()
	}
	return nil
}

// Open leads to what the chosen row is about, and tells whether there is such a place.
func (t *Table) Open() (cmd tea.Cmd, leads bool) {
	if o, ok := t.Src.(Opener); ok {
		return o.Open(t.At)
	}
	return nil, false
}

// Describe writes what the detail shows of the chosen row.
func (t *Table) Describe(d *detail.Text) {
	if t.Chosen() {
		t.Src.Describe(d, t.At)
	}
}

// RowAt names the row in a place.
func (t *Table) RowAt(i int) RowID { return t.Src.ID(i) }

// Order is the column by which rows are sorted, "" for none, and whether it is turned
// around.
func (t *Table) Order() (title string, reverse bool) {
	if t.sort >= 0 {
		title = t.Src.Columns()[t.sort].Title
	}
	return title, t.reverse
}

// Scroll moves what is shown by n rows; the choice goes along.
func (t *Table) Scroll(n int) {
	if n < 0 {
		t.follow = false
	}
	at, last := max(t.Src.Find(t.At), 0), t.Src.Len()-1
	t.top = max(0, min(t.top+n, last+1-t.Height))
	t.choose(max(t.top, min(at, t.top+t.Height-1, last)))
}
