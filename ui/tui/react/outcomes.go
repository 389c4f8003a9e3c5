package react

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"eventdeck/host/event"
	"eventdeck/host/react"
	"eventdeck/host/trust"
	"eventdeck/themes"
	"eventdeck/ui/tui/cells"
	"eventdeck/ui/tui/detail"
	"eventdeck/ui/tui/widget"
)

// outcomes are what a record led to.
type outcomes struct {
	seq  uint64
	of   uint64 // revision of the view
	runs []react.Run
	busy bool
	gen  int
}

// readOutcomes reads what the record that is chosen in the stream led to.
func (p *Pane) readOutcomes() tea.Cmd {
	seq, ok := p.env.Chosen()
	l := &p.outcomes
	if !ok || l.busy || l.seq == seq && l.of == p.view.Revision || len(p.view.Rules) == 0 {
		return nil
	}
	l.busy = true
	of := p.view.Revision
	return p.env.Screen.Do(func(ctx context.Context) tea.Msg {
		runs, err := p.env.Engine.Runs(ctx, react.Query{Seq: seq})
		return widget.Then(func() tea.Cmd {
			changed := l.seq != seq || len(runs)+len(l.runs) > 0
			if l.busy, l.seq, l.of, l.runs = false, seq, of, runs; changed {
				l.gen++
			}
			if err != nil {
				l.runs = nil // the detail tells of the event all the same
			}
			return nil
		})
	})
}

// Outcomes tells what a record led to, a line for each run: "reacted page-p1 → done".
func (p *Pane) Outcomes(seq uint64) []detail.Line {
	if p.outcomes.seq != seq {
		return nil
	}
	var out []detail.Line
	for i := range p.outcomes.runs {
		r := &p.outcomes.runs[i]
		sign, role := stateSign(p.env.Glyphs, r.State)
		out = append(out, detail.Line{Label: "reacted ", Role: themes.Strong, Text: cells.Sanitize(r.Rule), More: []detail.Segment{
			{Role: role, Text: cells.Sanitize(sign + " " + string(r.State))}, {Role: themes.Dim, Text: cells.Sanitize(r.Why)}}})
	}
	return out
}

// OutcomesGen changes with what [Pane.Outcomes] tells.
func (p *Pane) OutcomesGen() int { return p.outcomes.gen }

// Explain tells for a record and a rule, or every rule for "", why it did or did not fire.
func (p *Pane) Explain(seq uint64, rule string) tea.Cmd {
	return p.env.Screen.Do(func(ctx context.Context) tea.Msg {
		verdicts, err := p.env.Engine.Explain(ctx, seq, rule)
		source := p.sourceOf(seq)
		return widget.Then(func() tea.Cmd {
			if err != nil {
				if errors.Is(err, react.ErrNoRule) {
					err = errors.New("no rule " + quoted(rule) + " is in force; the tab Rules lists them")
				}
				p.env.Screen.Fail("why", err)
				return nil
			}
			p.env.Screen.Show(&why{pane: p, seq: seq, source: source, verdicts: verdicts})
			return nil
		})
	})
}

// sourceOf names the type and the server of a record, as a rule names what it listens to.
// It reads the log.
func (p *Pane) sourceOf(seq uint64) (source trust.Rendered) {
	source = cells.Sanitize("record " + cells.Number(seq))
	// What cannot be read keeps its number for a name.
	_ = p.env.Log().Before(seq+1, func(r event.Record) bool {
		if r.Seq == seq {
			source = cells.Join(trust.Line(r.Type), cells.Sanitize(" of "+r.Server))
		}
		return false
	})
	return source
}

// why tells what was or would be decided about a record.
type why struct {
	pane     *Pane
	seq      uint64
	source   trust.Rendered // what the record is
	verdicts []react.Verdict
	text     detail.Text
	top      int
	shown    int
}

func (d *why) Title() string { return "Record " + cells.Number(d.seq) + " and the rules" }

func (d *why) Size(w, _ int) (int, int) {
	w = max(1, min(w-8, 100))
	d.text.Env = d.pane.env.Env
	d.text.Begin(w)
	if len(d.verdicts) == 0 {
		d.text.Say("", themes.Plain, "No rule is in force.")
	}
	for i := range d.verdicts {
		d.write(&d.verdicts[i])
	}
	return w, len(d.text.Lines)
}

func (d *why) write(v *react.Verdict) {
	t := &d.text
	sign, role := stateSign(d.pane.env.Glyphs, v.State)
	fired := cells.Sanitize(string(v.State))
	if v.State == react.Gathering || v.State == react.Asking {
		fired = cells.Sanitize("would go on")
	}
	if v.Elsewhere {
		fired = cells.Join(cells.Sanitize("does not listen to "), d.source)
	}
	if v.Run != "" {
		fired = cells.Join(fired, cells.Sanitize(", run "+string(v.Run)))
	}
	t.Lines = append(t.Lines, detail.Line{Role: themes.Strong, Text: cells.Sanitize(v.Rule), More: []detail.Segment{{Role: role, Text: cells.Join(cells.Sanitize(sign+" "), fired)}}})
	t.Say("  why  ", themes.Plain, v.Why)
	t.Say("  line ", themes.Dim, v.Line)
	if v.Key != "" {
		t.Lines = append(t.Lines, detail.Line{Label: "  group", Text: group(v.Key)})
	}
	if !v.Value.IsZero() {
		t.Lines = append(t.Lines, detail.Line{Label: "  value", Gutter: true, Text: trust.Line(v.Value)})
	}
}

func (d *why) Draw(c *cells.Canvas, h int) {
	d.shown = h
	d.by(0)
	for i := d.top; i < len(d.text.Lines) && i < d.top+h; i++ {
		d.text.Lines[i].Draw(c, d.pane.env.Glyphs)
	}
}

func (d *why) by(n int) { d.top = max(0, min(d.top+n, len(d.text.Lines)-d.shown)) }

func (d *why) Key(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc", "q", "enter":
		d.pane.env.Screen.Show(nil)
	case "j", "down":
		d.by(1)
	case "k", "up":
		d.by(-1)
	case "pgdown", "ctrl+d", "space":
		d.by(max(1, d.shown/2))
	case "pgup", "ctrl+u":
		d.by(-max(1, d.shown/2))
	}
	return nil
}

func (d *why) Hints() []string { return []string{"j k", "scroll", "esc", "back"} }
