package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// quietView answers why the subscription is quiet that the keys are about. It
// follows what is seen while it is open.
type quietView struct {
	app   *app
	id    event.SubID
	lines detail
	top   int
}

func (a *app) openQuiet() { a.Show(&quietView{app: a, id: a.selected().ID}) }

func (d *quietView) Title() string { return "Why is it quiet?" }

func (d *quietView) Size(sw, sh int) (int, int) {
	a := d.app

	w := max(1, min(sw-8, 100))
	d.lines.lines, d.lines.of.w = d.lines.lines[:0], w
	if v := a.sub(d.id); v != nil {
		d.lines.subscription(a, v)
	} else {
		d.lines.say("", themes.Dim, "The subscription has ended.")
	}
	return w, min(len(d.lines.lines), max(1, sh-6))
}

func (d *quietView) Draw(c *cells.Canvas, h int) {
	a := d.app

	d.lines.shown = h
	d.top = max(0, min(d.top, len(d.lines.lines)-h))
	for i := d.top; i < len(d.lines.lines) && i < d.top+h; i++ {
		d.lines.lines[i].draw(c, a.Glyphs)
	}
}

func (d *quietView) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.app

	switch name {
	case "esc", "q", "i", "enter":
		a.Show(nil)
	case "j", "down":
		d.top++
	case "k", "up":
		d.top--
	case "u":
		return a.perform(a.action("sub.refresh"))
	}
	return nil
}

func (d *quietView) Paste(string) tea.Cmd { return nil }
func (d *quietView) Hints() []string {
	return []string{"j k", "scroll", "u", "ask the server again", "esc", "back"}
}
