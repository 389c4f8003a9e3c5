package tree

import (
	"eventdeck/host/event"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// Item is a row below the servers: a heading, a saved view or filter, or a mark.
type Item struct {
	ID   string // "" for a heading
	View string // name of a saved view
	Mark event.Mark
	Text trust.Rendered
}

// ItemsKey has what the items depend on.
type ItemsKey struct {
	Marks int
	Saved int // grows with what is saved
	Times cells.TimeView
}

// SetItems sets the items if of has changed.
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
