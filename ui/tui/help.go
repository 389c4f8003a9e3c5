package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// help lists what works in the place from which it was opened, under headings,
// and runs it. What is typed narrows the list by text or by key.
type help struct {
	picker
	rows []*action
}

func newHelp(a *app) *help {
	d := &help{}
	var all []pick
	for _, x := range byGroup(a.actions) {
		if x.works(a) && x.id != "help" {
			d.rows = append(d.rows, x)
			all = append(all, pick{kind: x.group, text: cells.Sanitize(x.title), keys: strings.Join(x.keys, ", "), find: findable(x.title, x.id, x.group)})
		}
	}
	d.picker = newPicker(all)
	return d
}

// byGroup returns the actions with the same heading together.
func byGroup(table []action) []*action {
	var heads []string
	for i := range table {
		if !slices.Contains(heads, table[i].group) {
			heads = append(heads, table[i].group)
		}
	}
	out := make([]*action, len(table))
	for i := range table {
		out[i] = &table[i]
	}
	slices.SortStableFunc(out, func(x, y *action) int { return slices.Index(heads, x.group) - slices.Index(heads, y.group) })
	return out
}

func (d *help) title() string        { return "Keys that work here" }
func (d *help) size(*app) (int, int) { return 88, len(d.rows) + 1 }

func (d *help) draw(a *app, c *cells.Canvas, h int) {
	d.drawField(c, "?")
	if len(d.found) == 0 {
		c.Put(themes.Dim, "  nothing that works here has this text or key")
		c.End()
		return
	}
	keys := min(16, c.Width/4)
	last := ""
	d.drawList(a, c, h-1, func(c *cells.Canvas, x *pick) {
		c.Put(themes.Key, cells.Pad(x.keys, keys))
		c.Safe(themes.Plain, x.text.Clip(c.Room))
		if x.kind != last {
			c.Right(themes.Dim, x.kind+" ")
		}
		last = x.kind
	})
}

func (d *help) key(a *app, name, text string) tea.Cmd {
	switch name {
	case "esc":
		if d.field.text() != "" {
			d.field.set("")
			d.search()
			return nil
		}
		a.dialog = nil
	case "enter":
		if d.chosen() == nil {
			return nil
		}
		a.dialog = nil
		return a.perform(d.rows[d.found[d.at]])
	default:
		if !d.picker.key(name, text) && text == "" {
			d.byKey(name)
			return nil
		}
		d.byText()
	}
	return nil
}

// byText puts the actions of a typed key before those of a text.
func (d *help) byText() {
	typed := d.field.text()
	var keyed []int
	for i, x := range d.rows {
		if slices.Contains(x.keys, typed) || slices.ContainsFunc(x.keys, func(k string) bool { return strings.HasPrefix(k, typed+" ") && typed != "" }) {
			keyed = append(keyed, i)
		}
	}
	d.found = append(keyed, slices.DeleteFunc(d.found, func(i int) bool { return slices.Contains(keyed, i) })...)
}

// byKey shows what a key that is no letter does.
func (d *help) byKey(name string) {
	if !slices.ContainsFunc(d.rows, func(x *action) bool { return slices.Contains(x.keys, name) }) || slices.Contains(d.moves(), name) {
		return
	}
	d.field.set(name)
	d.search()
	d.byText()
}

// moves are the keys that move in the help itself.
func (d *help) moves() []string {
	return []string{"up", "down", "left", "right", "home", "end", "pgup", "pgdown", "ctrl+d", "ctrl+u", "ctrl+n", "ctrl+k", "ctrl+j"}
}

func (d *help) paste(_ *app, s string) tea.Cmd {
	d.insert(s)
	d.byText()
	return nil
}

func (d *help) hints() []string {
	return []string{"type", "a text or a key", "up down", "move", "enter", "do it", "esc", "back"}
}
