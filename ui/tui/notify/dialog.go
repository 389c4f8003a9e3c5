package notify

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// dialog edits the rules of notifications. Every change is saved at once.
type dialog struct {
	screen widget.Screen
	*Notifier
	keep    func() tea.Cmd // compiles and saves the settings
	chooser widget.Chooser
	edit    *widget.Field // the filter of the chosen rule while it is typed; nil: none is
	fresh   bool          // the rule is new: esc removes it
	wrong   error         // of the typed filter
}

// Open shows the rules. keep is called after each change of the settings.
func Open(screen widget.Screen, n *Notifier, keep func() tea.Cmd) {
	screen.Show(&dialog{screen: screen, Notifier: n, keep: keep})
}

func (d *dialog) Title() string { return "Notifications" }
func (d *dialog) Size(int, int) (int, int) {
	return 66, 6 + max(3, len(d.Settings.Rules))
}

func (d *dialog) Draw(c *cells.Canvas, h int) {
	n := d.Notifier
	on := "off"
	if n.Settings.On {
		on = "on"
	}
	for _, line := range [][2]string{
		{"o", on + " (only while the focus is elsewhere; one in 10 s at most)"},
		{"m", "by " + n.way()},
		{"t", "try it now"},
	} {
		c.Put(themes.Key, " "+cells.Pad(line[0], 2))
		c.Safe(themes.Plain, cells.Sanitize(line[1]).Clip(c.Room))
		c.End()
	}
	c.End()
	if d.wrong != nil {
		c.Safe(themes.Bad, cells.Sanitize(" "+d.wrong.Error()).Clip(c.Room))
	} else {
		c.Safe(themes.Title, cells.Sanitize(" Rules: filters, as in the stream; an empty one matches all").Clip(c.Room))
	}
	c.End()
	if len(n.Settings.Rules) == 0 {
		c.Safe(themes.Dim, cells.Sanitize("   none yet, so nothing is told: a adds one").Clip(c.Room))
		c.End()
	}
	first, end := d.chooser.Visible(len(n.Settings.Rules), max(1, h-5))
	for i := first; i < end; i++ {
		d.rule(c, i)
	}
}

func (d *dialog) rule(c *cells.Canvas, i int) {
	r := d.Settings.Rules[i]
	sign, word, role := d.env.Glyphs.Chosen, "on ", themes.Plain
	if r.Off {
		sign, word, role = d.env.Glyphs.Choice, "off", themes.Off
	}
	mark := " "
	if i == d.chooser.At {
		mark = d.env.Glyphs.Cursor
		if d.edit == nil {
			c.Only(themes.Cursor)
		}
	}
	c.Put(themes.Plain, mark)
	c.Put(role, sign+" "+word+" ")
	switch {
	case i == d.chooser.At && d.edit != nil:
		d.edit.DrawLine(c, 0, true)
	case r.Filter == "":
		c.Put(themes.Dim, "everything")
	default:
		c.Safe(role, cells.Sanitize(r.Filter).Clip(c.Room))
	}
	c.End()
}

// way names the alert that is used.
func (n *Notifier) way() string {
	words := map[Alert]string{
		Bell: "the bell", OSC9: "OSC 9 (iTerm2 and others)",
		OSC99: "OSC 99 (kitty)", OSC777: "OSC 777 (foot, Ghostty, WezTerm, urxvt)",
	}
	if n.Settings.By == "" {
		return words[n.detects] + ", as this terminal suggests"
	}
	return words[n.Settings.By]
}

func (d *dialog) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	n := d.Notifier
	if d.edit != nil {
		return d.typed(k)
	}
	rules := n.Settings.Rules
	switch name {
	case "esc", "q", "b":
		d.screen.Show(nil)
		return nil
	case "t":
		return d.alert("this is how notifications look")
	case "o":
		n.Settings.On = !n.Settings.On
		if n.Settings.On && len(rules) == 0 {
			d.add(n)
		}
	case "m":
		n.Settings.By = nextAlert(n.Settings.By)
	case "a":
		d.add(n)
		return nil
	case "enter", "e":
		if len(rules) > 0 {
			d.begin(rules[d.chooser.At].Filter, false)
		}
		return nil
	case "space":
		if len(rules) == 0 {
			return nil
		}
		rules[d.chooser.At].Off = !rules[d.chooser.At].Off
	case "D", "delete":
		if len(rules) == 0 {
			return nil
		}
		n.Settings.Rules = slices.Delete(rules, d.chooser.At, d.chooser.At+1)
		d.chooser.At = max(0, min(d.chooser.At, len(n.Settings.Rules)-1))
	default:
		d.chooser.Key(name, len(rules))
		return nil
	}
	return d.keep()
}

// nextAlert cycles through the alert that the terminal suggests, "", and all alerts.
func nextAlert(now Alert) Alert {
	if now == "" {
		return Alerts[0]
	}
	if i := slices.Index(Alerts, now) + 1; i < len(Alerts) {
		return Alerts[i]
	}
	return ""
}

func (d *dialog) add(n *Notifier) {
	n.Settings.Rules = append(n.Settings.Rules, Rule{})
	d.chooser.At = len(n.Settings.Rules) - 1
	d.begin("", true)
}

func (d *dialog) begin(text string, fresh bool) {
	d.edit, d.fresh = &widget.Field{}, fresh
	d.edit.Set(text)
}

// typed handles a key while a filter is typed.
func (d *dialog) typed(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	n := d.Notifier
	switch name {
	case "enter":
		if _, d.wrong = query.New(query.Node{}, d.edit.Text(), d.env.Clock()); d.wrong != nil {
			return nil
		}
		n.Settings.Rules[d.chooser.At].Filter = d.edit.Text()
		d.edit = nil
		return d.keep()
	case "esc":
		if d.fresh {
			n.Settings.Rules = slices.Delete(n.Settings.Rules, d.chooser.At, d.chooser.At+1)
			d.chooser.At = max(0, d.chooser.At-1)
		}
		d.edit, d.wrong = nil, nil
		return d.keep()
	}
	d.edit.Key(k)
	return nil
}

func (d *dialog) Paste(text string) tea.Cmd {
	if d.edit != nil {
		d.edit.Insert(text)
	}
	return nil
}

func (d *dialog) Hints() []string {
	if d.edit != nil {
		return []string{"enter", "keep", "esc", "undo"}
	}
	return []string{"a", "add", "enter", "edit", "space", "on or off", "D", "delete", "esc", "back"}
}
