package react

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/widget"
)

// input is a dialog with one line of text and, optionally, choices. One key submits both.
type input struct {
	pane    *Pane
	head    string
	lines   []string
	choices []string
	chosen  int
	label   string
	says    string
	field   widget.Field
	commit  string // the key that submits
	does    string // what it does, for the hints
	rests   bool   // the key submits only after [Grace] without another key
	pressed time.Time
	problem string
	run     func(text string, choice int) (tea.Cmd, error)
}

func (p *Pane) show(q *input) {
	q.pane, q.pressed = p, p.env.Now()
	p.env.Screen.Show(q)
}

func (q *input) Title() string { return q.head }

// Bounds of the dialog: its width in cells, and the lines of one piece of text.
const (
	inputWidth = 72
	inputLines = 4
)

func (q *input) Size(w, _ int) (int, int) {
	w = min(inputWidth, max(1, w-6))
	h := 4
	for _, l := range q.lines {
		h += len(cells.Wrap(l, w-2, inputLines))
	}
	if len(q.choices) > 0 {
		h++
	}
	return w, h
}

func (q *input) Draw(c *cells.Canvas, _ int) {
	for _, l := range q.lines {
		c.Lines(themes.Plain, " ", themes.Plain, cells.Wrap(l, c.Width-2, inputLines))
	}
	c.End()
	if len(q.choices) > 0 {
		c.Put(themes.Plain, " ")
		for i, choice := range q.choices {
			mark, role := q.pane.env.Glyphs.Choice, themes.Plain
			if i == q.chosen {
				mark, role = q.pane.env.Glyphs.Chosen, themes.Strong
			}
			c.Put(role, "("+mark+") "+choice+"   ")
		}
		c.End()
	}
	c.Put(themes.Key, " "+q.label+" ")
	q.field.DrawLine(c, 0, true)
	c.End()
	switch {
	case q.problem != "":
		c.Put(themes.Bad, " ")
		c.Safe(themes.Bad, cells.Sanitize(q.problem).Clip(c.Room))
	default:
		c.Put(themes.Dim, " "+q.says)
	}
	c.End()
}

func (q *input) Key(k tea.KeyPressMsg) tea.Cmd {
	p := q.pane
	now, before := p.env.Now(), q.pressed
	q.pressed = now
	switch name := k.String(); {
	case name == "esc":
		p.env.Screen.Show(nil)
	case name == q.commit && (k.IsRepeat || q.rests && now.Sub(before) < Grace):
		q.problem = "not yet: wait a moment without pressing a key, then press it again"
	case name == q.commit:
		cmd, err := q.run(q.field.Text(), q.chosen)
		if err != nil {
			q.problem = err.Error()
			return nil
		}
		p.env.Screen.Show(nil)
		return cmd
	case len(q.choices) > 0 && (name == "tab" || name == "shift+tab" || name == "up" || name == "down"):
		q.problem = ""
		q.chosen = (q.chosen + 1) % len(q.choices)
	default:
		if q.field.Key(k) {
			q.problem = ""
		}
	}
	return nil
}

func (q *input) Paste(text string) tea.Cmd {
	q.pressed = q.pane.env.Now()
	q.field.Insert(text)
	return nil
}

func (q *input) Hints() []string {
	h := []string{q.commit, q.does, "esc", "back"}
	if len(q.choices) > 0 {
		h = append([]string{"tab", "choose"}, h...)
	}
	return h
}
