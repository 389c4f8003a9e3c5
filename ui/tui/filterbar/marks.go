// The operator's marks: actions, their words, and the dialog that lists them.

package filterbar

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/layout"
	"eventdeck/ui/tui/palette"
	"eventdeck/ui/tui/widget"
)

// marksWidth is the width of a mark in the list, in cells.
const marksWidth = 74

// Marks sets, names and removes the operator's marks.
type Marks struct {
	env  *Env
	host MarkHost
}

// MarkHost stores marks, in the background; see [host.API].
type MarkHost interface {
	SetMark(ctx context.Context, m event.Mark) error
	RemoveMark(ctx context.Context, seq uint64, line bool) error
}

// NewMarks returns the marks of a stream.
func NewMarks(env *Env, host MarkHost) Marks { return Marks{env, host} }

var onEvent = []layout.Pane{layout.Stream, layout.Detail}

// Actions returns the actions about marks.
func (k *Marks) Actions() []palette.Action {
	return palette.Grouped("Marks",
		palette.Action{ID: "mark", Title: "mark the record, or take its mark away (bookmark)", Needs: palette.Event, Also: "bookmark acknowledge seen known", Keys: []string{"m enter"}, Menu: "mark", Hint: "mark it", Panes: onEvent, When: k.env.Stream.OnRecord, Run: k.toggle},
		palette.Action{ID: "mark.note", Title: "mark the record with a note", Needs: palette.Event, Keys: []string{"m n"}, Menu: "mark", Hint: "mark with a note", Panes: onEvent, When: k.env.Stream.OnRecord, Run: palette.Act(k.askNote)},
		palette.Action{ID: "mark.now", Title: "insert a \"now\" line", Also: "line separator marker", Keys: []string{"m m"}, Menu: "mark", Hint: "\"now\" line", Panes: onEvent, Run: k.now},
		palette.Action{ID: "marks", Title: "list the marks", Also: "bookmarks list", Keys: []string{"'"}, Run: palette.Act(k.Open)},
	)
}

// Command returns the typed command that marks.
func (k *Marks) Command() palette.ActionCommand {
	return palette.ActionCommand{Name: "mark", Usage: "[NOTE]", Title: "mark the chosen record", Run: k.run}
}

func (k *Marks) run(words []string) (tea.Cmd, error) {
	if k.env.Stream.At == 0 {
		return nil, fmt.Errorf("no record is chosen")
	}
	if len(words) == 0 {
		return k.choose(), nil
	}
	return k.set(event.Mark{Seq: k.env.Stream.At, Note: strings.Join(words, " ")}, "marked"), nil
}

// set stores a mark.
func (k *Marks) set(m event.Mark, what string) tea.Cmd {
	if m.At.IsZero() {
		m.At = k.env.Clock()
	}
	return k.env.Ask(what, func(ctx context.Context) error { return k.host.SetMark(ctx, m) })
}

func (k *Marks) remove(m event.Mark) tea.Cmd {
	return k.env.Ask("the mark is removed", func(ctx context.Context) error { return k.host.RemoveMark(ctx, m.Seq, m.Line) })
}

// toggle marks the chosen record, or removes its mark. For a mark with a note it shows the note
// instead, so that the note is not lost by one key.
func (k *Marks) toggle() tea.Cmd {
	if old, marked := k.env.Stream.Marks.Find(k.env.Stream.At); marked && old.Note == "" {
		return k.remove(old)
	}
	return k.choose()
}

// choose marks the chosen record without a note. If it has a note, it shows that for editing.
func (k *Marks) choose() tea.Cmd {
	seq := k.env.Stream.At
	if old, _ := k.env.Stream.Marks.Find(seq); old.Note != "" {
		k.askNote()
		return nil
	}
	return k.set(event.Mark{Seq: seq}, "marked record "+cells.Number(seq))
}

// askNote asks for the note of the mark on the chosen record.
func (k *Marks) askNote() {
	seq := k.env.Stream.At
	old, marked := k.env.Stream.Marks.Find(seq)
	says := "enter marks the record, with or without a note; esc goes back"
	if marked {
		says = "enter keeps the note; an empty one removes the mark"
	}
	k.env.AskLine(&widget.Prompt{Label: "mark " + cells.Number(seq) + ":", Says: says, Done: func(text string) tea.Cmd {
		if marked && text == "" {
			return k.remove(old)
		}
		return k.set(event.Mark{Seq: seq, Note: text}, "marked record "+cells.Number(seq))
	}}, old.Note)
}

