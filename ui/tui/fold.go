package tui

import (
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// foldable adds the lines of a payload, without what the operator has closed. A
// closed place says how many lines it hides, and what was noticed in them.
func (d *detail) foldable(lines []trust.Rendered, folds []trust.Fold) {
	last := make(map[int]int, len(folds))
	for _, f := range folds {
		last[f.First] = max(last[f.First], f.Last)
	}
	for i := 0; i < len(lines); i++ {
		l := detailLine{gutter: true, text: lines[i]}
		end, opens := last[i]
		if opens {
			l.fold = i + 1
		}
		if opens && d.folded[i] {
			text := " " + cells.Count(end-i, "line")
			if n := spansIn(lines[i+1 : end+1]); n > 0 {
				text += ", " + cells.Count(n, "place") + " noticed"
			}
			l.text = cells.Join(l.text, cells.Sanitize(text))
			l.role = themes.Dim
			i = end
		}
		d.lines = append(d.lines, l)
	}
}

func spansIn(lines []trust.Rendered) int {
	seen := map[int]bool{}
	for _, l := range lines {
		for _, s := range l.Segments {
			if s.Span > 0 {
				seen[s.Span] = true
			}
		}
	}
	return len(seen)
}

// foldLine closes or opens the place in which the chosen line stands.
func (d *detail) foldLine(open bool) {
	if d.at >= len(d.lines) {
		return
	}
	i := d.at
	if open {
		if f := d.lines[i].fold; f > 0 && d.folded[f-1] {
			delete(d.folded, f-1)
			d.of.folds = -1
		}
		return
	}
	for ; i >= 0; i-- {
		f := d.lines[i].fold
		if f > 0 && !d.folded[f-1] && (i == d.at || indentOf(&d.lines[i]) < indentOf(&d.lines[d.at])) {
			if d.folded == nil {
				d.folded = map[int]bool{}
			}
			d.folded[f-1] = true
			d.of.folds = -1
			d.at = i
			return
		}
	}
}

// indentOf counts the blanks before a line's text.
func indentOf(l *detailLine) int {
	n := 0
	for _, s := range l.text.Segments {
		for _, r := range s.Text {
			if r != ' ' {
				return n
			}
			n++
		}
	}
	return n
}

func (d *detail) unfoldAll() {
	if len(d.folded) > 0 {
		clear(d.folded)
		d.of.folds = -1
	}
}
