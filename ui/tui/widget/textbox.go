package widget

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// TextBox shows lines of ours to read.
type TextBox struct {
	Screen Screen
	Head   string
	Lines  []string

	laid  []trust.Rendered
	width int
	top   int
	shown int
}

// Title implements [Dialog].
func (d *TextBox) Title() string { return d.Head }

// Size implements [Dialog].
func (d *TextBox) Size(sw, _ int) (int, int) {

	if w := max(1, min(sw-8, 100)); w != d.width {
		d.width, d.laid = w, nil
		for _, l := range d.Lines {
			d.laid = append(d.laid, trust.Block(trust.Untrusted(l), w)...)
		}
	}
	return d.width, len(d.laid)
}

// Draw implements [Dialog].
func (d *TextBox) Draw(c *cells.Canvas, h int) {
	d.shown = h
	d.by(0)
	for i := d.top; i < len(d.laid) && i < d.top+h; i++ {
		c.Safe(themes.Plain, d.laid[i])
		c.End()
	}
}

func (d *TextBox) by(n int) { d.top = max(0, min(d.top+n, len(d.laid)-d.shown)) }

// Key implements [Dialog].
func (d *TextBox) Key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	a := d.Screen
	switch name {
	case "esc", "q", "enter":
		a.Show(nil)
	case "j", "down":
		d.by(1)
	case "k", "up":
		d.by(-1)
	}
	return nil
}

// Paste implements [Dialog].
func (d *TextBox) Paste(string) tea.Cmd { return nil }

// Hints implements [Dialog].
func (d *TextBox) Hints() []string { return []string{"j k", "scroll", "esc", "back"} }
