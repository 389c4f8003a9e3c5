package tui

import (
	"fmt"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// treeItem is a row of the tree's second section: a heading, a saved filter or a
// mark. It is no part of the stream, it leads somewhere.
type treeItem struct {
	id     string // "" of a heading
	filter string // name of a saved filter
	mark   event.Mark
	text   trust.Rendered
}

// marksListed bounds the marks that the tree lists; the list of marks has all.
const marksListed = 20

// itemsKey is what the second section was made from.
type itemsKey struct {
	marks   int
	filters string
}

// listItems lists the saved filters and the newest marks, if they changed.
func (a *app) listItems() {
	key := itemsKey{marks: a.marks.gen}
	if len(a.filters) > 0 {
		key.filters = fmt.Sprint(a.filters)
	}
	if key == a.tree.itemOf {
		return
	}
	a.tree.itemOf = key
	var out []treeItem
	head := func(text string) { out = append(out, treeItem{text: cells.Sanitize(text)}) }
	if len(a.filters) > 0 {
		head("Saved filters")
		for _, name := range sortedNames(a.filters) {
			out = append(out, treeItem{id: "filter " + name, filter: name, text: cells.Join(cells.Sanitize(name), cells.Sanitize("  "+a.filters[name]))})
		}
	}
	if list := a.marks.list(); len(list) > 0 {
		head("Marks")
		for _, m := range list[:min(len(list), marksListed)] {
			out = append(out, treeItem{id: "mark " + strconv.FormatUint(m.Seq, 10) + strconv.FormatBool(m.Line), mark: m, text: a.markWords(m)})
		}
	}
	a.tree.items = out
}

func (t *tree) loadItems() {
	for i := range t.items {
		x := &t.items[i]
		t.rows = append(t.rows, treeRow{node: query.Node{Item: x.id}, item: x, remark: x.id == ""})
	}
}

func (t *tree) drawItem(c *cells.Canvas, r *treeRow) {
	role, indent := themes.Plain, " "
	if r.item.id == "" {
		role, indent = themes.Dim, ""
	}
	c.Put(themes.Plain, indent)
	c.Safe(role, r.item.text.Clip(c.Room))
}

// openItem leads to what a row of the second section names.
func (a *app) openItem(x *treeItem) tea.Cmd {
	if x.filter == "" {
		a.Jump(x.mark.Seq)
		return nil
	}
	if err := a.useFilter(x.filter); err != nil {
		a.Fail("cannot use the filter", err)
	}
	return nil
}

func (d *shownDetail) item(a *app, x *treeItem) {
	if x.filter != "" {
		d.Say("", themes.Strong, x.filter)
		d.Say("filter  ", themes.Plain, a.filters[x.filter])
		d.Say("", themes.Key, a.KeyOf("open")+" filters the stream by it")
		return
	}
	d.Say("", themes.Strong, "mark on record "+cells.Number(x.mark.Seq))
	d.Say("set     ", themes.Plain, cells.TimeText(x.mark.At, d.Zone(), time.DateTime))
	d.Say("note    ", themes.Plain, x.mark.Note)
	d.Say("", themes.Key, a.KeyOf("open")+" shows the record in the stream")
}
