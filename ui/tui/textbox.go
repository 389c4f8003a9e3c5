package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// textBox shows lines of ours to read.
type textBox struct {
	head  string
	lines []string

	laid  []trust.Rendered
	width int
	top   int
	shown int
}

func (d *textBox) title() string { return d.head }

func (d *textBox) size(a *app) (int, int) {
	if w := max(1, min(a.w-8, 100)); w != d.width {
		d.width, d.laid = w, nil
		for _, l := range d.lines {
			d.laid = append(d.laid, trust.Block(trust.Untrusted(l), w)...)
		}
	}
	return d.width, len(d.laid)
}

func (d *textBox) draw(_ *app, c *cells.Canvas, h int) {
	d.shown = h
	d.by(0)
	for i := d.top; i < len(d.laid) && i < d.top+h; i++ {
		c.Safe(themes.Plain, d.laid[i])
		c.End()
	}
}

func (d *textBox) by(n int) { d.top = max(0, min(d.top+n, len(d.laid)-d.shown)) }

func (d *textBox) key(a *app, name, _ string) tea.Cmd {
	switch name {
	case "esc", "q", "enter":
		a.dialog = nil
	case "j", "down":
		d.by(1)
	case "k", "up":
		d.by(-1)
	}
	return nil
}

func (d *textBox) paste(*app, string) tea.Cmd { return nil }
func (d *textBox) hints() []string            { return []string{"j k", "scroll", "esc", "back"} }
