package tui

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host"
	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/evidence"
	"eventdeck/ui/tui/query"
)

// modeSwitch lets a live subscription go on in another mode.
type modeSwitch struct {
	app      *app
	id       event.SubID
	name     string
	now      event.Mode
	failover bool
	modes    []modeChoice
	at       int
}

// switchableMsg tells which modes the host would take.
type switchableMsg struct {
	dialog *modeSwitch
	why    []string
}

// switchModes are the modes in the order of failover.
var switchModes = []event.Mode{event.ModeWebhook, event.ModePush, event.ModePoll}

// switchKeys choose them, one letter each.
const switchKeys = "wpo"

func (a *app) openModeSwitch() tea.Cmd {
	v := a.selected()
	d := &modeSwitch{app: a, id: v.ID, name: evidence.SubName(&v.Subscription), now: v.Mode, failover: v.Failover}
	for i, m := range switchModes {
		d.modes = append(d.modes, modeChoice{mode: m})
		if m == v.Mode {
			d.at = i
		}
	}
	a.Show(d)
	t := a.listed(query.Node{Server: v.Key.Server, Type: v.Key.Type})
	r := host.Request{Server: v.Key.Server, Type: v.Key.Type, Args: v.Key.Args}
	return a.Do(func(ctx context.Context) tea.Msg {
		msg := switchableMsg{dialog: d, why: make([]string, len(switchModes))}
		for i, m := range switchModes {
			if r.Mode = m; t != nil && !t.Offers(m) {
				msg.why[i] = notOffered(*t)
				continue
			}
			if _, err := a.api.Check(ctx, r); err != nil && !errors.Is(err, host.ErrArguments) {
				msg.why[i] = strings.TrimPrefix(err.Error(), host.ErrMode.Error()+": ")
			}
		}
		return msg
	})
}

func (d *modeSwitch) checked(msg switchableMsg) {
	for i := range d.modes {
		d.modes[i].why = msg.why[i]
	}
}

func (d *modeSwitch) Title() string { return "Delivery" }

func (d *modeSwitch) Size(int, int) (int, int) { return 72, len(d.modes) + 6 }

func (d *modeSwitch) Draw(c *cells.Canvas, _ int) {
	a := d.app

	c.Put(themes.Plain, " ")
	c.Safe(themes.Plain, cells.Sanitize(d.name).Clip(c.Room))
	c.End()
	for i, m := range d.modes {
		mark, role := " ", themes.Plain
		switch {
		case m.mode == d.now:
			mark, role = a.Glyphs.Chosen, themes.Strong
		case m.why != "":
			mark, role = a.Glyphs.Cannot, themes.Off
		}
		if i == d.at {
			c.Only(themes.Cursor)
			c.Put(themes.Plain, a.Glyphs.Cursor)
		} else {
			c.Put(themes.Plain, " ")
		}
		c.Put(role, "("+mark+") ")
		c.Put(themes.Key, switchKeys[i:i+1]+" ")
		c.Put(role, cells.Pad(string(m.mode), 8))
		switch {
		case m.mode == d.now:
			c.Put(themes.Dim, "now")
		case m.why != "":
			c.Safe(themes.Off, cells.Sanitize(m.why).Clip(c.Room))
		}
		c.End()
	}
	c.End()
	state := "off: it stays in its mode when that fails"
	if d.failover {
		state = "on: webhook, push, poll, and back by itself"
	}
	c.Put(themes.Key, " f ")
	c.Put(themes.Plain, "failover ")
	c.Put(themes.Dim, state)
	c.End()
	c.Put(themes.Dim, " Position and what is known as delivered stay.")
	c.End()
}

func (d *modeSwitch) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	id := d.id
	switch name {
	case "esc", "q":
		a.Show(nil)
	case "j", "down":
		d.at = min(d.at+1, len(d.modes)-1)
	case "k", "up":
		d.at = max(d.at-1, 0)
	case "f":
		on := !d.failover
		a.Show(nil)
		what := "failover is off for " + d.name
		if on {
			what = "failover is on for " + d.name
		}
		return a.ask(what, func(ctx context.Context) error { return a.api.SetFailover(ctx, id, on) })
	case "w", "p", "o":
		d.at = strings.Index(switchKeys, name)
		return d.take()
	case "enter":
		return d.take()
	}
	return nil
}

// take goes on in the mode under the cursor.
func (d *modeSwitch) take() tea.Cmd {
	a := d.app

	id, m := d.id, d.modes[d.at]
	switch {
	case m.why != "":
		a.Fail(string(m.mode), errors.New(m.why))
		return nil
	case m.mode == d.now:
		a.Show(nil)
		return nil
	}
	a.Show(nil)
	return a.ask(d.name+" goes on by "+string(m.mode), func(ctx context.Context) error { return a.api.SetMode(ctx, id, m.mode) })
}

func (d *modeSwitch) Paste(string) tea.Cmd { return nil }
func (d *modeSwitch) Hints() []string {
	return []string{"j k", "move", "enter", "switch", "f", "failover", "esc", "back"}
}
