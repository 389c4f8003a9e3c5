package detail

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
	"eventdeck/ui/tui/widget"
)

// quietView is the dialog that explains why a subscription is quiet. It is updated while it is open.
type quietView struct {
	env     *Env
	id      event.SubID
	refresh func() tea.Cmd
	lines   Text
	sight   widget.Scroll
}

// OpenQuiet explains why a subscription is quiet; refresh is called for the key that asks the server
// again.
func (d *Pane) OpenQuiet(id event.SubID, refresh func() tea.Cmd) {
	d.env.Screen.Show(&quietView{env: d.env, id: id, refresh: refresh, lines: Text{Env: d.Env, Demo: d.env.Demo}})
}

func (d *quietView) Title() string { return "Why is it quiet?" }

func (d *quietView) Size(sw, sh int) (int, int) {
	w := max(1, min(sw-8, 100))
	d.lines.Begin(w)
	if v := query.FindSub(d.env.Snap, d.id); v != nil {
		d.lines.Subscription(v, query.Cursorless(d.env.Snap, v))
	} else {
		d.lines.Say("", themes.Dim, "The subscription has ended.")
	}
	return w, min(len(d.lines.Lines), max(1, sh-6))
}

func (d *quietView) Draw(c *cells.Canvas, h int) {
	DrawLines(c, d.env.Glyphs, d.lines.Lines, &d.sight, h)
}

func (d *quietView) Key(k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); name {
	case "esc", "q", "i", "enter":
		d.env.Screen.Show(nil)
	case "u":
		return d.refresh()
	default:
		d.sight.Key(name)
	}
	return nil
}

func (d *quietView) Hints() []string {
	return []string{"j k", "scroll", "u", "ask the server again", "esc", "back"}
}
