package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
)

// quietView answers why the subscription is quiet that the keys are about. It
// follows what is seen while it is open.
type quietView struct {
	app   *app
	id    event.SubID
	lines detail.Text
	top   int
}

func (a *app) openQuiet() { a.Show(&quietView{app: a, id: a.selected().ID, lines: a.newText()}) }

func (d *quietView) Title() string { return "Why is it quiet?" }

func (d *quietView) Size(sw, sh int) (int, int) {
	a := d.app

	w := max(1, min(sw-8, 100))
	d.lines.Begin(w)
	if v := a.sub(d.id); v != nil {
		d.lines.Subscription(v, a.cursorless(v))
	} else {
		d.lines.Say("", themes.Dim, "The subscription has ended.")
	}
	return w, min(len(d.lines.Lines), max(1, sh-6))
}

func (d *quietView) Draw(c *cells.Canvas, h int) {
	a := d.app

	d.top = max(0, min(d.top, len(d.lines.Lines)-h))
	for i := d.top; i < len(d.lines.Lines) && i < d.top+h; i++ {
		d.lines.Lines[i].Draw(c, a.Glyphs)
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
