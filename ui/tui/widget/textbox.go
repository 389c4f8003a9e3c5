package widget

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// TextBox is a dialog that shows lines of text, which may be untrusted.
type TextBox struct {
	Screen Screen
	Head   string
	Lines  []string

	laid  []trust.Rendered
	width int
	sight Scroll
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
	first, end := d.sight.Visible(len(d.laid), h)
	for _, l := range d.laid[first:end] {
		c.Safe(themes.Plain, l)
		c.End()
	}
}

// Key implements [Dialog].
func (d *TextBox) Key(k tea.KeyPressMsg) tea.Cmd { return ReadKey(d.Screen, &d.sight, k) }

// Hints implements [Dialog].
func (d *TextBox) Hints() []string { return []string{"j k", "scroll", "esc", "back"} }

// ReadKey handles a key of a dialog that is only read: esc, q and enter close it, others scroll.
func ReadKey(screen Screen, sight *Scroll, k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); name {
	case "esc", "q", "enter":
		screen.Show(nil)
	default:
		sight.Key(name)
	}
	return nil
}
