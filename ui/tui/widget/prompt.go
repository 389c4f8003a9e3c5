package widget

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Prompt is a line of text at the bottom of the screen, which has the focus: for a filter, a
// search, a note, the name of a file. Below the line it shows the first of these messages that is
// not empty: Problem, Warning, Offers, Says.
type Prompt struct {
	Label   string
	Field   Field
	Says    string // the purpose of the text, and what keys do
	Problem string // what is wrong with the text
	Warning string // how the text is understood, if that is probably not what was meant
	Offers  string // completions, until the text changes

	Change    func(text string)         // called after every change; it may set Problem; may be nil
	Done      func(text string) tea.Cmd // called on enter; the prompt stays open if it sets Problem
	Cancelled func()                    // called on esc; may be nil
	Tab       func() tea.Cmd            // completes the text; may be nil

	Past []string // earlier texts, the newest first
	back int      // the position in Past that is shown, from 1; 0: the typed text
	mine string   // the typed text while an earlier one is shown
}

// Key handles a key. If open is false, the caller must close the prompt.
func (p *Prompt) Key(k tea.KeyPressMsg) (cmd tea.Cmd, open bool) {
	switch k.String() {
	case "esc":
		if p.Cancelled != nil {
			p.Cancelled()
		}
		return nil, false
	case "enter":
		p.Problem = ""
		cmd = p.Done(p.Field.Text())
		return cmd, p.Problem != ""
	case "up":
		p.recall(1)
	case "down":
		p.recall(-1)
	case "tab":
		if p.Tab != nil {
			return p.Tab(), true
		}
	default:
		if p.Field.Key(k) {
			p.back = 0
			p.Changed()
		}
	}
	return nil, true
}

// Changed clears the messages and calls Change. It must be called after Field was changed directly.
func (p *Prompt) Changed() {
	p.Problem, p.Warning, p.Offers = "", "", ""
	if p.Change != nil {
		p.Change(p.Field.Text())
	}
}

// Insert inserts pasted text.
func (p *Prompt) Insert(text string) {
	p.Field.Insert(text)
	p.Changed()
}

// recall shows an earlier text, or the typed one again.
func (p *Prompt) recall(step int) {
	to := max(0, min(p.back+step, len(p.Past)))
	if to == p.back {
		return
	}
	if p.back == 0 {
		p.mine = p.Field.Text()
	}
	p.back = to
	text := p.mine
	if to > 0 {
		text = p.Past[to-1]
	}
	p.Field.Set(text)
	p.Changed()
}

// saysMax bounds the lines of the message below the text.
const saysMax = 3

// Draw writes the lines of the prompt; the cursor of the canvas is in the first.
func (p *Prompt) Draw(c *cells.Canvas) {
	c.Put(themes.Key, " "+p.Label+" ")
	p.Field.DrawLine(c, 0, true)
	c.End()
	role, text := themes.Dim, p.Says
	switch {
	case p.Problem != "":
		role, text = themes.Bad, p.Problem
	case p.Warning != "":
		role, text = themes.Warn, p.Warning
	case p.Offers != "":
		text = p.Offers
	}
	lines := cells.Wrap(text, c.Width-2, saysMax+1)
	if len(lines) > saysMax {
		lines[saysMax-1] = cells.Join(lines[saysMax-1].Clip(c.Width-4), cells.Sanitize(" "+trust.CutMark))
	}
	c.Lines(role, " ", role, lines[:min(len(lines), saysMax)])
}

// historyMax bounds a history, in texts.
const historyMax = 50

// Remember returns a history with a text moved or added to its front; "" is not added.
func Remember(past []string, text string) []string {
	if text == "" {
		return past
	}
	out := []string{text}
	for _, t := range past {
		if t != text && len(out) < historyMax {
			out = append(out, t)
		}
	}
	return out
}
