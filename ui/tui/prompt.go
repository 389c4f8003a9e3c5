package tui

import (
	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/query"
)

// prompt is a line of text at the bottom of the screen that has all keys: the
// filter, a search, the text of a note, the name of a file.
type prompt struct {
	label   string
	field   editor
	says    string // what the text means, or what can be done
	problem string // what is wrong with it, shown instead

	change func(a *app, text string)         // after every change; may set problem
	done   func(a *app, text string) tea.Cmd // enter; the prompt stays open if it sets problem
	gone   func(a *app)                      // esc
	tab    func(a *app)                      // completes, nil if nothing does
	offers offers                            // what tab offers
	undo   *query.Query                      // of the filter: what esc goes back to

	past []string // newest first
	back int      // how far back the history is shown; 0 is what was typed
	mine string   // what was typed before the history
}

// askLine opens a prompt.
func (a *app) askLine(p *prompt, text string) {
	p.field.one = true
	p.field.set(text)
	a.prompt = p
}

func (p *prompt) key(a *app, name, text string) tea.Cmd {
	switch name {
	case "esc":
		a.prompt = nil
		if p.gone != nil {
			p.gone(a)
		}
	case "enter":
		p.problem = ""
		cmd := p.done(a, p.field.text())
		if p.problem == "" && a.prompt == p {
			a.prompt = nil
		}
		return cmd
	case "up":
		p.recall(a, 1)
	case "down":
		p.recall(a, -1)
	case "tab":
		if p.tab != nil {
			p.tab(a)
		}
	default:
		if p.field.key(name, text) {
			p.back = 0
			p.changed(a)
		}
	}
	return nil
}

func (p *prompt) changed(a *app) {
	p.problem = ""
	if p.change != nil {
		p.change(a, p.field.text())
	}
}

func (p *prompt) insert(a *app, s string) {
	p.field.insert(s)
	p.changed(a)
}

// recall shows an earlier text, or what was typed.
func (p *prompt) recall(a *app, step int) {
	to := max(0, min(p.back+step, len(p.past)))
	if to == p.back {
		return
	}
	if p.back == 0 {
		p.mine = p.field.text()
	}
	p.back = to
	text := p.mine
	if to > 0 {
		text = p.past[to-1]
	}
	p.field.set(text)
	p.changed(a)
}

// draw writes the two lines of the prompt.
func (p *prompt) draw(a *app, w int) []string {
	var c cells.Canvas
	c.Begin(&a.Theme, w)
	c.Put(themes.Key, " "+p.label+" ")
	p.field.drawLine(&c, 0, true)
	c.End()
	if p.problem != "" {
		c.Put(themes.Bad, " ")
		c.Safe(themes.Bad, cells.Sanitize(p.problem).Clip(c.Room))
	} else {
		c.Put(themes.Dim, " ")
		c.Safe(themes.Dim, cells.Sanitize(p.says).Clip(c.Room))
	}
	c.End()
	return c.Rows(2, nil)
}

// remembered puts a text at the front of a history, without its former place.
func remembered(past []string, text string) []string {
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

// historyMax bounds what is remembered of one kind of line.
const historyMax = 50
