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

// outcomes has the runs that a record led to.
type outcomes struct {
	fetched fetched[recordVersion]
	seq     uint64 // of the record
	runs    []react.Run
	gen     int
}

// recordVersion identifies the runs of a record at a revision of the view.
type recordVersion struct{ seq, revision uint64 }

// readOutcomes reads the runs that the record chosen in the stream led to.
func (p *Pane) readOutcomes() tea.Cmd {
	seq, ok := p.env.Chosen()
	if !ok || len(p.view.Rules) == 0 {
		return nil
	}
	o := &p.outcomes
	return fetch(p, &o.fetched, recordVersion{seq, p.view.Revision}, func(ctx context.Context) ([]react.Run, error) {
		return p.env.Engine.Runs(ctx, react.Query{Seq: seq})
	}, func(runs []react.Run, err error) {
		if err != nil {
			runs = nil // the detail shows the record without them
		}
		if o.seq != seq || len(runs)+len(o.runs) > 0 {
			o.gen++
		}
		o.seq, o.runs = seq, runs
	})
}

// Outcomes returns a line for each run that a record led to, if they were read: [Pane.Work] reads
// those of the chosen record.
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

// OutcomesGen changes whenever [Pane.Outcomes] may return something else.
func (p *Pane) OutcomesGen() int { return p.outcomes.gen }

// Explain returns a command that shows why a rule, or each rule for "", fires for a record or does
// not.
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

// kindOf says before the type of a record that it is no event.
var kindOf = map[event.Kind]string{event.KindGap: "gaps of ", event.KindState: "states of ", event.KindRejected: "refused payloads of "}

// sourceOf returns the type and the server of a record, or its number if it cannot be read. It reads
// the log, so it is called in the background.
func (p *Pane) sourceOf(seq uint64) (source trust.Rendered) {
	source = cells.Sanitize("record " + cells.Number(seq))
	_ = p.env.Log().Before(seq+1, func(r event.Record) bool {
		if r.Seq == seq {
			source = cells.Join(cells.Sanitize(kindOf[r.Kind]), trust.Line(r.Type), cells.Sanitize(" of "+r.Server))
		}
		return false
	})
	return source
}

// why is the dialog that shows the decisions of rules about a record.
type why struct {
	pane     *Pane
	seq      uint64
	source   trust.Rendered // type and server of the record
	verdicts []react.Verdict
	text     detail.Text
	scroll   widget.Scroll
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
	detail.DrawLines(c, d.pane.env.Glyphs, d.text.Lines, &d.scroll, h)
}

func (d *why) Key(k tea.KeyPressMsg) tea.Cmd { return widget.ReadKey(d.pane.env.Screen, &d.scroll, k) }

func (d *why) Hints() []string { return []string{"j k", "scroll", "esc", "back"} }
