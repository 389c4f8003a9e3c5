package plain

import (
	"strings"

	"charm.land/lipgloss/v2"
	lipglosstable "charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"
)

// tableGap is the width of the space between two columns, in cells.
const tableGap = 2

// leastColumn is the width below which no column is narrowed, in cells.
const leastColumn = 10

// Table lays out rows of safe text in columns.
type Table struct{ rows [][]string }

// Add adds a row of safe text.
func (t *Table) Add(cells ...string) { t.rows = append(t.rows, cells) }

// Text returns the table for a terminal that is columns cells wide; 0: each row is a line. If
// a row is longer than that, cells are wrapped.
func (t *Table) Text(columns int) string {
	if _, width := t.widths(); columns > 0 && columns < width {
		return t.wrapped(columns)
	}
	return t.lines()
}

// widths returns how wide the columns are, and a line of all of them.
func (t *Table) widths() (columns []int, all int) {
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(columns) {
				columns = append(columns, 0)
			}
			columns[i] = max(columns[i], ansi.StringWidth(cell))
		}
	}
	for _, width := range columns {
		all += width + tableGap
	}
	return columns, all - tableGap
}

// lines lays out each row on one line, with columns as wide as their widest cell. It takes
// milliseconds for thousands of rows, for which Lip Gloss takes seconds.
func (t *Table) lines() string {
	widths, _ := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+tableGap))
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// wrapped lays out the rows so that no line is wider than width, as far as leastColumn allows.
// The widest columns give way: Lip Gloss would also narrow the short ones, down to one cell.
func (t *Table) wrapped(width int) string {
	widths, all := t.widths()
	for ; all > width; all-- {
		widest := 0
		for i := range widths {
			if widths[i] > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastColumn {
			break
		}
		widths[widest]--
	}
	out := lipglosstable.New().
		BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).BorderHeader(false).
		StyleFunc(func(_, column int) lipgloss.Style {
			if column == len(widths)-1 {
				return lipgloss.NewStyle()
			}
			return lipgloss.NewStyle().PaddingRight(tableGap)
		})
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = ansi.Wrap(cell, widths[i], "")
		}
		out.Row(cells...)
	}
	var b strings.Builder
	for line := range strings.SplitSeq(out.String(), "\n") {
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	return b.String()
}
