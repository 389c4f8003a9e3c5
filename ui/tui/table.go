package tui

import (
	"strings"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// rowID names a row of a table, whatever its place. The zero value is no row.
type rowID struct {
	sub  event.SubID
	seq  uint64
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
	load(a *app) (changed bool)
	len() int
	id(i int) rowID
	// find returns the place of a row, -1 if there is none.
	find(id rowID) int
	cell(a *app, i, col int) cell
	// describe writes what the detail shows of a row.
	describe(a *app, d *detail, id rowID)
	// teach says what an empty table means.
	teach(a *app) []string
}

// niceToHave is the rank from which columns give way to another one's wish.
const niceToHave = 6

// sorter is a source whose order the operator chooses.
type sorter interface{ sortBy(col int, reverse bool) }

// finder is a source that shows only rows with a text.
type finder interface {
	find(id rowID) int
	filter(text string)
}

// opener is a source whose rows lead elsewhere.
type opener interface {
	open(a *app, id rowID) bool
}

// table shows rows of a source. What is chosen is a row, not a place: rows that
// come, go or are sorted anew move it on the screen, never to another row.
type table struct {
	name    string
	src     source
	at      rowID
	top     int
	height  int
	follow  bool // the newest row is chosen
	tail    bool // rows come at the end, and the table begins by following
	sort    int  // column by which rows are sorted
	reverse bool
	text    string // what rows must hold
	whole   int    // rows without that
	gen     int    // grows when rows changed

	draws  cells.Canvas
	lines  []string
	drawn  tableKey
	widths []int
}

// tableKey is what the drawn rows were made from.
type tableKey struct {
	w, h, top, gen int
	at             rowID
	focus          bool
	look           int
	second         int64
}

func newTable(name string, src source, tail bool) *table {
	return &table{name: name, src: src, tail: tail, follow: tail, sort: -1}
}

// load brings the rows up to date; the chosen row stays where it is shown.
func (t *table) load(a *app) {
	before := t.src.find(t.at)
	if t.src.load(a) {
		t.gen++
	}
	n := t.src.len()
	if n == 0 {
		t.at, t.top = rowID{}, 0
		return
	}
	at := t.src.find(t.at)
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

// tall is how many rows the table would like to show. Rows that a text hides
// count: what is typed must not move the panes.
func (t *table) tall(a *app) int {
	t.load(a)
	if t.text == "" {
		t.whole = max(t.src.len(), len(t.src.teach(a))+1)
	}
	return t.whole
}

func (t *table) choose(i int) {
	n, h := t.src.len(), max(t.height, 1)
	if n == 0 {
		return
	}
	i = max(0, min(i, n-1))
	t.at = t.src.id(i)
	if i < t.top {
		t.top = i
	}
	if i >= t.top+h {
		t.top = i - h + 1
	}
	t.top = max(0, min(t.top, n-h))
}

// by moves the choice by n rows.
func (t *table) by(n int) {
	if n < 0 {
		t.follow = false
	}
	t.choose(max(t.src.find(t.at), 0) + n)
}

// end goes to the first or the last row; at the last one a table that grows
// there follows again.
func (t *table) end(last bool) {
	if last {
		t.follow = t.tail
		t.choose(t.src.len() - 1)
		return
	}
	t.follow = false
	t.choose(0)
}

// click chooses the row that is shown in a place and reports whether it was
// chosen before.
func (t *table) click(row int) (again bool) {
	i := t.top + row
	if row < 0 || i >= t.src.len() {
		return false
	}
	again = t.src.id(i) == t.at
	t.follow = false
	t.choose(i)
	return again
}

// sortNext sorts by another column.
func (t *table) sortNext(a *app, step int) {
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
	t.load(a)
}

func (t *table) turnAround(a *app) {
	if s, ok := t.src.(sorter); ok {
		t.reverse = !t.reverse
		s.sortBy(t.sort, t.reverse)
		t.load(a)
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

// draw returns exactly h rows of w cells.
func (t *table) draw(a *app, w, h int) []string {
	t.height = max(1, h-1)
	t.load(a)
	key := tableKey{w, h, t.top, t.gen, t.at, a.focus == subsPane || a.focus == logPane, a.Style, a.Clock().Unix()}
	if key == t.drawn {
		return t.lines
	}
	t.drawn = key
	cols := t.src.columns()
	t.widths = fitColumns(cols, w-1)
	c := &t.draws
	c.Begin(&a.Theme, w)
	t.drawHead(a, c, cols)
	for i := t.top; i < t.src.len() && i < t.top+t.height; i++ {
		t.drawRow(a, c, cols, i, key.focus)
	}
	if t.src.len() == 0 {
		c.End()
		for _, s := range t.src.teach(a) {
			c.Put(themes.Dim, "  "+s)
			c.End()
		}
	}
	t.lines = c.Rows(h, t.lines)
	return t.lines
}

func (t *table) drawHead(a *app, c *cells.Canvas, cols []tableColumn) {
	c.Put(themes.Plain, " ")
	for i, col := range cols {
		if t.widths[i] == 0 {
			continue
		}
		role, title := themes.Dim, col.title
		if i == t.sort {
			role = themes.Strong
			title += a.Glyphs.Down
			if t.reverse {
				title = col.title + a.Glyphs.Up
			}
		}
		c.Field(role, cells.Sanitize(title), t.widths[i], col.right)
	}
	c.End()
}

func (t *table) drawRow(a *app, c *cells.Canvas, cols []tableColumn, i int, focus bool) {
	mark := " "
	if t.src.id(i) == t.at {
		mark = a.Glyphs.Cursor
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
		x := t.src.cell(a, i, j)
		c.Field(x.role, x.text, t.widths[j], col.right)
	}
	c.End()
}

// line is the chosen row as text, with all its columns.
func (t *table) line(a *app) string {
	i := t.src.find(t.at)
	if i < 0 {
		return ""
	}
	var fields []string
	for j := range t.src.columns() {
		if text := t.src.cell(a, i, j).text.Plain(); text != "" {
			fields = append(fields, text)
		}
	}
	return strings.Join(fields, "  ")
}
