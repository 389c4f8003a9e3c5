package form

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
	"eventdeck/ui/tui/widget"
)

// modeSwitch is the dialog to change the mode of a subscription.
type modeSwitch struct {
	env      *Env
	id       event.SubID
	name     string
	now      event.Mode
	failover bool
	modes    []modeChoice
	chooser  widget.Chooser
}

// switchModes are the modes in the order of failover.
var switchModes = []event.Mode{event.ModeWebhook, event.ModePush, event.ModePoll}

// switchKeys has the key of each mode.
const switchKeys = "wpo"

// OpenModes shows the modes of a subscription; typ is nil if its server does not list the type.
func OpenModes(e *Env, v host.SubscriptionView, typ *event.Type) tea.Cmd {
	d := &modeSwitch{env: e, id: v.ID, name: evidence.SubName(&v.Subscription), now: v.Mode, failover: v.Failover}
	for i, m := range switchModes {
		d.modes = append(d.modes, modeChoice{mode: m})
		if m == v.Mode {
			d.chooser.At = i
		}
	}
	e.Show(d)
	r := host.Request{Server: v.Key.Server, Type: v.Key.Type, Args: v.Key.Args}
	return e.Do(func(ctx context.Context) tea.Msg {
		var why []string
		for _, m := range switchModes {
			why = append(why, modeProblem(ctx, e.Host, typ, r, m))
		}
		return widget.Then(func() tea.Cmd {
			for i := range d.modes {
				d.modes[i].why = why[i]
			}
			return nil
		})
	})
}

func (d *modeSwitch) Title() string { return "Delivery" }

func (d *modeSwitch) Size(int, int) (int, int) { return 72, len(d.modes) + 6 }

func (d *modeSwitch) Draw(c *cells.Canvas, _ int) {
	e := d.env
	c.Put(themes.Plain, " ")
	c.Safe(themes.Plain, cells.Sanitize(d.name).Clip(c.Room))
	c.End()
	for i, m := range d.modes {
		mark, role := " ", themes.Plain
		switch {
		case m.mode == d.now:
			mark, role = e.Glyphs.Chosen, themes.Strong
		case m.why != "":
			mark, role = e.Glyphs.Cannot, themes.Off
		}
		c.Mark(i == d.chooser.At, e.Glyphs.Cursor)
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
	e := d.env
	id := d.id
	switch name {
	case "esc", "q":
		e.Show(nil)
	case "f":
		on := !d.failover
		e.Show(nil)
		what := "failover is off for " + d.name
		if on {
			what = "failover is on for " + d.name
		}
		return e.Ask(what, func(ctx context.Context) error { return e.Host.SetFailover(ctx, id, on) })
	case "w", "p", "o":
		d.chooser.At = strings.Index(switchKeys, name)
		return d.take()
	case "enter":
		return d.take()
	default:
		d.chooser.Key(name, len(d.modes))
	}
	return nil
}

// take changes to the mode under the cursor.
func (d *modeSwitch) take() tea.Cmd {
	e := d.env
	id, m := d.id, d.modes[d.chooser.At]
	switch {
	case m.why != "":
		e.Fail(string(m.mode), errors.New(m.why))
		return nil
	case m.mode == d.now:
		e.Show(nil)
		return nil
	}
	e.Show(nil)
	return e.Ask(d.name+" goes on by "+string(m.mode), func(ctx context.Context) error { return e.Host.SetMode(ctx, id, m.mode) })
}

func (d *modeSwitch) Hints() []string {
	return []string{"j k", "move", "enter", "switch", "f", "failover", "esc", "back"}
}
