package widget

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
)

// Prompt is a line of text at the bottom of the screen that has the focus: a filter, a search,
// the text of a note, the name of a file. Below the line it shows one of its messages: Problem,
// else Warning, else Offers, else Says.
type Prompt struct {
	Label   string
	Field   Field
	Says    string // what the text is for, and what keys do
	Problem string // what is wrong with the text
	Warning string // how the text was understood where that is likely not meant
	Offers  string // completions, until the text changes

	Change    func(text string)         // is called after every change, and may set Problem; nil: nothing is
	Done      func(text string) tea.Cmd // is called on enter; the prompt stays open if it sets Problem
	Cancelled func()                    // is called on esc; nil: nothing is
	Tab       func() tea.Cmd            // completes the text; nil: nothing does

	Past []string // earlier texts, the newest first
	back int      // the place in Past that is shown, from 1; 0: what was typed
	mine string   // what was typed before Past was shown
}

// Lines is a screen with prompts.
type Lines interface {
	Keyed
	// AskLine opens a prompt with a text, in place of the one that is open.
	AskLine(p *Prompt, text string)
	// Line returns the prompt that is open, nil for none.
	Line() *Prompt
}

// Key handles a key. If open is false the prompt is to be closed.
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

// Changed clears the messages and calls Change. It is called after the field was changed from
// elsewhere.
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

// recall shows an earlier text, or what was typed.
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

// historyMax bounds what is remembered of one kind of line.
const historyMax = 50

// Remember puts a text at the front of a history, without its former place.
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
