package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// help lists what works in the place from which it was opened, under headings,
// and runs it. What is typed narrows the list by text or by key.
type help struct {
	app *app
	widget.Picker
	rows []*action
}

func newHelp(a *app) *help {
	d := &help{app: a}
	var all []widget.Pick
	for _, x := range byGroup(a.actions) {
		if x.works(a) && x.id != "help" {
			d.rows = append(d.rows, x)
			all = append(all, widget.Pick{Kind: x.group, Text: cells.Sanitize(x.title), Keys: strings.Join(x.keys, ", "), Find: widget.Findable(x.title, x.id, x.group)})
		}
	}
	d.Picker = widget.NewPicker(all)
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

func (d *help) Title() string            { return "Keys that work here" }
func (d *help) Size(int, int) (int, int) { return 88, len(d.rows) + 1 }

func (d *help) Draw(c *cells.Canvas, h int) {
	a := d.app

	d.DrawField(c, "?")
	if len(d.Found) == 0 {
		c.Put(themes.Dim, "  nothing that works here has this text or key")
		c.End()
		return
	}
	keys := min(16, c.Width/4)
	last := ""
	d.DrawList(a.Glyphs, c, h-1, func(c *cells.Canvas, x *widget.Pick) {
		c.Put(themes.Key, cells.Pad(x.Keys, keys))
		c.Safe(themes.Plain, x.Text.Clip(c.Room))
		if x.Kind != last {
			c.Right(themes.Dim, x.Kind+" ")
		}
		last = x.Kind
	})
}

func (d *help) Key(k tea.KeyPressMsg) tea.Cmd {
	name, text := k.String(), k.Text
	a := d.app

	switch name {
	case "esc":
		if d.Field.Text() != "" {
			d.Field.Set("")
			d.Search()
			return nil
		}
		a.Show(nil)
	case "enter":
		if d.Chosen() == nil {
			return nil
		}
		a.Show(nil)
		return a.perform(d.rows[d.Found[d.At]])
	default:
		if !d.Picker.Key(k) && text == "" {
			d.byKey(name)
			return nil
		}
		d.byText()
	}
	return nil
}

// byText puts the actions of a typed key before those of a text.
func (d *help) byText() {
	typed := d.Field.Text()
	var keyed []int
	for i, x := range d.rows {
		if slices.Contains(x.keys, typed) || slices.ContainsFunc(x.keys, func(k string) bool { return strings.HasPrefix(k, typed+" ") && typed != "" }) {
			keyed = append(keyed, i)
		}
	}
	d.Found = append(keyed, slices.DeleteFunc(d.Found, func(i int) bool { return slices.Contains(keyed, i) })...)
}

// byKey shows what a key that is no letter does.
func (d *help) byKey(name string) {
	if !slices.ContainsFunc(d.rows, func(x *action) bool { return slices.Contains(x.keys, name) }) || slices.Contains(d.moves(), name) {
		return
	}
	d.Field.Set(name)
	d.Search()
	d.byText()
}

// moves are the keys that move in the help itself.
func (d *help) moves() []string {
	return []string{"up", "down", "left", "right", "home", "end", "pgup", "pgdown", "ctrl+d", "ctrl+u", "ctrl+n", "ctrl+k", "ctrl+j"}
}

func (d *help) Paste(s string) tea.Cmd {
	d.Insert(s)
	d.byText()
	return nil
}

func (d *help) Hints() []string {
	return []string{"type", "a text or a key", "up down", "move", "enter", "do it", "esc", "back"}
}
