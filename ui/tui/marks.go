package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/filterbar"
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
	return a.Ask("the mark is removed", func(ctx context.Context) error { return a.o.API.RemoveMark(ctx, m.Seq, m.Line) })
}

// toggleMark marks the chosen record, or removes its mark. For a mark with a note it shows the note
// instead, so that the note is not lost by one key.
func (a *app) toggleMark() tea.Cmd {
	if old, marked := a.stream.Marks.Find(a.stream.At); marked && old.Note == "" {
		return a.removeMark(old)
	}
	return a.markChosen()
}

// markChosen marks the chosen record without a note. If it has a note, it shows that for editing.
func (a *app) markChosen() tea.Cmd {
	seq := a.stream.At
	if old, _ := a.stream.Marks.Find(seq); old.Note != "" {
		a.askNote()
		return nil
	}
	return a.setMark(event.Mark{Seq: seq}, "marked record "+cells.Number(seq))
}

// askNote asks for the note of the mark on the chosen record.
func (a *app) askNote() {
	seq := a.stream.At
	old, marked := a.stream.Marks.Find(seq)
	says := "enter marks the record, with or without a note; esc goes back"
	if marked {
		says = "enter keeps the note; an empty one removes the mark"
	}
	a.AskLine(&widget.Prompt{Label: "mark " + cells.Number(seq) + ":", Says: says, Done: func(text string) tea.Cmd {
		if marked && text == "" {
			return a.removeMark(old)
		}
		return a.setMark(event.Mark{Seq: seq, Note: text}, "marked record "+cells.Number(seq))
	}}, old.Note)
}

// markNow inserts a "now" line after the newest record.
func (a *app) markNow() tea.Cmd {
	last := a.snap.Last
	if last == 0 {
		a.Tell("nothing is stored yet: a \"now\" line stands behind a record")
		return nil
	}
	return a.setMark(event.Mark{Seq: last, Line: true}, "\"now\" line behind record "+cells.Number(last))
}

// onRecord reports whether a record is chosen.
func (a *app) onRecord() bool { return a.stream.At != 0 && a.table() == nil }

// markWords describes a mark on one line: time, event and note.
func (a *app) markWords(m event.Mark) trust.Rendered {
	what := cells.Sanitize("#" + cells.Number(m.Seq))
	r, ok := a.stream.Marks.Record(m.Seq)
	if ok {
		what = cells.Join(cells.Sanitize(r.Server+" "), trust.Line(r.Name()))
	}
	switch {
	case m.Line:
		what = cells.Join(cells.Sanitize(a.dayTime(m.At)+"  line after "), what)
	case ok:
		_, summary, _ := a.stream.Headline(&r)
		what = cells.Join(cells.Sanitize(a.dayTime(r.ReceivedAt)+"  "), what, cells.Sanitize("  "), summary)
	}
	if m.Note == "" {
		return what
	}
	note := cells.Join(cells.Sanitize("  "+a.Glyphs.Mark+" "), cells.Sanitize(m.Note))
	return cells.Join(what.Clip(max(filterbar.MarksWidth-note.Width, filterbar.MarksWidth/2)), note)
}

// markName describes a mark in few words: by its note, if it has one.
func (a *app) markName(m event.Mark) trust.Rendered {
	if m.Note == "" {
		return a.markWords(m)
	}
	at := m.At
	if r, ok := a.stream.Marks.Record(m.Seq); ok && !m.Line {
		at = r.ReceivedAt
	}
	return cells.Sanitize(a.dayTime(at) + "  " + m.Note)
}

// noteOf returns the note of the mark on a record, "" for none.
func (a *app) noteOf(seq uint64) string {
	m, _ := a.stream.Marks.Find(seq)
	return m.Note
}

// dayTime formats a time, with its day if it is more than 20 hours ago.
func (a *app) dayTime(t time.Time) string {
	format := cells.TimeShort
	if a.Clock().Sub(t) > 20*time.Hour {
		format = "Jan 2 15:04"
	}
	return cells.TimeText(t, a.Times.Zone(), format)
}

// openMarks lists the marks.
func (a *app) openMarks() {
	filterbar.OpenMarks(a.filterbarEnv())
}
