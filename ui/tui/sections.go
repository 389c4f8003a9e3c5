package tui

import (
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/tree"
)

// listItems updates the second section of the tree if views or marks have changed.
func (a *app) listItems() {
	a.tree.SetItems(tree.ItemsKey{Marks: a.stream.Marks.Gen, Saved: a.views.Gen, Times: a.Times}, a.items)
}

// items returns the rows of the second section: views, and the newest marks.
func (a *app) items() []tree.Item {
	var out []tree.Item
	head := func(text string) { out = append(out, tree.Item{Text: cells.Sanitize(text)}) }
	if names := a.views.Names(); len(names) > 0 {
		head("Views")
		for _, name := range names {
			out = append(out, tree.Item{ID: "view " + name, View: name, Text: cells.Join(cells.Sanitize(name+"  "), a.views.Words(name))})
		}
	}
	if list := a.stream.Marks.List(); len(list) > 0 {
		head("Marks")
		for _, m := range list[:min(len(list), marksListed)] {
			out = append(out, tree.Item{ID: "mark " + strconv.FormatUint(m.Seq, 10) + strconv.FormatBool(m.Line), Mark: m, Text: a.marks.Name(m)})
		}
	}
	return out
}

// openItem opens the view or marked record of a row of the second section.
func (a *app) openItem(x *tree.Item) tea.Cmd {
	if x.View != "" {
		cmd, err := a.views.Use(x.View)
		return tea.Batch(cmd, a.showError(err))
	}
	return a.Jump(x.Mark.Seq)
}

// writeItem describes a saved view or a mark.
func (a *app) writeItem(d *detail.Text, x *tree.Item) {
	if x.View != "" {
		d.Say("", themes.Strong, x.View)
		d.Say("shows   ", themes.Plain, a.views.Words(x.View).Plain())
		d.Say("", themes.Key, a.KeyOf("open")+" opens the view, "+a.KeyOf("views")+" renames it or takes it away")
		return
	}
	d.Say("", themes.Strong, "mark on record "+cells.Number(x.Mark.Seq))
	d.Say("set     ", themes.Plain, cells.TimeText(x.Mark.At, d.Zone(), time.DateTime))
	d.Say("note    ", themes.Plain, x.Mark.Note)
	d.Say("", themes.Key, a.KeyOf("open")+" shows the record in the stream")
}

// marksListed bounds the marks in the tree; the list of marks has all.
const marksListed = 20
