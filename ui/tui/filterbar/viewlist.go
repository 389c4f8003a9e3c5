package filterbar

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// viewList is the dialog of saved views. It also saves the current view under the typed name.
type viewList struct {
	views *Views
	widget.Picker
	names []string
}

// List opens the dialog of saved views.
func (v *Views) List() {
	d := &viewList{views: v}
	d.load()
	v.env.Screen.Show(d)
}

func (d *viewList) load() {
	d.names = d.views.Names()
	all := make([]widget.Pick, len(d.names))
	for i, name := range d.names {
		text := d.views.Words(name)
		all[i] = widget.Pick{Kind: name, Text: text, Find: widget.Findable(name, text.Plain())}
	}
	d.Refill(all)
}

func (d *viewList) Title() string            { return "Views" }
func (d *viewList) Size(int, int) (int, int) { return 90, max(4, len(d.names)+1) }

func (d *viewList) Draw(c *cells.Canvas, h int) {
	d.DrawField(c, d.views.env.Screen.KeyOf("views"), h-1)
	if len(d.names) == 0 {
		c.End()
		c.Put(themes.Dim, " No views yet. Type a name, and ctrl+s saves under it what is shown:")
		c.End()
		c.Put(themes.Dim, " place, filter, columns, and how two streams share the screen.")
		c.End()
		return
	}
	d.DrawList(d.views.env.Glyphs, c, h-1, func(c *cells.Canvas, x *widget.Pick) {
		name := cells.Sanitize(x.Kind).Clip(30)
		c.Safe(themes.Strong, name)
		c.Fill(max(2, 22-name.Width))
		c.Safe(themes.Dim, x.Text.Clip(c.Room))
	})
}

// chosen returns the name under the cursor, "" if there is none.
func (d *viewList) chosen() string {
	if x := d.Chosen(); x != nil {
		return x.Kind
	}
	return ""
}

func (d *viewList) Key(k tea.KeyPressMsg) tea.Cmd {
	v, name := d.views, d.chosen()
	screen := v.env.Screen
	switch key := k.String(); {
	case key == "esc":
		screen.Show(nil)
	case key == "ctrl+s":
		typed := d.Field.Text()
		screen.Show(nil)
		if typed == "" {
			v.AskSave()
			return nil
		}
		return v.report(v.saveCurrent(typed))
	case key == "enter" && name != "":
		screen.Show(nil)
		return v.report(v.Use(name))
	case key == "ctrl+r" && name != "":
		screen.Show(nil)
		v.AskRename(name)
	case (key == "delete" || key == "ctrl+x") && name != "":
		cmd := v.report(v.Delete(name))
		d.load()
		return cmd
	default:
		d.Picker.Key(k)
	}
	return nil
}

func (d *viewList) Paste(s string) tea.Cmd { d.Insert(s); return nil }
func (d *viewList) Hints() []string {
	return []string{"enter", "open", "ctrl+s", "save what is shown", "ctrl+r", "rename", "delete", "take away", "type", "to find", "esc", "back"}
}
