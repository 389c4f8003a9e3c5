package detail

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// foldable adds the lines of a payload, without those in closed folds. The first line of a closed
// fold shows how many lines it hides, and how many flagged places. values has the offset of the
// value of each line in the payload.
func (d *Pane) foldable(lines []trust.Rendered, folds []trust.Fold, values []int) {
	last := make(map[int]int, len(folds))
	for _, f := range folds {
		last[f.First] = max(last[f.First], f.Last)
	}
	for i := 0; i < len(lines); i++ {
		l := Line{Gutter: true, Text: lines[i]}
		if i < len(values) {
			l.value = values[i] + 1
		}
		end, opens := last[i]
		if opens {
			l.Fold = i + 1
		}
		if opens && d.folded[i] {
			text := " " + cells.Count(end-i, "line")
			if n := countSpans(lines[i+1 : end+1]); n > 0 {
				text += ", " + cells.Count(n, "place") + " noticed"
			}
			l.Text = cells.Join(l.Text, cells.Sanitize(text))
			l.Role = themes.Dim
			i = end
		}
		d.Lines = append(d.Lines, l)
	}
}

func countSpans(lines []trust.Rendered) int {
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

// Fold opens the fold that begins at the chosen line, or closes the one that contains it.
func (d *Pane) Fold(open bool) {
	if d.At >= len(d.Lines) {
		return
	}
	i := d.At
	if open {
		if f := d.Lines[i].Fold; f > 0 && d.folded[f-1] {
			delete(d.folded, f-1)
			d.of.folds = -1
		}
		return
	}
	for ; i >= 0; i-- {
		f := d.Lines[i].Fold
		if f > 0 && !d.folded[f-1] && (i == d.At || indentOf(&d.Lines[i]) < indentOf(&d.Lines[d.At])) {
			if d.folded == nil {
				d.folded = map[int]bool{}
			}
			d.folded[f-1] = true
			d.of.folds = -1
			d.At, d.moved = i, true
			return
		}
	}
}

// indentOf returns the number of blanks before a line's text.
func indentOf(l *Line) int {
	n := 0
	for _, s := range l.Text.Segments {
		for _, r := range s.Text {
			if r != ' ' {
				return n
			}
			n++
		}
	}
	return n
}

// Toggle opens or closes the fold that begins at the chosen line, if one does.
func (d *Pane) Toggle() {
	if l := d.Chosen(); l != nil && l.Fold > 0 {
		d.Fold(d.folded[l.Fold-1])
	}
}

func (d *Pane) unfoldAll() {
	if len(d.folded) > 0 {
		clear(d.folded)
		d.of.folds = -1
	}
}

// Open opens the chosen line: its record, its action, or its fold.
func (d *Pane) Open() tea.Cmd {
	switch l := d.Chosen(); {
	case !d.Opens():
		d.env.Screen.Tell("nothing opens on this line")
	case l.Seq > 0:
		return d.env.Screen.Jump(l.Seq)
	case l.Do != nil:
		l.Do()
	default:
		d.Toggle()
	}
	return nil
}

// Opens reports whether the chosen line can be opened.
func (d *Pane) Opens() bool {
	l := d.Chosen()
	return l != nil && (l.Seq > 0 || l.Do != nil || l.Fold > 0)
}
