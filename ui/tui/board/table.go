package board

import (
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
	name string
}

// cell is one field of a row.
type cell struct {
	role themes.Role
	text trust.Rendered
}

func say(role themes.Role, text string) cell { return cell{role, cells.Sanitize(text)} }

// tableColumn is a column with the room it would like to have.
type tableColumn struct {
	title string
	width int  // cells it takes
	grow  int  // its share of the room that is left
	most  int  // cells beyond which it does not grow; 0 is no bound
	wish  int  // cells for which columns that are only nice to have give way
	right bool // numbers stand at the right
	rank  int  // where there is no room the highest rank goes first; 0 stays
}

// source has the rows of a table.
type source interface {
	columns() []tableColumn
	// load takes what the host has now and tells whether rows changed.
	load() (changed bool)
	len() int
	id(i int) RowID
	// find returns the place of a row, -1 if there is none.
	find(id RowID) int
	cell(i, col int) cell
	// describe writes what the detail shows of a row.
	describe(d *detail.Text, id RowID)
	// teach says what an empty table means.
	teach() []string
}

// niceToHave is the rank from which columns give way to another one's wish.
const niceToHave = 6

// sorter is a source whose order the operator chooses.
type sorter interface{ sortBy(col int, reverse bool) }

// finder is a source that shows only rows with a text.
type finder interface {
	find(id RowID) int
	filter(text string)
}

// opener is a source whose rows lead elsewhere.
type opener interface {
	open(id RowID) (cmd tea.Cmd, leads bool)
}

// Table shows rows of a source. What is chosen is a row, not a place: rows that
// come, go or are sorted anew move it on the screen, never to another row.
type Table struct {
	env     *Env
	Name    string
	src     source
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

	draws  cells.Canvas
	lines  []string
	drawn  tableKey
	widths []int
}

// tableKey is what the drawn rows were made from.
type tableKey struct {
	w, h, top, gen int
	at             RowID
	focus          bool
	look           int
	second         int64
}

func newTable(e *Env, name string, src source, tail bool) *Table {
	return &Table{env: e, Name: name, src: src, tail: tail, follow: tail, sort: -1}
}

// Load brings the rows up to date; the chosen row stays where it is shown.
func (t *Table) Load() {
	before := t.src.find(t.At)
	if t.src.load() {
		t.Gen++
	}
	n := t.src.len()
	if n == 0 {
		t.At, t.top = RowID{}, 0
		return
	}
	at := t.src.find(t.At)
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
		t.whole = max(t.src.len(), len(t.src.teach())+1)
	}
	return t.whole
}

func (t *Table) choose(i int) {
	n, h := t.src.len(), max(t.Height, 1)
	if n == 0 {
		return
	}
	i = max(0, min(i, n-1))
	t.At = t.src.id(i)
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
	t.choose(max(t.src.find(t.At), 0) + n)
}

// End goes to the first or the last row; at the last one a table that grows
// there follows again.
func (t *Table) End(last bool) {
	if last {
		t.follow = t.tail
		t.choose(t.src.len() - 1)
		return
	}
	t.follow = false
	t.choose(0)
}

// Click chooses the row that is shown in a place and reports whether it was
// chosen before.
func (t *Table) Click(row int) (again bool) {
	i := t.top + row
	if row < 0 || i >= t.src.len() {
		return false
	}
	again = t.src.id(i) == t.At
	t.follow = false
	t.choose(i)
	return again
}

// SortNext sorts by another column.
func (t *Table) SortNext(step int) {
	s, ok := t.src.(sorter)
	if !ok {
		return
	}
	n := len(t.src.columns())
	for range n {
		t.sort = (t.sort + step + n) % n
		if t.sort >= len(t.widths) || t.widths[t.sort] > 0 {
			break
		}
	}
	s.sortBy(t.sort, t.reverse)
	t.Load()
}

// TurnAround turns the order of the rows around.
func (t *Table) TurnAround() {
	if s, ok := t.src.(sorter); ok {
		t.reverse = !t.reverse
		s.sortBy(t.sort, t.reverse)
		t.Load()
	}
}

