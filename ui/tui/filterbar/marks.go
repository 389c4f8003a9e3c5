// Has the dialog that lists the operator's marks.

package filterbar

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// MarksWidth is the width of a mark in the list, in cells.
const MarksWidth = 74

// markList lists marks, goes to their records, and removes marks.
type markList struct {
	env *Env
	widget.Picker
	marks []event.Mark
}

// OpenMarks opens the list.
func OpenMarks(env *Env) {
	d := &markList{env: env}
	d.load()
	env.Show(d)
}

func (d *markList) load() {
	d.marks = d.env.Stream.Marks.List()
	all := make([]widget.Pick, len(d.marks))
	for i, m := range d.marks {
		all[i] = widget.Pick{Text: d.env.MarkWords(m), Find: widget.Findable(d.env.MarkWords(m).Plain())}
	}
	d.Refill(all)
}

func (d *markList) Title() string            { return "Marks" }
func (d *markList) Size(int, int) (int, int) { return MarksWidth + 2, max(3, len(d.marks)+1) }

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
			return d.env.RemoveMark(d.marks[d.Found[d.At]])
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
