package palette

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// Help lists and runs the actions that work in the pane from which it was opened, under headings.
// Typing narrows the list by text or by key.
type Help struct {
	env    *cells.Env
	screen widget.Screen
	widget.Picker
	Rows []Row
}

// Row is an action that works in the pane.
type Row struct {
	ID, Title string
	Group     string   // heading
	Keys      []string // a space separates the two keys of a sequence
	Run       func() tea.Cmd
}

// OpenHelp opens the help with rows, which are sorted by group.
func OpenHelp(env *cells.Env, screen widget.Screen, rows []Row) {
	all := make([]widget.Pick, len(rows))
	for i, x := range rows {
		all[i] = widget.Pick{Kind: x.Group, Text: cells.Sanitize(x.Title), Keys: strings.Join(x.Keys, ", "), Find: widget.Findable(x.Title, x.ID, x.Group)}
	}
	screen.Show(&Help{env: env, screen: screen, Rows: rows, Picker: widget.NewPicker(all)})
}

// Title implements [widget.Dialog].
func (d *Help) Title() string { return "Keys that work here" }

// Size implements [widget.Dialog].
func (d *Help) Size(int, int) (int, int) { return 88, len(d.Rows) + 1 }

// Draw implements [widget.Dialog].
func (d *Help) Draw(c *cells.Canvas, h int) {
	d.DrawField(c, "?", h-1)
	if len(d.Found) == 0 {
		c.Put(themes.Dim, "  nothing that works here has this text or key")
		c.End()
		return
	}
	keys := min(16, c.Width/4)
	last := ""
	d.DrawList(d.env.Glyphs, c, h-1, func(c *cells.Canvas, x *widget.Pick) {
		c.Put(themes.Key, cells.Pad(x.Keys, keys))
		c.Safe(themes.Plain, x.Text.Clip(c.Room))
		if x.Kind != last {
			c.Right(themes.Dim, x.Kind+" ")
		}
		last = x.Kind
	})
}

// Key implements [widget.Dialog].
func (d *Help) Key(k tea.KeyPressMsg) tea.Cmd {
	name, text := k.String(), k.Text
	if name == "?" && d.Field.Text() == "" { // the key that opened it
		name = "esc"
	}
	switch name {
	case "esc":
		if d.Field.Text() != "" {
			d.Field.Set("")
			d.Search()
			return nil
		}
		d.screen.Show(nil)
	case "enter":
		if d.Chosen() == nil {
			return nil
		}
		d.screen.Show(nil)
		return d.Rows[d.Found[d.At]].Run()
	default:
		if !d.Picker.Key(k) && text == "" {
			d.byKey(name)
			return nil
		}
		d.byText()
	}
	return nil
}

// byText lists actions whose key was typed before actions whose text was.
func (d *Help) byText() {
	typed := d.Field.Text()
	var keyed []int
	for i, x := range d.Rows {
		if slices.Contains(x.Keys, typed) || slices.ContainsFunc(x.Keys, func(k string) bool { return strings.HasPrefix(k, typed+" ") && typed != "" }) {
			keyed = append(keyed, i)
		}
	}
	d.Found = append(keyed, slices.DeleteFunc(d.Found, func(i int) bool { return slices.Contains(keyed, i) })...)
}

// byKey shows the action of a key that types no text.
func (d *Help) byKey(name string) {
	if !slices.ContainsFunc(d.Rows, func(x Row) bool { return slices.Contains(x.Keys, name) }) || slices.Contains(moves[:], name) {
		return
	}
	d.Field.Set(name)
	d.Search()
	d.byText()
}

// moves are the keys that move in the help itself.
var moves = [...]string{"up", "down", "left", "right", "home", "end", "pgup", "pgdown", "ctrl+d", "ctrl+u", "ctrl+n", "ctrl+p", "ctrl+j"}

// Paste implements [widget.Dialog].
func (d *Help) Paste(s string) tea.Cmd {
	d.Insert(s)
	d.byText()
	return nil
}

// Hints implements [widget.Dialog].
func (d *Help) Hints() []string {
	return []string{"type", "a text or a key", "up down", "move", "enter", "do it", "esc", "back"}
}

// Here returns the actions that work now, by group.
func (t *Table) Here() []*Action {
	return slices.DeleteFunc(ByGroup(t.Actions), func(x *Action) bool { return !t.Works(x) || x.ID == "help" })
}

// OpenHelp opens the help: the keys that work now.
func (t *Table) OpenHelp(env *cells.Env) {
	var rows []Row
	for _, x := range t.Here() {
		if len(x.Keys) == 0 { // the palette has it
			continue
		}
		run := func() tea.Cmd { return t.Perform(x) }
		if x.KeyOnly {
			run = Act(func() { t.Screen.Tell(t.KeyOf(x.ID) + " does that, where it is shown; this list does not") })
		}
		rows = append(rows, Row{ID: x.ID, Title: x.Title, Group: x.Group, Keys: x.Keys, Run: run})
	}
	OpenHelp(env, t.Screen, rows)
}
