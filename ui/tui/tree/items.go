package tree

import (
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// Item is a row of the tree's second section: a heading, a saved view or filter, or a
// mark. It is no part of the stream, it leads somewhere.
type Item struct {
	ID     string // "" of a heading
	View   string // name of a saved view
	Filter string // name of a saved filter
	Mark   event.Mark
	Text   trust.Rendered
}

// ItemsKey is what the second section was made from.
type ItemsKey struct {
	Marks int
	Saved int // grows with what is saved
	Times cells.TimeView
}

// SetItems takes the rows of the second section, if what they are made from has changed.
func (t *Tree) SetItems(of ItemsKey, items func() []Item) {
	if of != t.itemsKey {
		t.itemsKey, t.items = of, items()
	}
}

func (t *Tree) loadItems() {
	for i := range t.items {
		x := &t.items[i]
		t.Rows = append(t.Rows, Row{Node: query.Node{Item: x.ID}, Item: x, remark: x.ID == ""})
	}
}

func (t *Tree) drawItem(c *cells.Canvas, r *Row) {
	role, indent := themes.Plain, " "
	if r.Item.ID == "" {
		role, indent = themes.Dim, ""
	}
	c.Put(themes.Plain, indent)
	c.Safe(role, r.Item.Text.Clip(c.Room))
}
