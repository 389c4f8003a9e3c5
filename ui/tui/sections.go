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

// listItems updates the second section of the tree if views, filters or marks have changed.
func (a *app) listItems() {
	a.tree.SetItems(tree.ItemsKey{Marks: a.stream.Marks.Gen, Saved: a.filters.Gen() + a.views.Gen, Times: a.Times}, a.items)
}

// items returns the rows of the second section: views, filters, and the newest marks.
func (a *app) items() []tree.Item {
	var out []tree.Item
	head := func(text string) { out = append(out, tree.Item{Text: cells.Sanitize(text)}) }
	if names := a.views.Names(); len(names) > 0 {
		head("Views")
		for _, name := range names {
			out = append(out, tree.Item{ID: "view " + name, View: name, Text: cells.Join(cells.Sanitize(name+"  "), a.views.Words(name))})
		}
	}
	if len(a.filters.Names()) > 0 {
		head("Saved filters")
		for _, name := range a.filters.Names() {
			out = append(out, tree.Item{ID: "filter " + name, Filter: name, Text: cells.Join(cells.Sanitize(name), cells.Sanitize("  "+a.filters.Saved(name)))})
		}
	}
	if list := a.stream.Marks.List(); len(list) > 0 {
		head("Marks")
		for _, m := range list[:min(len(list), marksListed)] {
			out = append(out, tree.Item{ID: "mark " + strconv.FormatUint(m.Seq, 10) + strconv.FormatBool(m.Line), Mark: m, Text: a.markName(m)})
		}
	}
	return out
}

// openItem opens the view, filter or marked record of a row of the second section.
func (a *app) openItem(x *tree.Item) tea.Cmd {
	if x.View != "" {
		cmd, err := a.views.Use(x.View)
		return tea.Batch(cmd, a.showError(err))
	}
	if x.Filter == "" {
		return a.Jump(x.Mark.Seq)
	}
	if err := a.filters.Use(x.Filter); err != nil {
		a.Fail("cannot use the filter", err)
	}
	return nil
}

// writeItem describes a saved view, a saved filter or a mark.
func (a *app) writeItem(d *detail.Text, x *tree.Item) {
	if x.View != "" {
		d.Say("", themes.Strong, x.View)
		d.Say("shows   ", themes.Plain, a.views.Words(x.View).Plain())
		d.Say("", themes.Key, a.KeyOf("open")+" opens the view, "+a.KeyOf("views")+" renames it or takes it away")
		return
	}
	if x.Filter != "" {
		d.Say("", themes.Strong, x.Filter)
		d.Say("filter  ", themes.Plain, a.filters.Saved(x.Filter))
		d.Say("", themes.Key, a.KeyOf("open")+" filters the stream by it")
		return
	}
	d.Say("", themes.Strong, "mark on record "+cells.Number(x.Mark.Seq))
	d.Say("set     ", themes.Plain, cells.TimeText(x.Mark.At, d.Zone(), time.DateTime))
	d.Say("note    ", themes.Plain, x.Mark.Note)
	d.Say("", themes.Key, a.KeyOf("open")+" shows the record in the stream")
}

// marksListed bounds the marks in the tree; the list of marks has all.
const marksListed = 20
