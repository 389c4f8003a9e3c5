package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/marks"
	"eventdeck/ui/tui/widget"
)

// setMark stores a mark.
func (a *app) setMark(m event.Mark, what string) tea.Cmd {
	if m.At.IsZero() {
		m.At = a.Clock()
	}
	return a.Ask(what, func(ctx context.Context) error { return a.o.API.SetMark(ctx, m) })
}

func (a *app) removeMark(m event.Mark) tea.Cmd {
	return a.Ask("the mark is taken away", func(ctx context.Context) error { return a.o.API.RemoveMark(ctx, m.Seq, m.Line) })
}

// turnMark marks the chosen record, or takes its mark away. A mark with a note is not
// taken away by a key that is easily pressed: the note is shown to be changed.
func (a *app) turnMark() tea.Cmd {
	if old, marked := a.stream.Marks.Find(a.stream.At); marked && old.Note == "" {
		return a.removeMark(old)
	}
	return a.markOnly()
}

// markOnly marks the chosen record without a note. Where it has one, that is shown to be
// changed.
func (a *app) markOnly() tea.Cmd {
	seq := a.stream.At
	if old, _ := a.stream.Marks.Find(seq); old.Note != "" {
		a.noteChosen()
		return nil
	}
	return a.setMark(event.Mark{Seq: seq}, "marked record "+cells.Number(seq))
}

// noteChosen asks for the note of a mark on the chosen record.
func (a *app) noteChosen() {
	seq := a.stream.At
	old, marked := a.stream.Marks.Find(seq)
	says := "enter marks the record, with or without a note; esc goes back"
	if marked {
		says = "enter keeps the note; an empty one takes the mark away"
	}
	a.AskLine(&widget.Prompt{Label: "mark " + cells.Number(seq) + ":", Says: says, Done: func(text string) tea.Cmd {
		if marked && text == "" {
			return a.removeMark(old)
		}
		return a.setMark(event.Mark{Seq: seq, Note: text}, "marked record "+cells.Number(seq))
	}}, old.Note)
}

// markNow inserts a line behind the newest record.
func (a *app) markNow() tea.Cmd {
	last := a.snap.Last
	if last == 0 {
		a.Tell("nothing is stored yet: a \"now\" line stands behind a record")
		return nil
	}
	return a.setMark(event.Mark{Seq: last, Line: true}, "\"now\" line behind record "+cells.Number(last))
}

// onRecord tells whether a record is chosen.
func (a *app) onRecord() bool { return a.stream.At != 0 && a.table() == nil }

// markWords tells a mark on one line.
func (a *app) markWords(m event.Mark) trust.Rendered {
	at := cells.TimeText(m.At, a.Times.Zone(), cells.TimeShort)
	if a.Clock().Sub(m.At) > 20*time.Hour {
		at = cells.TimeText(m.At, a.Times.Zone(), "Jan 2 15:04")
	}
	what := "#" + cells.Number(m.Seq)
	if m.Line {
		what = "line after #" + cells.Number(m.Seq)
	}
	line := cells.Sanitize(at + "  " + what + "  ")
	if m.Note != "" {
		return cells.Join(line, cells.Sanitize(m.Note))
	}
	if r, ok := a.stream.Marks.Record(m.Seq); ok {
		return cells.Join(line, cells.Sanitize(r.Server+" "), trust.Line(r.Type))
	}
	return line
}

// openMarks lists the marks.
func (a *app) openMarks() {
	marks.Open(&marks.Env{Env: &a.Env, Screen: a, All: a.stream.Marks.List, Words: a.markWords, Goto: a.gotoSeq, Remove: a.removeMark})
}