// now inserts a "now" line after the newest record.
func (k *Marks) now() tea.Cmd {
	last := k.env.Snap.Last
	if last == 0 {
		k.env.Tell("nothing is stored yet: a \"now\" line stands behind a record")
		return nil
	}
	return k.set(event.Mark{Seq: last, Line: true}, "\"now\" line behind record "+cells.Number(last))
}

// Words describes a mark on one line: time, event and note.
func (k *Marks) Words(m event.Mark) trust.Rendered {
	what := cells.Sanitize("#" + cells.Number(m.Seq))
	r, ok := k.env.Stream.Marks.Record(m.Seq)
	if ok {
		what = cells.Join(cells.Sanitize(r.Server+" "), trust.Line(r.Name()))
	}
	switch {
	case m.Line:
		what = cells.Join(cells.Sanitize(k.dayTime(m.At)+"  line after "), what)
	case ok:
		_, summary, _ := k.env.Stream.Headline(&r)
		what = cells.Join(cells.Sanitize(k.dayTime(r.ReceivedAt)+"  "), what, cells.Sanitize("  "), summary)
	}
	if m.Note == "" {
		return what
	}
	note := cells.Join(cells.Sanitize("  "+k.env.Glyphs.Mark+" "), cells.Sanitize(m.Note))
	return cells.Join(what.Clip(max(marksWidth-note.Width, marksWidth/2)), note)
}

// Name describes a mark in few words: by its note, if it has one.
func (k *Marks) Name(m event.Mark) trust.Rendered {
	if m.Note == "" {
		return k.Words(m)
	}
	at := m.At
	if r, ok := k.env.Stream.Marks.Record(m.Seq); ok && !m.Line {
		at = r.ReceivedAt
	}
	return cells.Sanitize(k.dayTime(at) + "  " + m.Note)
}

// dayTime formats a time, with its day if it is more than 20 hours ago.
func (k *Marks) dayTime(t time.Time) string {
	format := cells.TimeShort
	if k.env.Clock().Sub(t) > 20*time.Hour {
		format = "Jan 2 15:04"
	}
	return cells.TimeText(t, k.env.Times.Zone(), format)
}

// markList lists marks, goes to their records, and removes marks.
type markList struct {
	env *Env
	of  *Marks
	widget.Picker
	marks []event.Mark
}

// Open lists the marks.
func (k *Marks) Open() {
	d := &markList{env: k.env, of: k}
	d.load()
	k.env.Show(d)
}

func (d *markList) load() {
	d.marks = d.env.Stream.Marks.List()
	all := make([]widget.Pick, len(d.marks))
	for i, m := range d.marks {
		all[i] = widget.Pick{Text: d.of.Words(m), Find: widget.Findable(d.of.Words(m).Plain())}
	}
	d.Refill(all)
}

func (d *markList) Title() string            { return "Marks" }
func (d *markList) Size(int, int) (int, int) { return marksWidth + 2, max(3, len(d.marks)+1) }

func (d *markList) Draw(c *cells.Canvas, h int) {
	if len(d.marks) == 0 {
		c.Put(themes.Dim, " No marks yet. "+d.env.KeyOf("mark")+" marks a record, "+d.env.KeyOf("mark.now")+" inserts a \"now\" line.")
		c.End()
		return
	}
	d.DrawField(c, d.env.KeyOf("marks"), h-1)
	d.DrawList(d.env.Glyphs, c, h-1, func(c *cells.Canvas, x *widget.Pick) { c.Safe(themes.Plain, x.Text.Clip(c.Room)) })
}

func (d *markList) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch name {
	case "esc":
		d.env.Show(nil)
	case "enter":
		if d.Chosen() != nil {
			d.env.Show(nil)
			d.env.Goto(d.marks[d.Found[d.At]].Seq)
		}
	case "delete", "ctrl+x":
		if d.Chosen() != nil {
			return d.of.remove(d.marks[d.Found[d.At]])
		}
	default:
		d.Picker.Key(k)
	}
	return nil
}

func (d *markList) Paste(s string) tea.Cmd { d.Insert(s); return nil }
func (d *markList) Hints() []string {
	return []string{"enter", "go there", "delete", "take away", "type", "to find", "esc", "back"}
}