// fitColumns shares room among columns, each with a blank behind it. A width of
// 0 leaves a column out.
func fitColumns(cols []tableColumn, room int) []int {
	widths := make([]int, len(cols))
	used, grow, wish := 0, 0, 0
	for i, c := range cols {
		if c.width > 0 {
			widths[i] = c.width
			used += c.width + 1
			grow += c.grow
			wish += max(0, c.wish-c.width)
		}
	}
	for {
		worst := -1
		for i, c := range cols {
			if widths[i] > 0 && c.rank > 0 && (worst < 0 || c.rank > cols[worst].rank) {
				worst = i
			}
		}
		if worst < 0 || used <= room && (used+wish <= room || cols[worst].rank < niceToHave) {
			break
		}
		used -= widths[worst] + 1
		grow -= cols[worst].grow
		widths[worst] = 0
	}
	for i, c := range cols {
		if widths[i] > 0 && c.grow > 0 && used < room {
			more := (room - used) * c.grow / grow
			if c.most > 0 {
				more = min(more, max(0, c.most-widths[i]))
			}
			widths[i] += more
			used += more
			grow -= c.grow
		}
	}
	return widths
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
	cols := t.src.columns()
	t.widths = fitColumns(cols, w-1)
	c := &t.draws
	c.Begin(&e.Theme, w)
	t.drawHead(c, cols)
	for i := t.top; i < t.src.len() && i < t.top+t.Height; i++ {
		t.drawRow(c, cols, i, key.focus)
	}
	if t.src.len() == 0 {
		c.End()
		for _, s := range t.src.teach() {
			c.Put(themes.Dim, "  "+s)
			c.End()
		}
	}
	t.lines = c.Rows(h, t.lines)
	return t.lines
}

func (t *Table) drawHead(c *cells.Canvas, cols []tableColumn) {
	e := t.env
	c.Put(themes.Plain, " ")
	for i, col := range cols {
		if t.widths[i] == 0 {
			continue
		}
		role, title := themes.Dim, col.title
		if i == t.sort {
			role = themes.Strong
			title += e.Glyphs.Down
			if t.reverse {
				title = col.title + e.Glyphs.Up
			}
		}
		c.Field(role, cells.Sanitize(title), t.widths[i], col.right)
	}
	c.End()
}

func (t *Table) drawRow(c *cells.Canvas, cols []tableColumn, i int, focus bool) {
	e := t.env
	mark := " "
	if t.src.id(i) == t.At {
		mark = e.Glyphs.Cursor
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
		x := t.src.cell(i, j)
		c.Field(x.role, x.text, t.widths[j], col.right)
	}
	c.End()
}

// Line is the chosen row as text, with all its columns.
func (t *Table) Line() string {
	i := t.src.find(t.At)
	if i < 0 {
		return ""
	}
	var fields []string
	for j := range t.src.columns() {
		if text := t.src.cell(i, j).text.Plain(); text != "" {
			fields = append(fields, text)
		}
	}
	return strings.Join(fields, "  ")
}

// Chosen tells whether there is a row to act on.
func (t *Table) Chosen() bool { return t.At != RowID{} }

// Rows is how many rows there are.
func (t *Table) Rows() int { return t.src.len() }

// Sorts tells whether the operator chooses the order of the rows.
func (t *Table) Sorts() bool { _, ok := t.src.(sorter); return ok }

// Finds tells whether the table can show only rows with a text.
func (t *Table) Finds() bool { _, ok := t.src.(finder); return ok }

// Find shows only rows that hold the text.
func (t *Table) Find(text string) {
	if s, ok := t.src.(finder); ok && t.Text != text {
		t.Text = text
		s.filter(text)
		t.Gen++
		t.Load()
	}
}

// AppLog tells whether the table is the program's own log.
func (t *Table) AppLog() bool { _, ok := t.src.(*appLog); return ok }

// Work has the source do what takes long, by a command.
func (t *Table) Work() tea.Cmd {
	if w, ok := t.src.(worker); ok {
		return w.Work()
	}
	return nil
}

// Open leads to what the chosen row is about, and tells whether there is such a place.
func (t *Table) Open() (cmd tea.Cmd, leads bool) {
	if o, ok := t.src.(opener); ok {
		return o.open(t.At)
	}
	return nil, false
}

// Describe writes what the detail shows of the chosen row.
func (t *Table) Describe(d *detail.Text) {
	if t.Chosen() {
		t.src.describe(d, t.At)
	}
}

// RowAt names the row in a place.
func (t *Table) RowAt(i int) RowID { return t.src.id(i) }

// Order is the column by which rows are sorted, "" for none, and whether it is turned
// around.
func (t *Table) Order() (title string, reverse bool) {
	if t.sort >= 0 {
		title = t.src.columns()[t.sort].title
	}
	return title, t.reverse
}

// Scroll moves what is shown by n rows; the choice goes along.
func (t *Table) Scroll(n int) {
	if n < 0 {
		t.follow = false
	}
	at, last := max(t.src.find(t.At), 0), t.src.len()-1
	t.top = max(0, min(t.top+n, last+1-t.Height))
	t.choose(max(t.top, min(at, t.top+t.Height-1, last)))
}
