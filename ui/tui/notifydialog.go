package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// notifyDialog edits the rules of notifications. Every change is kept at once.
type notifyDialog struct {
	app     *app
	at, top int
	edit    *widget.Field // the filter of the rule at, while it is typed
	before  string
	fresh   bool  // the rule is new: esc takes it away
	wrong   error // with the filter that was typed
}

func (a *app) openNotify() { a.Show(&notifyDialog{app: a}) }

func (d *notifyDialog) Title() string { return "Notifications" }
func (d *notifyDialog) Size(int, int) (int, int) {
	a := d.app
	return 66, 6 + max(3, len(a.notify.set.Rules))
}

func (d *notifyDialog) Draw(c *cells.Canvas, h int) {
	a := d.app

	n := &a.notify
	on := "off"
	if n.set.On {
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
	if len(n.set.Rules) == 0 {
		c.Safe(themes.Dim, cells.Sanitize("   none yet, so nothing is told: a adds one").Clip(c.Room))
		c.End()
	}
	rows := max(1, h-5)
	d.top = max(min(d.top, d.at), d.at-rows+1)
	for i := d.top; i < len(n.set.Rules) && i < d.top+rows; i++ {
		d.rule(c, i)
	}
}

func (d *notifyDialog) rule(c *cells.Canvas, i int) {
	a := d.app

	r := a.notify.set.Rules[i]
	sign, word, role := a.Glyphs.Chosen, "on ", themes.Plain
	if r.Off {
		sign, word, role = a.Glyphs.Choice, "off", themes.Off
	}
	mark := " "
	if i == d.at {
		mark = a.Glyphs.Cursor
		if d.edit == nil {
			c.Only(themes.Cursor)
		}
	}
	c.Put(themes.Plain, mark)
	c.Put(role, sign+" "+word+" ")
	switch {
	case i == d.at && d.edit != nil:
		d.edit.DrawLine(c, 0, true)
	case r.Filter == "":
		c.Put(themes.Dim, "everything")
	default:
		c.Safe(role, cells.Sanitize(r.Filter).Clip(c.Room))
	}
	c.End()
}

// way names how the operator is told.
func (n *notifier) way() string {
	words := map[alert]string{
		alertBell: "the bell", alertOSC9: "OSC 9 (iTerm2 and others)",
		alertOSC99: "OSC 99 (kitty)", alertOSC777: "OSC 777 (foot, Ghostty, WezTerm, urxvt)",
	}
	if n.set.By == "" {
		return words[n.detects] + ", as this terminal suggests"
	}
	return words[n.set.By]
}

func (d *notifyDialog) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	n := &a.notify
	if d.edit != nil {
		return d.typed(k)
	}
	rules := n.set.Rules
	switch name {
	case "esc", "q", "b":
		a.Show(nil)
		return nil
	case "j", "down":
		d.at = max(0, min(d.at+1, len(rules)-1))
		return nil
	case "k", "up":
		d.at = max(d.at-1, 0)
		return nil
	case "t":
		return a.alert("this is how notifications look")
	case "o":
		n.set.On = !n.set.On
		if n.set.On && len(rules) == 0 {
			d.add(n)
		}
	case "m":
		n.set.By = nextAlert(n.set.By)
	case "a":
		d.add(n)
		return nil
	case "enter", "e":
		if len(rules) > 0 {
			d.begin(rules[d.at].Filter, false)
		}
		return nil
	case "space":
		if len(rules) == 0 {
			return nil
		}
		rules[d.at].Off = !rules[d.at].Off
	case "D", "delete":
		if len(rules) == 0 {
			return nil
		}
		n.set.Rules = slices.Delete(rules, d.at, d.at+1)
		d.at = max(0, min(d.at, len(n.set.Rules)-1))
	default:
		return nil
	}
	return a.keepNotify()
}

// nextAlert goes through what the terminal suggests and every way there is.
func nextAlert(now alert) alert {
	if now == "" {
		return alerts[0]
	}
	if i := slices.Index(alerts, now) + 1; i < len(alerts) {
		return alerts[i]
	}
	return ""
}

func (d *notifyDialog) add(n *notifier) {
	n.set.Rules = append(n.set.Rules, notifyRule{})
	d.at = len(n.set.Rules) - 1
	d.begin("", true)
}

func (d *notifyDialog) begin(text string, fresh bool) {
	d.edit, d.before, d.fresh = &widget.Field{}, text, fresh
	d.edit.Set(text)
}

// typed gives a key to the filter that is typed.
func (d *notifyDialog) typed(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	n := &a.notify
	switch name {
	case "enter":
		if _, d.wrong = query.New(query.Node{}, d.edit.Text(), a.Clock()); d.wrong != nil {
			return nil
		}
		n.set.Rules[d.at].Filter = d.edit.Text()
		d.edit = nil
		return a.keepNotify()
	case "esc":
		if d.fresh {
			n.set.Rules = slices.Delete(n.set.Rules, d.at, d.at+1)
			d.at = max(0, d.at-1)
		}
		d.edit, d.wrong = nil, nil
		return a.keepNotify()
	}
	d.edit.Key(k)
	return nil
}

func (d *notifyDialog) Paste(text string) tea.Cmd {
	if d.edit != nil {
		d.edit.Insert(text)
	}
	return nil
}

func (d *notifyDialog) Hints() []string {
	if d.edit != nil {
		return []string{"enter", "keep", "esc", "undo"}
	}
	return []string{"a", "add", "enter", "edit", "space", "on or off", "D", "delete", "esc", "back"}
}
